/* disk_pv.h - the PersistentVolume of a disk.
 *
 * Several PersistentVolumes may name one disk: a Released one that was left beside the one that
 * took its place. The bound one says what the volume is.
 *
 * It is read from the cache, which may be behind. Pointers are borrowed.
 */
#pragma once

#include "controller/controller.h"

/* The name of an AzVolume by its disk's name alone: the key of the indexes in which
 * PersistentVolumes and pods are found by what their disks are called. free() it. */
char *volume_plain_name(const struct controller *controller, const char *volume_name)
    __attribute__((warn_unused_result));
/* Those of all disks, in whatever resource groups, that have the name of the AzVolume's disk; those
 * of other drivers, too. */
struct kube_object *const *pvs_of_name(const struct controller *controller, const char *volume_name,
                                       size_t *ret_n);

/* The PersistentVolume of this driver for the disk; NULL if there is none. Of several, a bound one,
 * else the one that `volume` was written for, which may be NULL. */
struct kube_object *pv_of_disk(const struct controller *controller, const char *disk_id,
                               const struct kube_object *volume);
/* The same for an AzVolume that names no disk; one that was made by hand is not its, unless the
 * AzVolume names it. */
struct kube_object *pv_of_unrecorded(const struct controller *controller,
                                     const struct kube_object *volume);

/* Which of two counts, by the same rule; `one` may be NULL. */
struct kube_object *pv_that_counts(struct kube_object *one, struct kube_object *other,
                                   const struct kube_object *volume);

/* The id of the disk that a PersistentVolume is about; "" if it is none of this driver's. */
const char *pv_disk(const struct controller *controller, const struct kube_object *pv);
/* Made for a claim by this driver, in whatever version, or in-tree before it. */
bool pv_is_provisioned(const struct controller *controller, const struct kube_object *pv);
/* Its claim is gone: nobody is to use it before somebody clears it by hand. */
bool pv_is_released(const struct kube_object *pv);
/* A claim has it, and nobody deletes it. */
bool pv_is_bound(const struct kube_object *pv);
