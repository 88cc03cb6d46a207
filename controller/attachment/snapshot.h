/* snapshot.h - one attachment that is being reconciled, and the input of attachment/plan.h,
 * gathered from the cache.
 *
 * It references the objects that it points to, so it remains valid across a yield, but may then be
 * out of date.
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
    struct kube_object **neighbour_objects; /* referenced; parallel to `neighbours` */

    char *instance_id; /* set when the VM is read */
    char *boot_id;     /* the node's, before the VM was read; NULL: it does not say */
    struct cloud_instance instance;
    struct attachment_snapshot in;

    bool has_no_place; /* the VM, read anew, has none for the disk */
};

/* All but the neighbours. False if the attachment no longer exists, or has no valid spec. Call
 * attachment_work_fini in any case. */
bool attachment_work_gather(struct controller *controller, const char *key,
                            struct attachment_work *ret);

/* Nothing on the VM writes to the disk any more, as who has tainted its Node says by now. */
bool attachment_work_is_out_of_service(const struct attachment_work *work);

/* The other attachments on the node, and the LUNs that they have on record or are about to. A plan
 * needs them as soon as the VM was read; of a thousand attachments that move at once, they cost
 * more than all else. */
void attachment_work_gather_neighbours(struct attachment_work *work);
/* Before a long wait for the cloud, if they are not needed after it: otherwise each of a thousand
 * attachments that wait keeps those of its whole node, as they were. */
void attachment_work_forget_neighbours(struct attachment_work *work);
void attachment_work_fini(struct attachment_work *work);

/* The id of the node's VM, according to the Node; the caller frees it. */
struct err *attachment_work_find_vm(const struct attachment_work *work, char **ret_id)
    __attribute__((warn_unused_result));

/* The phase of an attachment according to its record; `object` may be NULL. */
enum attachment_phase attachment_phase_of(const struct controller *controller,
                                          const struct kube_object *object);
struct publish_standing attachment_standing_of(const struct controller *controller,
                                               const struct kube_object *object);

/* Since this process leads, the cloud was seen to agree with what is on record. */
void attachment_set_verified(struct controller *controller, const char *uid, bool yes);

/* The cloud has begun to attach the primary, and nothing that is attached now holds that up. */
void attachment_set_accepted(struct controller *controller, const char *key, bool yes);
/* It is attached, or the cloud has begun to: replicas may come. */
bool attachment_has_come(const struct controller *controller, const struct kube_object *object);
