#include "provisioner-lib/snapshot_parameters.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/disk_mark.h"
#include "provisioner-lib/disk_sku.h"
#include "provisioner-lib/parameter_table.h"
#include "provisioner-lib/region.h"
#include "provisioner-lib/tag_list.h"

/* Of Azure: the tags of one resource; the driver writes the others. */
enum { MOST_TAGS = 50, OWN_TAGS = DISK_MARK_TAGS + 2, COPY_TAGS = 2 };

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define AT(member) offsetof(struct snapshot_parameters, member)

static const struct parameter_row rows[] = {
    {"incremental", TRUTH, CREATION, AT(incremental), NULL, 0, 0, "true",
     "Whether Azure stores only what has changed since the previous snapshot of the disk. "
     "Snapshots "
     "of UltraSSD_LRS and PremiumV2_LRS disks are always incremental."},
    {"resourceGroup", GROUP, CREATION, AT(resource_group), NULL, 0, 0, NULL,
     "Resource group of the snapshot, which must exist. Default: the disk's."},
    {"subscriptionID", GUID, CREATION, AT(subscription), NULL, 0, 0, NULL,
     "Subscription of the snapshot; of an incremental one, it must be the disk's. Default: the "
     "disk's."},
    {"location", TEXT, CREATION, AT(location), NULL, 0, 0, NULL,
     "Region of the snapshot, by Azure's name or the one that people know: westeurope or West "
     "Europe. Default: the disk's. In another one, it is a copy of a snapshot that the driver "
     "takes "
     "in the disk's region and deletes again; only incremental ones can be copied."},
    {"networkAccessPolicy", CHOICE, CREATION, AT(network_access),
     LIST("AllowAll", "DenyAll", "AllowPrivate"), 0, 0, NULL,
     "From which networks the snapshot can be exported. Default: chosen by Azure. AllowPrivate "
     "requires diskAccessID."},
    {"publicNetworkAccess", CHOICE, CREATION, AT(public_access), LIST("Enabled", "Disabled"), 0, 0,
     NULL,
     "Whether the snapshot can be exported through public networks. Default: chosen by Azure."},
    {"diskAccessID", TEXT, CREATION, AT(disk_access), NULL, 0, 0, NULL,
     "Resource id of the disk access resource for networkAccessPolicy AllowPrivate."},
    {"dataAccessAuthMode", CHOICE, CREATION, AT(data_access), LIST("None", "AzureActiveDirectory"),
     0, 0, NULL, "Who may export the snapshot. Default: chosen by Azure."},
    {"instantAccessDurationMinutes", INTEGER, CREATION, AT(instant_access_minutes), NULL, 60, 300,
     NULL,
     "For how many minutes volumes can be created from the snapshot while Azure still copies its "
     "data; only for UltraSSD_LRS and PremiumV2_LRS disks. Default: not before it has been "
     "copied."},
    {"tags", TAGS, CREATION, AT(tags_text), NULL, 0, 0, NULL,
     "Tags of the snapshot: key=value[,key=value...], at most 45 in addition to the five that the "
     "driver writes, with location 43 and seven. A slash in a key becomes a hyphen."},
    {"tagValueDelimiter", TEXT, CREATION, AT(tag_delimiter), NULL, 0, 0, NULL,
     "What separates the tags, for values that contain commas. Default: a comma."},
    {"csi.storage.k8s.io/volumesnapshot/name", TEXT, CREATION, AT(snapshot_name), NULL, 0, 0, NULL,
     "Set by csi-snapshotter; becomes a tag of the snapshot."},
    {"csi.storage.k8s.io/volumesnapshot/namespace", TEXT, CREATION, AT(snapshot_namespace), NULL, 0,
     0, NULL, "Set by csi-snapshotter; becomes a tag of the snapshot."},
    {"csi.storage.k8s.io/volumesnapshotcontent/name", IGNORED, CREATION, 0, NULL, 0, 0, NULL,
     "Has no effect: the name of the snapshot follows from it."},
    {"userAgent", IGNORED, CREATION, 0, NULL, 0, 0, NULL,
     "Has no effect: requests to Azure carry the driver's own name."},
};

static const struct parameter_table table = {rows, COUNT_OF(rows)};

void snapshot_parameters_fini(struct snapshot_parameters *p)
{
    tag_list_free(&p->tags, &p->n_tags);
    free(p->tags_text);
    free(p->tag_delimiter);
    free(p->resource_group);
    free(p->subscription);
    free(p->location);
    free(p->disk_access);
    free(p->snapshot_name);
    free(p->snapshot_namespace);
    *p = (struct snapshot_parameters){0};
}

static struct err *read_parameter(const struct parameter *parameter,
                                  struct snapshot_parameters *ret)
{
    const struct parameter_row *row = parameter_table_find(&table, parameter->name);

    if (!row)
        return err_new(ERR_INVALID, "parameter %s is unknown in a VolumeSnapshotClass",
                       parameter->name);
    if (!parameter->value[0])
        return NULL;
    struct err *err = parameter_row_read(row, parameter->value, ret);
    return err ? err_wrap(err, "parameter %s", row->name) : NULL;
}

static struct err *read_location(struct snapshot_parameters *p)
{
    if (!p->location)
        return NULL;
    CLEANUP(freep) char *text = TAKE_PTR(p->location);
    p->location = region_name(text);
    for (const char *c = p->location; *c; c++)
        if (!isalnum((unsigned char)*c))
            return err_new(ERR_INVALID, "parameter location: \"%s\" is not the name of a region",
                           text);
    return *p->location ? NULL : err_new(ERR_INVALID, "parameter location names no region");
}

static struct err *read_tags(struct snapshot_parameters *p)
{
    size_t own = OWN_TAGS + (p->location ? COPY_TAGS : 0);

    if (!p->tags_text)
        return NULL;
    struct err *err =
        tag_list_parse(p->tags_text, p->tag_delimiter, NULL, NULL, &p->tags, &p->n_tags);
    if (!err && p->n_tags > MOST_TAGS - own)
        err = err_new(ERR_INVALID,
                      "with the %zu that the driver adds, %zu tags are more than the %d that Azure "
                      "allows",
                      own, p->n_tags, MOST_TAGS);
    return err ? err_wrap(err, "parameter tags") : NULL;
}

static struct err *check(const struct snapshot_parameters *p)
{
    bool is_private = p->network_access && strcmp(p->network_access, "AllowPrivate") == 0;

    if (is_private != (p->disk_access != NULL))
        return err_new(ERR_INVALID,
                       "parameters networkAccessPolicy and diskAccessID: AllowPrivate requires "
                       "diskAccessID, and only AllowPrivate does");
    return NULL;
}

struct err *snapshot_parameters_parse(const struct parameter *parameters, size_t n,
                                      struct snapshot_parameters *ret)
{
    CLEANUP(snapshot_parameters_fini) struct snapshot_parameters parsed = {0};

    TRY(parameter_table_read_fallbacks(&table, &parsed));
    for (size_t i = 0; i < n; i++)
        TRY(read_parameter(&parameters[i], &parsed));
    TRY(read_location(&parsed));
    TRY(read_tags(&parsed));
    TRY(check(&parsed));
    *ret = parsed;
    parsed = (struct snapshot_parameters){0};
    return NULL;
}

bool snapshot_parameters_is_copy(const struct snapshot_parameters *p, const char *region)
{
    return p->location && !region_equal(p->location, region);
}

/* A disk access resource is for one region; what is only copied needs none. */
struct snapshot_parameters snapshot_parameters_of_local(const struct snapshot_parameters *p)
{
    struct snapshot_parameters local = *p;

    local.location = NULL;
    if (p->disk_access) {
        local.disk_access = NULL;
        local.network_access = "DenyAll";
    }
    return local;
}

struct err *snapshot_parameters_check_disk(const struct snapshot_parameters *p, const char *sku,
                                           const char *region)
{
    bool is_slow = disk_sku_is_provisioned(sku);

    if (is_slow && !p->incremental)
        return err_new(ERR_INVALID,
                       "parameter incremental: snapshots of %s disks are always incremental", sku);
    if (!is_slow && p->instant_access_minutes)
        return err_new(ERR_INVALID,
                       "parameter instantAccessDurationMinutes is only for UltraSSD_LRS and "
                       "PremiumV2_LRS disks; snapshots of %s disks can be used at once",
                       sku);
    if (!snapshot_parameters_is_copy(p, region))
        return NULL;
    if (!p->incremental)
        return err_new(
            ERR_INVALID,
            "parameter incremental: the disk is in %s, and Azure copies only incremental "
            "snapshots to another region (parameter location: %s)",
            region, p->location);
    if (p->instant_access_minutes)
        return err_new(
            ERR_INVALID,
            "parameter instantAccessDurationMinutes: the disk is in %s, and a copy of its "
            "snapshot in another region (parameter location: %s) can be used only when "
            "it is complete",
            region, p->location);
    return NULL;
}
