/* running_job.h - which program writes to a volume's disk, on record where the controller sees it.
 *
 * Kubelet's word that a volume is not mounted says nothing of mkfs and fsck, nor of a mount that is
 * still replaying a journal. So before one starts,
 * the status of the node's AzVolumeAttachment gets the annotation ANNOTATION_RUNNING_JOB: "e2fsck
 * 2026-01-01T00:00:00Z <boot id>", the program, since when, and which run of the node's
 * kernel. As long as it is there the controller makes no other node the primary before the disk is
 * detached from this one. It goes when the program is gone and what it wrote is on the disk. One
 * that a process left behind that did not get so far is taken away by its successor, when nothing
 * of it runs any more.
 *
 * What kubelet has forgotten (left_mount.h) is on record as RUNNING_JOB_UNMOUNT. No program has
 * that name: it goes when nothing on this machine has the disk in use any more, be it in another
 * mount namespace, or when kubelet calls for the volume, which it then has on its own list.
 */
#pragma once

#include "lib/rt/group.h"
#include "node/node.h"

#define RUNNING_JOB_UNMOUNT "unmount"

/* BUSY if one is on record by this process. What the API server answered is in the cache then:
 * whether the node may still start the program has to be asked of that. */
struct err *running_job_begin(struct task *self, struct node *node,
                              const struct kube_object *attachment, const char *program)
    __attribute__((warn_unused_result));
/* The program is gone, and so is what waited to be written. What cannot be recorded now is recorded
 * later. */
void running_job_end(struct task *self, struct node *node, const struct kube_object *attachment);
/* The program is gone, but something may still be written: it stays on record until that is over.
 */
void running_job_leave(struct node *node, const struct kube_object *attachment);

/* Takes away what was left behind, as long as the group lives. After informers_start. */
void running_job_start(struct node *node, struct task_group *group);
