/* content_source.h - what a new volume is to be a copy of: CreateVolume's volume_content_source.
 */
#pragma once

#include "controller/csi/service.h"

/* The id of the disk or snapshot. "" if it says none. */
const char *content_source_id(const Csi__V1__VolumeContentSource *source);

/* Makes of a request with a source one that can be carried out: as large as the source at least,
 * and, for a copy of a disk, in its zone, since Azure copies disks within a zone only. What is new
 * in it is in `arena`. NOT_FOUND if there is no such source; ABORTED while its data is not
 * complete; OUT_OF_RANGE if it is larger than allowed; EXHAUSTED if the volume is wanted in other
 * zones. */
struct err *content_source_apply(struct task *self, struct controller *controller,
                                 struct arena *arena, const struct volume_parameters *parameters,
                                 Csi__V1__CreateVolumeRequest *io)
    __attribute__((warn_unused_result));

/* EXISTS if the volume is a copy of something else than the request wants. */
struct err *content_source_check_same(const Api__AzVolume *volume,
                                      const Csi__V1__CreateVolumeRequest *request)
    __attribute__((warn_unused_result));

/* What CSI's caller is told that the volume is a copy of; NULL if it is of nothing. */
Csi__V1__VolumeContentSource *content_source_of(struct arena *arena, const Api__AzVolume *volume);
