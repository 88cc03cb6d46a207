/* persistent_volume.h - the PersistentVolume to which an AzVolume belongs.
 *
 * The AzVolume names the PersistentVolume and its claim in spec.persistentVolume and in three
 * labels, for users to read, and repeats the annotation by which a user accepts the file system
 * that is on the disk, for nodes, which read no PersistentVolumes. An AzVolume that was written for
 * an existing disk (volume/adoption.h) belongs to this one PersistentVolume, whose UID it records:
 * its parameters come from there, and its record ends when that PersistentVolume is gone or has
 * been replaced by another one.
 */
#pragma once

#include <jansson.h>

#include "controller/controller.h"

enum volume_pv {
    VOLUME_PV_UNCHANGED,
    VOLUME_PV_CHANGED,  /* the AzVolume names another PersistentVolume or claim, or none, or another
                         * accepted file system */
    VOLUME_PV_REPLACED, /* another PersistentVolume has taken its place */
    VOLUME_PV_MISSING,  /* the cache does not have it */
};

enum volume_pv volume_pv_compare(const struct controller *controller,
                                 const struct kube_object *volume);

/* The labels of an AzVolume, without those that are NULL or not valid as the value of a label. */
json_t *volume_pv_labels_json(const char *pv, const char *claim, const char *claim_namespace);
/* The patch that updates the AzVolume if it has CHANGED. */
json_t *volume_pv_change_json(const struct controller *controller,
                              const struct kube_object *volume);

/* CONFLICT if the API server still has the PersistentVolume that is MISSING from the cache. */
struct err *volume_pv_check_gone(struct task *self, struct controller *controller,
                                 const struct kube_object *volume)
    __attribute__((warn_unused_result));
