/* snapshot_parameters.h - the parameters of a VolumeSnapshotClass, checked once and then as data.
 *
 * As with those of a StorageClass (parameters.h), what is not known is an error. The table in
 * snapshot_parameters.c is where a parameter is added; docs/snapshot-parameters.md is for people.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "provisioner-lib/parameter_list.h"

struct snapshot_parameters {
    bool incremental;
    char *resource_group, *subscription, *location; /* NULL: those of the disk; "westeurope" */
    const char *network_access, *public_access;     /* static; NULL: Azure's default */
    char *disk_access;                              /* NULL: none */
    const char *data_access;                        /* static; NULL: Azure's default */
    int64_t instant_access_minutes;                 /* 0: none */
    struct parameter *tags;                         /* owned, both parts */
    size_t n_tags;
    char *tags_text, *tag_delimiter;          /* what `tags` is made of; NULL: not said */
    char *snapshot_name, *snapshot_namespace; /* the VolumeSnapshot's; NULL: not said */
};

/* INVALID with the parameter, its value and what is allowed. */
struct err *snapshot_parameters_parse(const struct parameter *parameters, size_t n,
                                      struct snapshot_parameters *ret)
    __attribute__((warn_unused_result));
void snapshot_parameters_fini(struct snapshot_parameters *parameters);

/* Whether the snapshot is to be in another region than its disk, which is in `region`: a copy of
 * one that is taken there. */
bool snapshot_parameters_is_copy(const struct snapshot_parameters *parameters, const char *region);
/* Those of the snapshot in the region of its disk, from which it is copied. Nothing in the result
 * is owned by it. */
struct snapshot_parameters
snapshot_parameters_of_local(const struct snapshot_parameters *parameters);

/* INVALID if a disk of this kind, in this region, can have no such snapshot. */
struct err *snapshot_parameters_check_disk(const struct snapshot_parameters *parameters,
                                           const char *sku, const char *region)
    __attribute__((warn_unused_result));
