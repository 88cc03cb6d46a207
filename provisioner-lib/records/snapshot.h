/* snapshot.h - an AzSnapshot: what it says.
 *
 * For all programs. Pure; what is returned is borrowed. A member that is not there, or cannot be
 * read, is said not to be there.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/api/azdisk.pb-c.h"
#include "lib/api/names.h"
#include "lib/kube/object.h"
#include "provisioner-lib/snapshot_parameters.h"

const Api__AzSnapshot *as_snapshot(const struct kube_object *object);

const char *snapshot_state(const Api__AzSnapshot *snapshot); /* "" if it has none yet */
/* A note in status.annotation; NULL if it is not there. */
const char *snapshot_annotation(const Api__AzSnapshot *snapshot, const char *name);

bool snapshot_is_created(const Api__AzSnapshot *snapshot); /* its content is in Azure */
bool snapshot_is_ready(const Api__AzSnapshot *snapshot);   /* volumes can be made from it */
/* How much of its data the cloud has copied to it; 0 before it exists. */
int snapshot_percent(const Api__AzSnapshot *snapshot);
/* How much of that the cloud does not need the disk for any more: the same, but of one in another
 * region, what has been copied to the local one. */
int snapshot_percent_of_disk(const Api__AzSnapshot *snapshot);
/* Data of its disk is being copied, or may be before long: if the disk grows, it fails. */
bool snapshot_is_pending(const Api__AzSnapshot *snapshot);
/* Its record is deleted, and nothing is completed any more. A copy in another region is, when its
 * content has been taken, unless the snapshot is to be deleted, too. */
bool snapshot_goes(const Api__AzSnapshot *snapshot);
/* Its creation has failed, and is not tried again before CreateSnapshot is called again. */
bool snapshot_has_failed(const Api__AzSnapshot *snapshot);

/* The id that is on record: of one that was created, or that the record was written for; NULL if it
 * is to be created. */
const char *snapshot_recorded_id(const Api__AzSnapshot *snapshot);
/* When its content was taken; 0 if that is not known. */
int64_t snapshot_taken_us(const Api__AzSnapshot *snapshot);

/* ---- of one that is copied to another region ---- */

bool snapshot_is_copy(const Api__AzSnapshot *snapshot);
/* The id of the snapshot in the region of the disk that it is copied from, which may exist; NULL if
 * there is none any more, or the snapshot is no copy. */
const char *snapshot_local_id(const Api__AzSnapshot *snapshot);
/* Whether the local one was taken, and whether it can be copied. */
bool snapshot_local_is_taken(const Api__AzSnapshot *snapshot);
bool snapshot_local_is_complete(const Api__AzSnapshot *snapshot);
bool snapshot_copy_exists(const Api__AzSnapshot *snapshot);
/* The copy is complete, or will never be. */
bool snapshot_copy_is_over(const Api__AzSnapshot *snapshot);
/* Whether Azure counts it as one of the disk's. */
bool snapshot_is_of_disk(const Api__AzSnapshot *snapshot);

struct err *snapshot_parse_parameters(const Api__AzSnapshot *snapshot,
                                      struct snapshot_parameters *ret)
    __attribute__((warn_unused_result));
