/* published.h - what Kubernetes itself says of a volume: its PersistentVolume, and the
 * VolumeAttachments that say on which nodes it is published.
 *
 * VolumeAttachments count whichever of the disk's PersistentVolumes (disk_pv.h) they name, and
 * those of pods that name the disk without a claim, too.
 *
 * It is read from the cache, which may be behind. Pointers are borrowed.
 */
#pragma once

#include "controller/controller.h"

/* The PersistentVolume of this driver whose disk the AzVolume of that name has, or would have; NULL
 * if there is none. */
struct kube_object *kubernetes_pv(const struct controller *controller, const char *volume_name);

/* This driver's, of the volume; free() the list. */
struct kube_object **volume_attachments_of(const struct controller *controller,
                                           const char *volume_name, size_t *ret_n)
    __attribute__((warn_unused_result));
const Api__VolumeAttachment *as_volume_attachment(const struct kube_object *object);
bool volume_attachment_is_ours(const struct controller *controller,
                               const struct kube_object *object);
/* The AzVolume's name; NULL if that cannot be told (any more). free() it. */
char *volume_of_volume_attachment(const struct controller *controller,
                                  const struct kube_object *object)
    __attribute__((warn_unused_result));

/* The same of a PersistentVolume by its name. */
char *volume_of_pv_name(const struct controller *controller, const char *name)
    __attribute__((warn_unused_result));

/* The volume is on the node, if only until it is unpublished. */
bool kubernetes_has_on_node(const struct controller *controller, const char *volume_name,
                            const char *node);
/* It has been asked to publish it there, or may have been, whatever came of that. */
bool kubernetes_has_asked_for(const struct controller *controller, const char *volume_name,
                              const char *node);
/* Kubernetes has a VolumeAttachment of the volume for the node, attached or not, and is to
 * unpublish it; or one of which it is not known what it is for. */
bool kubernetes_is_to_unpublish(const struct controller *controller, const char *volume_name,
                                const char *node);
/* Another node than `node` that Kubernetes has had the answer of that the volume is published
 * there, while there is no AzVolumeAttachment: it is lost, and recovery/reconcile.h makes it anew.
 * NULL if there is none. */
const char *kubernetes_has_off_record(const struct controller *controller, const char *volume_name,
                                      const char *node);
/* A replica where Kubernetes has the volume, and has not unpublished it: recovery/reconcile.h is
 * about to make it the primary, and it gives way to nobody. */
bool kubernetes_has_replica(const struct controller *controller,
                            const Api__AzVolumeAttachment *attachment);
/* It is on some node or is about to be, and stays. */
bool kubernetes_has_in_use(const struct controller *controller, const char *volume_name);
