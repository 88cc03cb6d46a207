/* volume_name.h - which AzVolume is that of a disk.
 *
 * An AzVolume has the name of its disk. Disks of several resource groups may have one name: the
 * first that comes on record has it, and every other one that name with a hash of its id
 * (provisioner-lib/records/names.h). What is on record is found as it is; so an AzVolume keeps its
 * name when the first one is gone.
 *
 * It is read from the cache, which may be behind.
 */
#pragma once

#include "controller/controller.h"

/* The AzVolumes that say that they are of this disk, whatever their names: more than one only by
 * somebody's hand. */
struct kube_object *const *volumes_of_disk(const struct controller *controller, const char *disk_id,
                                           size_t *ret_n);

/* Reads both AzVolumes that the disk could have from the API server into the cache. */
struct err *volume_names_catch_up(struct task *self, struct controller *controller,
                                  struct kube *kube, const char *disk_id)
    __attribute__((warn_unused_result));

/* The name of the AzVolume that the disk has, or would have if one were written now. INVALID if
 * that is no disk's id. */
struct err *volume_name_of_disk(const struct controller *controller, const char *disk_id,
                                char **ret_name) __attribute__((warn_unused_result));
/* The same for the disk of a PersistentVolume, or of a pod without one; NULL if it is about none.
 * free() it. */
char *volume_name_of_pv(const struct controller *controller, const Api__PersistentVolumeSpec *spec)
    __attribute__((warn_unused_result));
