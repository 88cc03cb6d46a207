/* What must fit together in the parameters of a disk that is to be made. */

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "provisioner-lib/basic_profile.h"
#include "provisioner-lib/disk_mark.h"
#include "provisioner-lib/parameters.h"

enum { MOST_TAGS = 50 }; /* of an Azure resource */

static struct err *check_shares(const struct volume_parameters *p)
{
    return p->max_shares > 1 && !disk_sku_is_shareable(p->sku)
               ? err_new(ERR_INVALID, "parameter maxShares: %s disks cannot be shared", p->sku)
               : NULL;
}

static struct err *check_replicas(const struct volume_parameters *p, bool multi_node)
{
    TRY(check_shares(p));
    if (p->max_mount_replica_count > p->max_shares - 1)
        return err_new(
            ERR_INVALID,
            "parameter maxMountReplicaCount: %d is not in the range from 0 to %d (maxShares - 1)",
            p->max_mount_replica_count, p->max_shares - 1);
    if (p->replica_node_selector && p->max_shares < 2)
        return err_new(ERR_INVALID, "parameter replicaNodeSelector requires maxShares to be 2 or "
                                    "more: otherwise there are no replicas");
    if (multi_node && p->max_shares < 2)
        return err_new(ERR_INVALID,
                       "parameter maxShares: access from several nodes requires 2 or more");
    return NULL;
}

static struct err *check_caching(const struct volume_parameters *p, int64_t size_gib)
{
    const char *obstacle =
        caching_obstacle(&(struct caching_disk){p->sku, p->max_shares, size_gib});

    if (!obstacle || p->caching == CACHING_DEFAULT || p->caching == CACHING_NONE)
        return NULL;
    return err_new(ERR_INVALID, "parameter cachingMode: \"%s\" is not possible with %s; use None",
                   caching_mode_name(p->caching), obstacle);
}

const char *volume_parameters_accelerator_obstacle(const struct volume_parameters *p,
                                                   const struct caching_disk *disk)
{
    return p->write_accelerator ? write_accelerator_obstacle(p->caching, disk) : NULL;
}

static struct err *check_write_accelerator(const struct volume_parameters *p)
{
    const char *obstacle =
        volume_parameters_accelerator_obstacle(p, &(struct caching_disk){p->sku, p->max_shares, 0});

    return obstacle ? err_new(ERR_INVALID,
                              "parameter writeAcceleratorEnabled is not possible with %s; it needs "
                              "Premium_LRS, maxShares 1 and cachingMode None or ReadOnly",
                              obstacle)
                    : NULL;
}

static struct err *check_perf_profile(const struct volume_parameters *p)
{
    if (strcmp(p->perf_profile, "basic") == 0 && !basic_profile_applies(p->sku))
        return err_new(
            ERR_INVALID,
            "parameter perfProfile: basic is not possible with %s disks, only with "
            "Premium_LRS, Premium_ZRS, StandardSSD_LRS and StandardSSD_ZRS; use advanced",
            p->sku);
    if ((strcmp(p->perf_profile, "advanced") == 0) == (p->n_settings > 0))
        return NULL;
    return err_new(ERR_INVALID, "parameter perfProfile advanced and parameters device-setting/... "
                                "must be set together");
}

static struct err *check_fencing(const struct volume_parameters *p, bool multi_node)
{
    if (strcmp(p->fencing, "required") != 0 || (p->max_shares > 1 && !multi_node))
        return NULL;
    return err_new(ERR_INVALID,
                   multi_node ? "parameter fencing: required is not possible with volumes that "
                                "several nodes write to (ReadWriteMany)"
                              : "parameter fencing: required is only possible with maxShares above "
                                "1: nobody else can write to a disk that is not shared");
}

static struct err *check_automatic_failover(const struct volume_parameters *p, bool multi_node)
{
    return p->automatic_failover && multi_node
               ? err_new(ERR_INVALID, "parameter automaticFailover is not possible with volumes "
                                      "that several nodes write to (ReadWriteMany)")
               : NULL;
}

static struct err *check_performance(const struct volume_parameters *p)
{
    bool provisioned = disk_sku_is_provisioned(p->sku);

    if ((p->iops || p->mbps || p->sector_size) && !provisioned)
        return err_new(
            ERR_INVALID,
            "parameter %s is not possible with %s disks, only with UltraSSD_LRS and PremiumV2_LRS",
            p->iops   ? "diskIOPSReadWrite"
            : p->mbps ? "diskMBpsReadWrite"
                      : "logicalSectorSize",
            p->sku);
    return NULL;
}

static struct err *check_access(const struct volume_parameters *p)
{
    bool private = p->network_access && strcmp(p->network_access, "AllowPrivate") == 0;

    if (p->encryption_type && !p->encryption_set)
        return err_new(ERR_INVALID, "parameter diskEncryptionType requires diskEncryptionSetID");
    if (p->encryption_set && strncasecmp(p->encryption_set, "/subscriptions/", 15) != 0)
        return err_new(ERR_INVALID,
                       "parameter diskEncryptionSetID: \"%s\" does not begin with "
                       "/subscriptions/",
                       p->encryption_set);
    if (private != (p->disk_access != NULL))
        return err_new(
            ERR_INVALID,
            "parameter diskAccessID and networkAccessPolicy AllowPrivate must be set together");
    return NULL;
}

static struct err *check_tags(const struct volume_parameters *p)
{
    size_t added =
        DISK_MARK_TAGS + (p->pv_name != NULL) + (p->pvc_name != NULL) + (p->pvc_namespace != NULL);

    if (p->n_tags + added <= MOST_TAGS)
        return NULL;
    return err_new(ERR_INVALID,
                   "parameter tags: with the %zu that the driver adds, %zu tags are more than the "
                   "%d that a disk can have",
                   added, p->n_tags, MOST_TAGS);
}

static struct err *check_partition(const struct volume_parameters *p)
{
    return p->partition ? err_new(ERR_INVALID,
                                  "parameter partition: a new disk has no partitions. It is for "
                                  "volumeAttributes of the PersistentVolume of an existing disk")
                        : NULL;
}

struct err *volume_parameters_check(const struct volume_parameters *p, bool multi_node)
{
    TRY(check_replicas(p, multi_node));
    TRY(check_caching(p, 0));
    TRY(check_write_accelerator(p));
    TRY(check_performance(p));
    TRY(check_perf_profile(p));
    TRY(check_fencing(p, multi_node));
    TRY(check_automatic_failover(p, multi_node));
    TRY(check_tags(p));
    TRY(check_partition(p));
    return check_access(p);
}

/* ---- what a disk of a size can be ---- */

static struct err *check_range(const struct volume_parameters *p, const char *name, int64_t value,
                               int64_t least, int64_t most, int64_t size_gib)
{
    if (!value || !most || (value >= least && value <= most))
        return NULL;
    return err_new(ERR_INVALID,
                   "parameter %s: %" PRId64 " is not in the range from %" PRId64 " to %" PRId64
                   " of a %s disk of %" PRId64 " GiB",
                   name, value, least, most, p->sku, size_gib);
}

static struct err *check_bursting(const struct volume_parameters *p, int64_t size_gib)
{
    static const char name[] = "parameter enableBursting";

    if (!p->bursting)
        return NULL;
    if (strncmp(p->sku, "Premium_", 8) != 0)
        return err_new(ERR_INVALID,
                       "%s is not possible with %s disks, only with Premium_LRS and Premium_ZRS",
                       name, p->sku);
    if (p->max_shares > 1)
        return err_new(ERR_INVALID, "%s is not possible with a disk with maxShares above 1", name);
    if (size_gib <= 512)
        return err_new(ERR_INVALID, "%s requires more than 512 GiB, not %" PRId64, name, size_gib);
    return NULL;
}

static struct err *check_limits(const struct volume_parameters *p, int64_t size_gib,
                                const struct disk_limits *limits)
{
    if (size_gib > limits->most_gib)
        return err_new(ERR_OUT_OF_RANGE,
                       "a size of %" PRId64 " GiB: %s disks have at most %" PRId64, size_gib,
                       p->sku, limits->most_gib);
    if (size_gib < limits->least_gib)
        return err_new(ERR_OUT_OF_RANGE,
                       "a size of %" PRId64 " GiB: %s disks have at least %" PRId64, size_gib,
                       p->sku, limits->least_gib);
    if (limits->max_shares && p->max_shares > limits->max_shares)
        return err_new(ERR_INVALID,
                       "parameter maxShares: %d is more than the %d that a %s disk of "
                       "%" PRId64 " GiB allows",
                       p->max_shares, limits->max_shares, p->sku, size_gib);
    TRY(check_range(p, "diskIOPSReadWrite", p->iops, limits->least_iops, limits->most_iops,
                    size_gib));
    return check_range(p, "diskMBpsReadWrite", p->mbps, limits->least_mbps, limits->most_mbps,
                       size_gib);
}

struct err *volume_parameters_check_modified(const struct volume_parameters *p, int64_t size_gib,
                                             const struct disk_limits *limits)
{
    TRY(check_shares(p));
    TRY(check_performance(p));
    return check_limits(p, size_gib, limits);
}

struct err *volume_parameters_check_size(const struct volume_parameters *p, int64_t size_gib,
                                         const struct disk_limits *limits)
{
    TRY(check_limits(p, size_gib, limits));
    TRY(check_caching(p, size_gib));
    if (p->performance_plus && size_gib < 513)
        return err_new(ERR_INVALID,
                       "parameter enablePerformancePlus requires 513 GiB or more, not %" PRId64,
                       size_gib);
    return check_bursting(p, size_gib);
}
