/* modification.h - a disk that is to be modified: another kind, other IOPS and MBps.
 *
 * ControllerModifyVolume writes the parameters that the disk is to have into
 * spec.mutableParameters; the reconciler of the AzVolume (volume/reconcile.c) does the rest,
 * whoever leads by then, and records in status.mutableParameters what the disk has got, or in
 * status.modifyError why not.
 *
 * Azure converts a disk to PremiumV2_LRS in the background, which takes hours. Until that has
 * ended, the modification has not; events and the status tell how far it is (disk_progress.h).
 */
#pragma once

#include "controller/controller.h"
#include "controller/volume/plan.h"

/* What the plan has to know of it. */
void modification_gather(const Api__AzVolume *volume, struct volume_snapshot *ret);

/* INVALID if a disk that is so, in a region with these limits, can never be modified to that. */
struct err *modification_check(const struct cloud_disk *disk,
                               const struct volume_parameters *wanted,
                               const struct disk_limits *limits)
    __attribute__((warn_unused_result));
/* PRECONDITION, with who uses it and what to do, if the disk cannot be modified so now. */
struct err *modification_check_possible(const struct controller *controller,
                                        const struct kube_object *object)
    __attribute__((warn_unused_result));

/* Patches of the AzVolume, for ControllerModifyVolume: that it is not known what the disk has, the
 * parameters, and that they are to be tried (again). */
json_t *modification_unknown_json(void);
json_t *modification_wish_json(const Api__AzVolume *volume, const struct parameter *parameters,
                               size_t n);
json_t *modification_begin_json(void);
/* PRECONDITION if there are none after they were written: the API server drops what its definitions
 * of the custom resources lack. */
struct err *modification_check_kept(const Api__AzVolume *volume)
    __attribute__((warn_unused_result));
/* A member of a status that records the disk: it has what is requested. */
void modification_add_done(const Api__AzVolume *volume, json_t *status);

/* The volume's disk has so much of its data by now: an event now and then, if it is being modified.
 */
void modification_tell_progress(const struct controller *controller,
                                const struct kube_object *before, int percent);

/* Modifies the disk and records what it is. */
struct err *modification_carry_out(struct task *self, struct controller *controller,
                                   const struct kube_object *object)
    __attribute__((warn_unused_result));
