/* disk.h - the disk of an AzVolume: which disk to request from the cloud, and how to record the one
 * that exists; for volume/reconcile.c.
 */
#pragma once

#include <jansson.h>

#include "controller/controller.h"
#include "provisioner-lib/parameters.h"

/* The disk to request. Points into `parameters`. */
struct cloud_disk_spec volume_disk_spec(const struct controller *controller,
                                        const Api__AzVolume *volume,
                                        const struct volume_parameters *parameters,
                                        const struct disk_limits *limits);

/* What its status.completionPercent is to be. */
json_t *volume_percent_json(const struct cloud_disk *disk);
/* A patch of the AzVolume's status that records this disk. */
json_t *volume_disk_json(const struct controller *controller, const Api__AzVolume *volume,
                         const struct cloud_disk *disk);
/* The same of a disk that has been changed. More may be asked for, even meanwhile: so the state is
 * not named, and stays as it is by then, and with it the error of a growth that failed. */
json_t *volume_disk_changed_json(const struct controller *controller, const Api__AzVolume *volume,
                                 const struct cloud_disk *disk);
/* Says in Events of the AzVolume what is to be recorded of the disk and would surprise people: that
 * it is another one, or that fewer VMs may have it than the parameters say. */
void volume_disk_tell(const struct controller *controller, const struct kube_object *object,
                      const struct cloud_disk *disk);
/* Reads the disk, and records what it is if it differs: a former leader may have changed it, or
 * somebody else. */
struct err *volume_disk_read(struct task *self, struct controller *controller,
                             const struct kube_object *object) __attribute__((warn_unused_result));
