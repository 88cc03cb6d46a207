/* informers.h - the controller's copy of the cluster: stores, their reflectors and indexes.
 */
#pragma once

#include "controller/controller.h"
#include "lib/rt/group.h"

/* What the store has of a VolumeAttachment; paths as for json_pick. */
extern const char *const kept_of_volume_attachments[];

/* Makes the stores, empty: whom their changes concern is registered before they are filled. */
void informers_init(struct controller *controller);
/* Starts to fill them; the reflectors are members of `group`. */
void informers_start(struct controller *controller, struct task_group *group);
/* Until all is known that CSI calls need, and a leader: all but pods and namespaces, of which there
 * may be many more and much larger ones. */
struct err *informers_wait_synced(struct task *self, struct controller *controller)
    __attribute__((warn_unused_result));
/* Until pods and namespaces are known, too. Before that no replica is placed. */
struct err *informers_wait_pods(struct task *self, struct controller *controller)
    __attribute__((warn_unused_result));
bool informers_has_pods(const struct controller *controller);
/* Learns at least what former leaders wrote, however late the watches are. */
struct err *informers_catch_up(struct task *self, struct controller *controller)
    __attribute__((warn_unused_result));
/* The same of the VolumeAttachments, for who is to act on it that there is none. */
struct err *informers_catch_up_volume_attachments(struct task *self, struct controller *controller)
    __attribute__((warn_unused_result));
/* And of the PersistentVolumes, for who is to act on it that there is none of the disk; nothing is
 * read if one is known. */
struct err *informers_catch_up_pv_of_disk(struct task *self, struct controller *controller,
                                          const char *disk_id) __attribute__((warn_unused_result));
void informers_free(struct controller *controller); /* after the group was closed */
