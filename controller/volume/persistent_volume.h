/* persistent_volume.h - the PersistentVolume that an AzVolume is of.
 *
 * The AzVolume says which one, and which claim has it, as it says it for the driver's users: in
 * spec.persistentVolume and three labels. One that was written for a disk that was there before
 * (volume/adoption.h) is about this PersistentVolume alone, whose uid it has: its parameters come
 * from there, and when that one is gone, or another one has taken its place, so is what was on
 * record.
 */
#pragma once

#include <jansson.h>

#include "controller/controller.h"

enum volume_pv {
    VOLUME_PV_NO_NEWS,
    VOLUME_PV_CHANGED,  /* the record does not say what is so */
    VOLUME_PV_REPLACED, /* the AzVolume is of another one than counts now */
    VOLUME_PV_MISSING,  /* no watch knows the one that it is of */
};

enum volume_pv volume_pv_look(const struct controller *controller,
                              const struct kube_object *volume);

/* The labels of an AzVolume; what is NULL, or no label's value, is not there. */
json_t *volume_pv_labels_json(const char *pv, const char *claim, const char *claim_namespace);
/* A patch after which the record says what is so, when it has CHANGED. */
json_t *volume_pv_change_json(const struct controller *controller,
                              const struct kube_object *volume);

/* CONFLICT if the API server still has the PersistentVolume that is MISSING. */
struct err *volume_pv_check_gone(struct task *self, struct controller *controller,
                                 const struct kube_object *volume)
    __attribute__((warn_unused_result));
