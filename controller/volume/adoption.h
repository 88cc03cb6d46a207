/* adoption.h - AzVolumes for disks that exist already: those of PersistentVolumes that were made by
 * hand or by version 1 of the driver, and of volumes whose AzVolume was lost.
 *
 * The AzVolume is written from what Kubernetes knows about the volume. Because it contains the
 * disk's id from the start, its reconciler reads the disk instead of creating one. The disk is
 * deleted with its volume only if some version of the driver created it: its PersistentVolume says
 * so or, without a PersistentVolume, the disk's own mark (provisioner-lib/disk_mark.h).
 */
#pragma once

#include "controller/controller.h"
#include "provisioner-lib/parameters.h"

struct adoption {
    const char *volume_id;
    struct parameter *parameters; /* volume attributes, without unknown ones */
    size_t n_parameters;
    bool mounted; /* not a block volume */
    int access_mode;
    bool own; /* the disk's mark is the driver's; counts if there is no PersistentVolume */
};

/* What the PersistentVolume of a disk says about the disk's origin. */
enum adoption_pv {
    ADOPTION_NO_PV,
    ADOPTION_PV_PROVISIONED, /* created for a claim, by this driver or the in-tree one */
    ADOPTION_PV_BY_HAND,
};

enum adoption_pv adoption_pv_of(const struct controller *controller, const char *disk_id);
/* Whether DeleteVolume deletes a disk that has no AzVolume. A pure function. */
bool adoption_is_deletable(enum adoption_pv pv, enum disk_origin origin);

/* The id of the volume's disk if the disk existed before the AzVolume; NULL if the driver has to
 * create the disk. Borrowed; good until the next yield. */
const char *adoption_disk(const struct controller *controller, const Api__AzVolume *volume);

/* Whether the AzVolume's disk existed before it. */
bool adoption_is_of(const Api__AzVolume *volume);

/* Writes the AzVolume of the disk, by the name that is free for it. EXISTS if the disk has one, or
 * if one is being written for a disk of that name: then look again. INVALID if the parameters are.
 */
struct err *adoption_write(struct task *self, struct controller *controller, struct kube *kube,
                           const struct adoption *adoption, struct kube_object **ret)
    __attribute__((warn_unused_result));

/* From a PersistentVolume of this driver, or from a pod that names the disk without a claim; its
 * texts are borrowed. free() the parameters. */
struct adoption adoption_of_pv(const Api__PersistentVolumeSpec *spec);
