/* parameters.h - the parameters of a StorageClass, checked once and then as data.
 *
 * Neither names nor the values of a choice are case-sensitive, and an empty value says nothing. For
 * a disk that is to be made what is not known is an error, because a parameter that is silently
 * dropped is a disk that is not what its owner asked for. docs/parameters.md is for
 * people; the table in parameters.c is where a parameter is added.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/alloc.h"
#include "lib/base/err.h"
#include "provisioner-lib/caching.h"
#include "provisioner-lib/disk_sku.h"
#include "provisioner-lib/parameter_list.h"

enum { MAX_SHARES_LIMIT = 15 }; /* the most that Azure allows for any disk */

struct volume_parameters {
    const char *sku; /* one of Azure's names, static */
    int max_shares;
    int max_mount_replica_count;
    char *replica_node_selector; /* NULL: any node will do */
    enum caching_mode caching;   /* as asked for; see caching_of() */
    bool write_accelerator;
    int partition;                                  /* of an existing disk; 0: all of it */
    const char *fs_type;                            /* static */
    char *location, *resource_group, *subscription; /* NULL: the driver's own */
    int64_t iops, mbps, sector_size;                /* 0: Azure's default */
    char *encryption_set, *encryption_type;         /* NULL: platform key */
    const char *network_access, *public_access;     /* static; NULL: nobody exports the disk */
    char *disk_access;                              /* NULL: none */
    bool bursting, performance_plus;
    const char *fencing; /* static */
    bool automatic_failover;
    const char *perf_profile; /* static */
    size_t n_settings;        /* of the device, which its node makes */
    struct parameter *tags;   /* owned, both parts */
    size_t n_tags;
    char *tags_text, *tag_delimiter;          /* what `tags` is made of; NULL: not said */
    char *disk_name;                          /* NULL: that of the volume */
    char *pv_name, *pvc_name, *pvc_namespace; /* NULL: not said */
};

/* `multi_node`: more than one node will write at once, so that replicas make no sense. INVALID with
 * the parameter, its value and what is allowed. */
struct err *volume_parameters_parse(const struct parameter *parameters, size_t n, bool multi_node,
                                    struct volume_parameters *ret)
    __attribute__((warn_unused_result));
/* Of a disk that exists: what attaching and mounting it need. What mattered when it was made is
 * passed over, whatever it says, and a count of replicas that is too high becomes the highest. */
struct err *volume_parameters_parse_existing(const struct parameter *parameters, size_t n,
                                             bool multi_node, struct volume_parameters *ret)
    __attribute__((warn_unused_result));
/* Of a VolumeAttributesClass: `sku`, `iops` and `mbps`, those that it names. INVALID if it names
 * others. */
struct err *volume_parameters_parse_mutable(const struct parameter *parameters, size_t n,
                                            struct volume_parameters *ret)
    __attribute__((warn_unused_result));
void volume_parameters_fini(struct volume_parameters *parameters);

/* What keeps a disk, as it is or is to be, from the write accelerator that the parameters ask for;
 * NULL if nothing does, or none is asked for. */
const char *volume_parameters_accelerator_obstacle(const struct volume_parameters *parameters,
                                                   const struct caching_disk *disk);

/* INVALID if what each of them says does not fit together (parameters_fit.c). */
struct err *volume_parameters_check(const struct volume_parameters *parameters, bool multi_node)
    __attribute__((warn_unused_result));
/* OUT_OF_RANGE if there is no disk of the kind with this size; INVALID if one of this size, with
 * these limits, cannot be what the parameters say. */
struct err *volume_parameters_check_size(const struct volume_parameters *parameters,
                                         int64_t size_gib, const struct disk_limits *limits)
    __attribute__((warn_unused_result));

/* The same of a disk that exists and is to be modified: by `sku`, `max_shares`, `iops` and `mbps`
 * only.
 */
struct err *volume_parameters_check_modified(const struct volume_parameters *parameters,
                                             int64_t size_gib, const struct disk_limits *limits)
    __attribute__((warn_unused_result));

/* Of a disk that exists already: drops what is not known or has no effect, as other programs may
 * have put it there; how many are left. */
size_t parameters_keep_known(struct parameter *parameters, size_t n);
