/* left_mount.h - unmounts what kubelet has forgotten.
 *
 * A kubelet that is started anew finds its volumes by the folders of its pods. One that was
 * unpublished already, but not unstaged, it does not find: it reports the volume as unmounted, and
 * never has it unstaged. Nor has it one unstaged of which it can only clean up what the pod had, by
 * NodeUnpublishVolume. Then the disk goes to another node while the file system is still mounted
 * here: what waits to be written is lost, or lands on the disk beside what its new user writes.
 *
 * So when kubelet asks who the plug-in is, which is the first that it does, and some time after
 * each NodeUnpublishVolume, each file system of this node's disks is looked for. One that is
 * mounted at the path where kubelet has volumes staged and nowhere else, so that no pod has it, is
 * unstaged, unless kubelet has staged, published or unstaged the volume since (a NodeStageVolume
 * that fails for good leaves kubelet without any memory of the volume): a kubelet that does know of
 * it loses nothing, as what is not staged any more is staged when it is published (csi_publish.c).
 * From before it is waited for calls of the former kubelet, which may still write, a job is on
 * record (running_job.h). If the volume is not this node's any more by then, nothing more may be
 * written: the file system is shut down first, unless the disk still has this node's fence. Raw
 * volumes have nothing that is written later.
 */
#pragma once

#include "lib/rt/group.h"
#include "node/node.h"
#include "provisioner-lib/host/mount_table.h"

/* Does that as long as the group lives. After informers_start. */
void left_mounts_start(struct node *node, struct task_group *group);

/* Kubelet has asked who the plug-in is. */
void left_mounts_kubelet_began(struct node *node);
/* Kubelet knows of a volume: it stages, publishes or unstages it. */
void left_mount_called(struct node *node, const char *volume_id);
/* Kubelet has been told that a volume could not be staged. If it takes that for final, it never has
 * the volume unstaged, unless another call follows. */
void left_mount_refused(struct node *node, const char *volume_id, enum err_kind why);
/* Kubelet has unpublished a volume, which it may not know more of. */
void left_mount_unpublished(struct node *node, const char *volume_id);

/* Whether kubelet has called for a volume since it began: what is mounted of it, it will have
 * unstaged. */
bool left_mount_is_known(const struct node *node, const char *volume_id);

/* Whether kubelet takes a NodeStageVolume that failed so for one after which nothing is staged.
 * Pure.
 */
bool left_mount_is_final(enum err_kind why);

/* Whether it is a volume's only mount, and where kubelet has volumes staged. Pure. */
bool left_mount_is_staging(const struct mount_entry *newest, const struct mount_entry *other);
