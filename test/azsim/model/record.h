/* record.h - the model as JSON, to outlive a restart.
 *
 * A snapshot is an object of tables, and a table is an object of records by key:
 *
 *     {"groups": {key: record}, "disks": {...}, "snapshots": {...}, "scaleSets": {...},
 *      "vms": {...}, "operations": {...}, "removedVms": {name: true}}
 *
 * A change, as the model hands it to its commit function, has the same shape, with null for what is
 * gone: laid over a snapshot it gives the next one. Latencies are configuration and not part of it,
 * nor are groups that no client has changed. Records are this folder's own; nothing else reads
 * them.
 */
#pragma once

#include <jansson.h>

#include "lib/base/err.h"

struct disk;
struct group;
struct model;
struct operation;
struct scale_set;
struct snapshot;
struct vm;

json_t *record_of_group(const struct group *group);
json_t *record_of_disk(const struct disk *disk);
json_t *record_of_snapshot(const struct snapshot *snapshot);
json_t *record_of_scale_set(const struct scale_set *set);
json_t *record_of_vm(const struct vm *vm);
json_t *record_of_operation(const struct operation *operation);

/* The whole of it. */
json_t *records_of_model(const struct model *model);

/* Lays a change over a snapshot, which begins as an empty object. */
void records_apply(json_t *snapshot, const json_t *change);

/* Fills an empty model, whose groups are there; operations go on. INVALID if a record is of no use:
 * the snapshot is not one of ours, or of another configuration. */
struct err *records_restore(struct model *model, const json_t *snapshot)
    __attribute__((warn_unused_result));
