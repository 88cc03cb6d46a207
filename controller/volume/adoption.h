/* adoption.h - AzVolumes of disks that were there before them: of PersistentVolumes made by hand or
 * by version 1 of the driver, and of volumes whose AzVolume got lost.
 *
 * The object is written from what Kubernetes knows of the volume; its reconciler looks at the disk,
 * and makes none, because the disk's id is in the object from the first. A disk is deleted with its
 * volume only if the driver once made it, which its PersistentVolume says, whatever version that
 * was, or, where there is none (any more), the disk's own mark (provisioner-lib/disk_mark.h).
 */
#pragma once

#include "controller/controller.h"
#include "provisioner-lib/parameters.h"

struct adoption {
    const char *volume_id;
    struct parameter *parameters; /* volume attributes; those that are not known are dropped */
    size_t n_parameters;
    bool mounted; /* not a block volume */
    int access_mode;
    bool own; /* the disk, by its mark: counts where no PersistentVolume says more */
};

/* What the PersistentVolume of a disk says of where the disk is from. */
enum adoption_pv {
    ADOPTION_NO_PV,
    ADOPTION_PV_PROVISIONED, /* it was made for a claim, by this driver or in-tree before it */
    ADOPTION_PV_BY_HAND,
};

enum adoption_pv adoption_pv_of(const struct controller *controller, const char *volume_name,
                                const char *disk_id);
/* Whether DeleteVolume deletes a disk of which there is no AzVolume. Pure. */
bool adoption_is_deletable(enum adoption_pv pv, enum disk_origin origin);

/* The id of the disk that the volume has, or is to get, if it was there before the AzVolume; NULL
 * if the driver is to make one. */
const char *adoption_disk(const struct controller *controller, const Api__AzVolume *volume);

/* The AzVolume is of a disk that was there before it. */
bool adoption_is_of(const Api__AzVolume *volume);

/* Writes the AzVolume, as it is to be called. EXISTS; INVALID if the parameters are no good. */
struct err *adoption_write(struct task *self, struct controller *controller, struct kube *kube,
                           const char *volume_name, const struct adoption *adoption,
                           struct kube_object **ret) __attribute__((warn_unused_result));

/* What a PersistentVolume of this driver says of it, or a pod that names the disk without a claim.
 * free() the parameters. */
struct adoption adoption_of_pv(const Api__PersistentVolumeSpec *spec);
