#include "provisioner-lib/azure/disk_kinds.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"

enum { LARGEST_NUMBER = 1000 * 1000 * 1000 };

struct kind {
    char *name; /* lower case */
    struct disk_limits *rows;
    size_t n_rows;
    UT_hash_handle hh;
};

struct disk_kinds {
    struct kind *kinds;
};

struct disk_kinds *disk_kinds_new(void)
{
    return mem_alloc(sizeof(struct disk_kinds));
}

void disk_kinds_free(struct disk_kinds *kinds)
{
    if (!kinds)
        return;
    HASH_FOREACH(kinds->kinds, kind) {
        HASH_DEL(kinds->kinds, kind);
        free(kind->name);
        free(kind->rows);
        free(kind);
    }
    free(kinds);
}

static struct kind *find(const struct disk_kinds *kinds, const char *name)
{
    CLEANUP(freep) char *lower = mem_lower(name);
    struct kind *kind;

    HASH_FIND_STR(kinds->kinds, lower, kind);
    return kind;
}

/* Numbers that can be multiplied by a disk's size in GiB. */
static bool makes_sense(const struct disk_limits *row)
{
    const int64_t numbers[] = {row->least_gib, row->most_gib,          row->least_iops,
                               row->most_iops, row->most_iops_per_gib, row->least_mbps,
                               row->most_mbps, row->max_shares};

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (numbers[i] < 0 || numbers[i] > LARGEST_NUMBER)
            return false;
    return row->most_gib > 0 && row->least_gib <= row->most_gib;
}

bool disk_kinds_add(struct disk_kinds *kinds, const char *name, const struct disk_limits *row)
{
    struct kind *kind = find(kinds, name);

    if (!makes_sense(row))
        return false;
    if (!kind) {
        kind = mem_alloc(sizeof *kind);
        *kind = (struct kind){.name = mem_lower(name)};
        HASH_ADD_KEYPTR(hh, kinds->kinds, kind->name, strlen(kind->name), kind);
    }
    ARRAY_ADD(kind->rows, kind->n_rows) = *row;
    return true;
}

bool disk_kinds_find(const struct disk_kinds *kinds, const char *name, int64_t size_gib,
                     struct disk_limits *ret)
{
    const struct kind *kind = find(kinds, name);

    if (kind)
        disk_limits_at(kind->rows, kind->n_rows, size_gib, ret);
    return kind != NULL;
}

/* ---- as JSON ---- */

static json_t *row_to_json(const struct disk_limits *row)
{
    return json_pack("{s:I, s:I, s:i, s:I, s:I, s:I, s:I, s:I, s:i}", "leastGiB",
                     (json_int_t)row->least_gib, "mostGiB", (json_int_t)row->most_gib, "maxShares",
                     row->max_shares, "leastIOPS", (json_int_t)row->least_iops, "mostIOPS",
                     (json_int_t)row->most_iops, "mostIOPSPerGiB",
                     (json_int_t)row->most_iops_per_gib, "leastMBps", (json_int_t)row->least_mbps,
                     "mostMBps", (json_int_t)row->most_mbps, "zones", (int)row->zones);
}

static bool row_from_json(const json_t *json, struct disk_limits *ret)
{
    json_int_t least, most, least_iops, most_iops, per_gib, least_mbps, most_mbps;
    int shares, zones;

    if (json_unpack((json_t *)(uintptr_t)json, "{s:I, s:I, s:i, s:I, s:I, s:I, s:I, s:I, s:i}",
                    "leastGiB", &least, "mostGiB", &most, "maxShares", &shares, "leastIOPS",
                    &least_iops, "mostIOPS", &most_iops, "mostIOPSPerGiB", &per_gib, "leastMBps",
                    &least_mbps, "mostMBps", &most_mbps, "zones", &zones) != 0)
        return false;
    *ret = (struct disk_limits){least,   most,       shares,    least_iops,     most_iops,
                                per_gib, least_mbps, most_mbps, (unsigned)zones};
    return true;
}

json_t *disk_kinds_to_json(const struct disk_kinds *kinds)
{
    json_t *json = json_object();

    HASH_FOREACH(kinds->kinds, kind) {
        json_t *rows = json_array();

        for (size_t i = 0; i < kind->n_rows; i++)
            json_array_append_new(rows, row_to_json(&kind->rows[i]));
        json_object_set_new(json, kind->name, rows);
    }
    return json;
}

struct err *disk_kinds_from_json(struct disk_kinds *kinds, const json_t *json)
{
    const char *name;
    json_t *rows, *item;
    size_t i;

    json_object_foreach((json_t *)(uintptr_t)json, name, rows) {
        json_array_foreach(rows, i, item) {
            struct disk_limits row;

            if (!row_from_json(item, &row) || !disk_kinds_add(kinds, name, &row))
                return err_new(ERR_INVALID, "the limits of %s disks are invalid", name);
        }
    }
    return NULL;
}
