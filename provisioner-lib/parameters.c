#include "provisioner-lib/parameters.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/parameter_table.h"
#include "provisioner-lib/parameters_template.h"
#include "provisioner-lib/tag_list.h"

enum { NOT_SAID = -1 };

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define AT(member) offsetof(struct volume_parameters, member)

static const struct parameter_row rows[] = {
    {"skuName", CHOICE, MUTABLE, AT(sku), DISK_SKU_NAMES, 0, 0, "StandardSSD_LRS", "Kind of disk."},
    {"storageAccountType", CHOICE, MUTABLE, AT(sku), DISK_SKU_NAMES, 0, 0, NULL,
     "Alias of skuName."},
    {"maxShares", COUNT, LASTING, AT(max_shares), NULL, 1, MAX_SHARES_LIMIT, "1",
     "Number of VMs to which the disk can be attached at the same time. With 2 or more, the volume "
     "gets replicas. Azure's limit depends on the kind and size of the disk."},
    {"maxMountReplicaCount", COUNT, LASTING, AT(max_mount_replica_count), NULL, 0,
     MAX_SHARES_LIMIT - 1, NULL,
     "Number of replica attachments in addition to the primary; at most maxShares - 1, which is "
     "the default. 0 for volumes that several nodes write to."},
    {"replicaNodeSelector", SELECTOR, LASTING, AT(replica_node_selector), NULL, 0, 0, NULL,
     "Label selector for the nodes that may get replicas, as for kubectl -l: key=value, "
     "key!=value, key in (a,b), key notin (a,b), key, !key, separated by commas. It does not "
     "affect where pods run. Default: all nodes on which the pod could run."},
    {"cachingMode", CACHING, LASTING, AT(caching), LIST("None", "ReadOnly", "ReadWrite"), 0, 0,
     NULL,
     "Caching of the disk on its VM. Default: ReadOnly, or None where caching is not possible: "
     "with maxShares above 1, for UltraSSD_LRS and PremiumV2_LRS, and for disks of 4 TiB or more."},
    {"writeAcceleratorEnabled", TRUTH, LASTING, AT(write_accelerator), NULL, 0, 0, NULL,
     "Whether writes go through Azure's write accelerator; only for Premium_LRS disks with "
     "maxShares "
     "1 and cachingMode None or ReadOnly, on VMs that have one (M series). Default: false."},
    {"fsType", CHOICE, LASTING, AT(fs_type), LIST("ext4", "ext3", "ext2", "xfs"), 0, 0, "ext4",
     "File system of a new volume."},
    {"csi.storage.k8s.io/fstype", CHOICE, LASTING, AT(fs_type), LIST("ext4", "ext3", "ext2", "xfs"),
     0, 0, NULL, "Kubernetes' name for fsType."},
    {"partition", COUNT, LASTING, AT(partition), NULL, 1, 256, NULL,
     "Only for an existing disk: the number of the partition that is the volume, with a file "
     "system "
     "on it or as a block device. The disk then cannot be grown through a claim. Default: the "
     "whole "
     "disk."},
    {"location", TEXT, CREATION, AT(location), NULL, 0, 0, NULL,
     "Region of the disk, which must be that of the VMs. Default: the cluster's."},
    {"resourceGroup", GROUP, CREATION, AT(resource_group), NULL, 0, 0, NULL,
     "Resource group of the disk, which must exist. Default: the cluster's."},
    {"subscriptionID", GUID, CREATION, AT(subscription), NULL, 0, 0, NULL,
     "Subscription of the disk, which must be that of the VMs. Default: the cluster's."},
    {"diskIOPSReadWrite", INTEGER, MUTABLE, AT(iops), NULL, 1, 400000, NULL,
     "Operations per second; only for UltraSSD_LRS and PremiumV2_LRS. Default: chosen by Azure."},
    {"diskMBpsReadWrite", INTEGER, MUTABLE, AT(mbps), NULL, 1, 10000, NULL,
     "Megabytes per second; only for UltraSSD_LRS and PremiumV2_LRS. Default: chosen by Azure."},
    {"logicalSectorSize", INTEGER, CREATION, AT(sector_size), LIST("512", "4096"), 512, 4096, NULL,
     "Size of a sector in bytes; only for UltraSSD_LRS and PremiumV2_LRS. Default: chosen by "
     "Azure."},
    {"diskEncryptionSetID", TEXT, CREATION, AT(encryption_set), NULL, 0, 0, NULL,
     "Resource id of the disk encryption set whose key is used. Default: the platform's key."},
    {"diskEncryptionType", TEXT, CREATION, AT(encryption_type),
     LIST("EncryptionAtRestWithPlatformKey", "EncryptionAtRestWithCustomerKey",
          "EncryptionAtRestWithPlatformAndCustomerKeys"),
     0, 0, NULL, "How the key of the disk encryption set is used; requires diskEncryptionSetID."},
    {"networkAccessPolicy", CHOICE, CREATION, AT(network_access),
     LIST("AllowAll", "DenyAll", "AllowPrivate"), 0, 0, NULL,
     "From which networks the disk can be exported. AllowPrivate requires diskAccessID. Default: "
     "DenyAll, but on Azure Stack Hub, which does not know this."},
    {"publicNetworkAccess", CHOICE, CREATION, AT(public_access), LIST("Enabled", "Disabled"), 0, 0,
     NULL,
     "Whether the disk can be exported through public networks. Default: Disabled, or, with "
     "networkAccessPolicy AllowAll, Enabled."},
    {"diskAccessID", TEXT, CREATION, AT(disk_access), NULL, 0, 0, NULL,
     "Resource id of the disk access resource for networkAccessPolicy AllowPrivate."},
    {"enableBursting", TRUTH, CREATION, AT(bursting), NULL, 0, 0, NULL,
     "Whether the disk may temporarily exceed its performance; only for Premium_LRS and "
     "Premium_ZRS disks of more than 512 GiB with maxShares 1. Default: false."},
    {"enablePerformancePlus", TRUTH, CREATION, AT(performance_plus), NULL, 0, 0, NULL,
     "Whether a disk of 513 GiB or more gets a higher performance. Default: false."},
    {"fencing", CHOICE, CREATION, AT(fencing), LIST("preferred", "required", "none", "guest"), 0, 0,
     "preferred",
     "With maxShares above 1: whether the disk itself refuses the writes of all VMs but the "
     "primary's, by a persistent reservation. preferred: where the device can do that; required: a "
     "volume whose device cannot is not mounted; none: never; guest: never, because the workload "
     "makes reservations of its own. Volumes that several nodes write to (ReadWriteMany) have "
     "none. See docs/fencing.md."},
    {"automaticFailover", TRUTH, CREATION, AT(automatic_failover), NULL, 0, 0, NULL,
     "Whether the pods of a node from which nothing is heard any more are moved without anybody's "
     "decision, once the disk refuses that node's writes, which takes replicas and a fence, or "
     "Azure says that its VM is stopped or gone; needs a controller that runs with "
     "--node-grace-period. Pods can ask for it, too, by a label. Default: false. See "
     "docs/failover.md."},
    {"perfProfile", CHOICE, CREATION, AT(perf_profile), LIST("none", "basic", "advanced"), 0, 0,
     "none",
     "How the device is set before the volume is used. basic: by the performance of a disk of its "
     "kind and size; only for Premium and StandardSSD disks. It sets queue/max_sectors_kb, "
     "queue/scheduler (mq-deadline), queue/nr_requests, queue/read_ahead_kb (8) and, where the "
     "device has one, device/queue_depth. A disk that has grown gets the settings of its new size "
     "when a pod next starts to use it. What the VM's size allows is not taken into account: on a "
     "VM that allows less than the disk, the queue is longer than it need be. advanced: by "
     "device-setting/."},
    {"device-setting/", SETTING, CREATION, 0, NULL, 0, 0, NULL,
     "With perfProfile advanced: a setting of the device, by its path in /sys/block/<device>, such "
     "as device-setting/queue/read_ahead_kb. A volume whose device does not take it cannot be "
     "mounted, and the error names the setting. Paths through links are refused, but for "
     "device/queue_depth."},
    {"tags", TAGS, CREATION, AT(tags_text), NULL, 0, 0, NULL,
     "Tags of the disk: key=value[,key=value...], at most 44 in addition to the six that the "
     "driver writes. A slash in a key becomes a hyphen. In a value, ${pvc.metadata.name}, "
     "${pvc.metadata.namespace} and ${pv.metadata.name} stand for the claim."},
    {"tagValueDelimiter", TEXT, CREATION, AT(tag_delimiter), NULL, 0, 0, NULL,
     "What separates the tags, for values that contain commas. Default: a comma."},
    {"diskName", NAME, CREATION, AT(disk_name), NULL, 0, 0, NULL,
     "Name of the disk, with the templates of tags. It must differ from claim to claim: a claim "
     "whose disk would have the name of another volume's disk is refused. Default: the name of the "
     "PersistentVolume. To use an existing disk, create a PersistentVolume with the disk's id as "
     "volumeHandle."},
    {"csi.storage.k8s.io/pv/name", TEXT, CREATION, AT(pv_name), NULL, 0, 0, NULL,
     "Set by csi-provisioner; becomes a tag of the disk."},
    {"csi.storage.k8s.io/pvc/name", TEXT, CREATION, AT(pvc_name), NULL, 0, 0, NULL,
     "Set by csi-provisioner; becomes a tag of the disk."},
    {"csi.storage.k8s.io/pvc/namespace", TEXT, CREATION, AT(pvc_namespace), NULL, 0, 0, NULL,
     "Set by csi-provisioner; becomes a tag of the disk."},
    {"kind", FIXED, CREATION, 0, LIST("managed", "Managed"), 0, 0, NULL,
     "All disks are managed disks."},
    {"zoned", IGNORED, CREATION, 0, NULL, 0, 0, NULL,
     "Has no effect: the zone follows from the node or the topology."},
    {"incremental", IGNORED, CREATION, 0, NULL, 0, 0, NULL,
     "Has no effect: it concerns snapshots."},
    {"enableAsyncAttach", IGNORED, CREATION, 0, NULL, 0, 0, NULL,
     "Has no effect: --publish-wait of the controller determines what a publish waits for."},
    {"attachDiskInitialDelay", IGNORED, CREATION, 0, NULL, 0, 0, NULL,
     "Has no effect: requests that arrive while a VM is being updated are combined into its next "
     "update."},
    {"userAgent", IGNORED, CREATION, 0, NULL, 0, 0, NULL,
     "Has no effect: requests to Azure carry the driver's own name."},
};

static const struct parameter_table table = {rows, COUNT_OF(rows)};

void volume_parameters_fini(struct volume_parameters *p)
{
    tag_list_free(&p->tags, &p->n_tags);
    free(p->tags_text);
    free(p->tag_delimiter);
    free(p->disk_name);
    free(p->replica_node_selector);
    free(p->location);
    free(p->resource_group);
    free(p->subscription);
    free(p->encryption_set);
    free(p->encryption_type);
    free(p->disk_access);
    free(p->pv_name);
    free(p->pvc_name);
    free(p->pvc_namespace);
    *p = (struct volume_parameters){0};
}

static bool has_effect(const struct parameter_row *row)
{
    return row->type != FIXED && row->type != IGNORED;
}

size_t parameters_keep_known(struct parameter *parameters, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        const struct parameter_row *row = parameter_table_find(&table, parameters[i].name);

        if (row && has_effect(row))
            parameters[kept++] = parameters[i];
    }
    return kept;
}

/* The node looks once more, by what the path leads to. */
static struct err *check_setting(const char *name, const char *path)
{
    bool good = true, more = true;

    for (const char *part = path; more;) {
        size_t length = strcspn(part, "/");

        good = good && length > 0 && strncmp(part, "..", length) != 0;
        more = part[length] != '\0';
        part += length + more;
    }
    return good ? NULL
                : err_new(ERR_INVALID,
                          "parameter %s is not a path below the device's folder in sysfs", name);
}

static struct err *read_parameter(const struct parameter *parameter, struct volume_parameters *ret)
{
    const struct parameter_row *row = parameter_table_find(&table, parameter->name);

    if (!row)
        return err_new(ERR_INVALID, "parameter %s is unknown", parameter->name);
    if (!parameter->value[0])
        return NULL;
    if (row->type == SETTING) {
        TRY(check_setting(parameter->name, parameter->name + strlen(row->name)));
        ret->n_settings++;
        return NULL;
    }
    struct err *err = parameter_row_read(row, parameter->value, ret);
    return err ? err_wrap(err, "parameter %s", row->name) : NULL;
}

/* ---- all of them ---- */

static struct err *read_fallbacks(struct volume_parameters *ret)
{
    *ret = (struct volume_parameters){.max_mount_replica_count = NOT_SAID};
    return parameter_table_read_fallbacks(&table, ret);
}

struct err *volume_parameters_parse(const struct parameter *parameters, size_t n, bool multi_node,
                                    struct volume_parameters *ret)
{
    CLEANUP(volume_parameters_fini) struct volume_parameters parsed = {0};

    TRY(read_fallbacks(&parsed));
    for (size_t i = 0; i < n; i++)
        TRY(read_parameter(&parameters[i], &parsed));
    TRY(volume_parameters_expand(&parsed));
    if (parsed.max_mount_replica_count == NOT_SAID)
        parsed.max_mount_replica_count = multi_node ? 0 : parsed.max_shares - 1;
    TRY(volume_parameters_check(&parsed, multi_node));
    *ret = parsed;
    parsed = (struct volume_parameters){0};
    return NULL;
}

struct err *volume_parameters_parse_mutable(const struct parameter *parameters, size_t n,
                                            struct volume_parameters *ret)
{
    CLEANUP(volume_parameters_fini) struct volume_parameters parsed = {0};

    for (size_t i = 0; i < n; i++) {
        const struct parameter_row *row = parameter_table_find(&table, parameters[i].name);

        if (!row || row->use != MUTABLE)
            return err_new(
                ERR_INVALID,
                "parameter %s cannot be changed, nor be in a VolumeAttributesClass: only "
                "skuName, diskIOPSReadWrite and diskMBpsReadWrite can",
                parameters[i].name);
        TRY(read_parameter(&parameters[i], &parsed));
    }
    *ret = parsed;
    parsed = (struct volume_parameters){0};
    return NULL;
}

struct err *volume_parameters_parse_existing(const struct parameter *parameters, size_t n,
                                             bool multi_node, struct volume_parameters *ret)
{
    CLEANUP(volume_parameters_fini) struct volume_parameters parsed = {0};

    TRY(read_fallbacks(&parsed));
    for (size_t i = 0; i < n; i++) {
        const struct parameter_row *row = parameter_table_find(&table, parameters[i].name);

        if (row && row->use == LASTING)
            TRY(read_parameter(&parameters[i], &parsed));
    }
    if (parsed.max_mount_replica_count == NOT_SAID && multi_node)
        parsed.max_mount_replica_count = 0;
    const char *shares = parameter_find(parameters, n, "maxShares"); /* else the disk knows */
    if (parsed.max_mount_replica_count == NOT_SAID ||
        (shares && *shares && parsed.max_mount_replica_count > parsed.max_shares - 1))
        parsed.max_mount_replica_count = parsed.max_shares - 1;
    *ret = parsed;
    parsed = (struct volume_parameters){0};
    return NULL;
}
