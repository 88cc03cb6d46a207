/* access.h - access to the content of a disk or snapshot by a shared access signature.
 *
 * While access is granted the disk cannot be attached and neither of them be deleted; it ends by
 * itself after its time. The signature leads nowhere: nobody serves blobs here.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "test/azsim/model/refusal.h"

struct disk;
struct operation;
struct snapshot;

/* Refused if the resource is in use in another way, or the body says nothing usable. */
struct refusal *disk_grant_access(struct disk *disk, const json_t *body, struct operation **ret)
    __attribute__((warn_unused_result));
struct refusal *disk_revoke_access(struct disk *disk, struct operation **ret)
    __attribute__((warn_unused_result));
struct refusal *snapshot_grant_access(struct snapshot *snapshot, const json_t *body,
                                      struct operation **ret) __attribute__((warn_unused_result));
struct refusal *snapshot_revoke_access(struct snapshot *snapshot, struct operation **ret)
    __attribute__((warn_unused_result));

bool disk_is_accessed(const struct disk *disk);
bool snapshot_is_accessed(const struct snapshot *snapshot);

/* {"accessSAS": "https://..."} for what has that unique id. */
json_t *access_json(const char *unique_id, int64_t until_us);
