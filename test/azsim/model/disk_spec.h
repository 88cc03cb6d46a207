/* disk_spec.h - what the rules look at in a disk's body, and the rules that need nothing else.
 *
 * Pure: a body in, a spec or a refusal out.
 */
#pragma once

#include <jansson.h>

#include "test/azsim/model/refusal.h"
#include "test/azsim/model/sku.h"

struct disk_spec {
    const struct disk_sku *sku;
    int64_t size_gib;
    int64_t max_shares; /* 1: not shared */
    int64_t iops, mbps; /* what the disk can do */
    const char *zone;   /* "" if it is in none; points into the body */
    const char *tier;   /* "P15"; NULL if the SKU has none */
};

/* Reads a complete body, and checks it as Azure does; `name` is the disk's. */
struct refusal *disk_spec_read(const json_t *body, const char *name, struct disk_spec *ret)
    __attribute__((warn_unused_result));

/* Whether creationData stays the same, as it must, of disks and of snapshots. */
struct refusal *creation_check_same(const json_t *from, const json_t *to)
    __attribute__((warn_unused_result));
/* Whether a disk may change from one body to another, apart from what attachments forbid. */
struct refusal *disk_spec_check_change(const json_t *from, const json_t *to)
    __attribute__((warn_unused_result));
