/* disk_kinds.h - what Azure's SKU list says of the kinds of disks in a region.
 *
 * Names count whatever their case.
 */
#pragma once

#include <jansson.h>

#include "lib/base/cleanup.h"
#include "lib/base/err.h"
#include "provisioner-lib/disk_sku.h"

struct disk_kinds;

struct disk_kinds *disk_kinds_new(void);
void disk_kinds_free(struct disk_kinds *kinds);
DEFINE_CLEANUP(struct disk_kinds, disk_kinds_free)

/* One row of the list: a kind has several if it differs by size. False, and nothing is added, if no
 * disk can be like that. */
bool disk_kinds_add(struct disk_kinds *kinds, const char *name, const struct disk_limits *row);
/* False if the kind is not there. */
bool disk_kinds_find(const struct disk_kinds *kinds, const char *name, int64_t size_gib,
                     struct disk_limits *ret);

/* For a file. INVALID if it is something else. */
json_t *disk_kinds_to_json(const struct disk_kinds *kinds) __attribute__((warn_unused_result));
struct err *disk_kinds_from_json(struct disk_kinds *kinds, const json_t *json)
    __attribute__((warn_unused_result));
