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

bool snapshot_is_created(const Api__AzSnapshot *snapshot); /* it exists in Azure */
bool snapshot_is_ready(const Api__AzSnapshot *snapshot);   /* volumes can be made from it */
/* How much of the data of its disk the cloud has copied to it; 0 before it exists. */
int snapshot_percent(const Api__AzSnapshot *snapshot);
/* Data of its disk is being copied to it, or may be before long: if the disk grows, it fails. */
bool snapshot_is_pending(const Api__AzSnapshot *snapshot);
/* Its creation has failed, and is not tried again before CreateSnapshot is called again. */
bool snapshot_has_failed(const Api__AzSnapshot *snapshot);

/* The id that is on record: of one that was created, or that the record was written for; NULL if it
 * is to be created. */
const char *snapshot_recorded_id(const Api__AzSnapshot *snapshot);
/* When its content was taken; 0 if that is not known. */
int64_t snapshot_taken_us(const Api__AzSnapshot *snapshot);

struct err *snapshot_parse_parameters(const Api__AzSnapshot *snapshot,
                                      struct snapshot_parameters *ret)
    __attribute__((warn_unused_result));
