/* snapshot.h - one attachment under work, and what attachment/plan.h decides by, gathered from
 * the cache.
 *
 * It holds what it shows: it stays good through a yield, but then it is old.
 */
#pragma once

#include "controller/attachment/publish_plan.h"
#include "controller/controller.h"

struct attachment_work {
    struct controller *controller;
    struct kube_object *object; /* referenced */
    const Api__AzVolumeAttachment *attachment;
    const Api__AzVolume *volume;       /* NULL: there is none */
    struct kube_object *volume_object; /* referenced */

    struct neighbour *neighbours; /* the plan's */
    size_t n_neighbours;
    struct kube_object **neighbour_objects; /* referenced; beside them */

    char *instance_id; /* set by whoever reads the VM */
    struct cloud_instance instance;
    struct attachment_snapshot in;
};

/* False if there is no such attachment any more, or it makes no sense. Call attachment_work_fini
 * anyway. */
bool attachment_work_gather(struct controller *controller, const char *key,
                            struct attachment_work *ret);
void attachment_work_fini(struct attachment_work *work);

/* The id of the node's VM, as far as the Node says; the caller's. */
struct err *attachment_work_find_vm(const struct attachment_work *work, char **ret_id)
    __attribute__((warn_unused_result));

/* Where an attachment is, by what is on record; NULL is none. */
enum attachment_phase attachment_phase_of(const struct controller *controller,
                                          const struct kube_object *object);
struct publish_standing attachment_standing_of(const struct controller *controller,
                                               const struct kube_object *object);

/* Since this process leads, the cloud was seen to agree with what is on record. */
void attachment_set_verified(struct controller *controller, const char *uid, bool yes);
