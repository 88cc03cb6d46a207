#include "provisioner-lib/azure/managed_disk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/api/compute.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/azure/arm_list.h"
#include "provisioner-lib/azure/creation.h"
#include "provisioner-lib/azure/resource_id.h"
#include "provisioner-lib/disk_sku.h"

enum { OWNER_LOOK_MS = 1000, OWNER_LOOKS = 10 };

char *managed_disk_id(const struct arm_client *arm, const struct cloud_disk_spec *spec)
{
    const struct azure_config *config = arm_client_config(arm);
    const struct volume_parameters *p = spec->parameters;

    return resource_id_format(p->subscription ? p->subscription : config->subscription,
                              p->resource_group ? p->resource_group : config->resource_group,
                              "disks", spec->name);
}

/* "eastus-1" is zone "1" of eastus. */
static const char *zone_number(const char *zone)
{
    const char *dash = zone ? strrchr(zone, '-') : NULL;

    return dash ? dash + 1 : NULL;
}

/* ---- what is read ---- */

static struct err *read_disk(struct task *self, struct arm_client *arm, const char *id,
                             struct arena *arena, const Arm__Disk **ret)
{
    const ProtobufCMessage *decoded;

    TRY(arm_client_get(self, arm,
                       &(struct arm_request){
                           .kind = ARM_DISK_READ,
                           .path = id,
                       },
                       &arm__disk__descriptor, arena, &decoded));
    *ret = (const Arm__Disk *)decoded;
    if (!(*ret)->id || !(*ret)->properties)
        return err_new(ERR_INTERNAL, "GET %s: the disk lacks its id or properties", id);
    return NULL;
}

/* Borrowed from the disk. */
static struct disk_mark mark_of(const Arm__Disk *disk)
{
    CLEANUP(freep) struct parameter *tags = PARAMETER_LIST(disk->tags, disk->n_tags);

    return disk_mark_of_tags(tags, disk->n_tags);
}

static void add_instance(struct cloud_disk *disk, const char *id)
{
    for (size_t i = 0; i < disk->n_instances; i++)
        if (resource_id_equal(disk->instances[i], id))
            return;
    ARRAY_ADD(disk->instances, disk->n_instances) = mem_strdup(id);
}

/* What was uploaded, or made of an image, may be a MiB larger than its whole GiB, and then that is
 * what a device shows. 0 if it is not said, or makes no sense. */
static int64_t size_of(const Arm__DiskProperties *properties)
{
    int64_t gib = properties->disk_size_gb, bytes = properties->disk_size_bytes;

    if (gib <= 0 || gib > INT64_MAX / GIB)
        return 0;
    return bytes / GIB == gib ? bytes : gib * GIB;
}

static bool is_changing(const Arm__DiskProperties *properties)
{
    return properties->provisioning_state &&
           strcasecmp(properties->provisioning_state, "Updating") == 0;
}

/* Azure says so of other kinds too, without a meaning. */
static int percent_of(const Arm__Disk *disk)
{
    const Arm__DiskProperties *properties = disk->properties;
    bool counts = properties->has_completion_percent && disk->sku && disk->sku->name &&
                  disk_sku_is_provisioned(disk->sku->name);

    if (!counts || properties->completion_percent >= 100)
        return 100;
    return properties->completion_percent > 0 ? (int)properties->completion_percent : 0;
}

/* "" if it is a copy of nothing. */
static const char *source_of(const Arm__Disk *disk)
{
    const Arm__CreationData *creation = disk->properties->creation_data;

    return creation && creation->source_resource_id ? creation->source_resource_id : "";
}

/* managedBy of a shared disk names one of its VMs or none; the other two members name them all. */
static void describe(const Arm__Disk *disk, struct cloud_disk *ret)
{
    const Arm__DiskProperties *properties = disk->properties;
    const struct disk_mark mark = mark_of(disk);

    *ret = (struct cloud_disk){
        .id = mem_strdup(disk->id),
        .unique_id = mem_strdup(properties->unique_id ? properties->unique_id : ""),
        .size_bytes = size_of(properties),
        .changing = is_changing(properties),
        .made_us = timestamp_noted(properties->time_created),
        .owned_us = timestamp_noted(properties->last_ownership_update_time),
        .percent = percent_of(disk),
        .iops = properties->disk_iops_read_write,
        .mbps = properties->disk_mbps_read_write,
        .max_shares = properties->has_max_shares ? properties->max_shares : 1,
        .sku = mem_strdup(disk->sku && disk->sku->name ? disk->sku->name : "unknown kind"),
        .region = mem_strdup(disk->location ? disk->location : ""),
        .zone = disk->n_zones && disk->location
                    ? mem_printf("%s-%s", disk->location, disk->zones[0])
                    : mem_strdup(""),
        .source_id = mem_strdup(source_of(disk)),
        .mark = disk_mark_copy(&mark),
    };
    if (disk->managed_by)
        add_instance(ret, disk->managed_by);
    for (size_t i = 0; i < disk->n_managed_by_extended; i++)
        add_instance(ret, disk->managed_by_extended[i]);
    for (size_t i = 0; i < properties->n_share_info; i++)
        if (properties->share_info[i]->vm_uri)
            add_instance(ret, properties->share_info[i]->vm_uri);
}

struct err *managed_disk_get(struct task *self, struct arm_client *arm, const char *id,
                             struct cloud_disk *ret)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const Arm__Disk *disk;

    TRY(read_disk(self, arm, id, arena, &disk));
    describe(disk, ret);
    return NULL;
}

static const char *take_page(void *ctx, const ProtobufCMessage *message)
{
    const Arm__DisksPage *page = (const Arm__DisksPage *)message;
    struct cloud_disks *disks = ctx;

    for (size_t i = 0; i < page->n_value; i++)
        if (page->value[i]->id && page->value[i]->properties)
            describe(page->value[i], &ARRAY_ADD(disks->items, disks->n));
    return page->next_link;
}

struct err *managed_disk_list(struct task *self, struct arm_client *arm, const char *id,
                              struct cloud_disks *ret)
{
    CLEANUP(freep) char *path = resource_id_collection(id);

    return arm_list(
        self, arm,
        &(struct arm_request){.kind = ARM_DISK_READ, .path = path, .urgency = CLOUD_AUDIT},
        &arm__disks_page__descriptor, take_page, ret);
}

/* ---- create ---- */

static void set_text(json_t *object, const char *member, const char *value)
{
    if (value)
        json_object_set_new(object, member, json_string(value));
}

static json_t *tags_json(const struct cloud_disk_spec *spec)
{
    const struct volume_parameters *p = spec->parameters;
    struct parameter mark[DISK_MARK_TAGS];
    json_t *tags = json_object();

    for (size_t i = 0; i < p->n_tags; i++)
        set_text(tags, p->tags[i].name, p->tags[i].value);
    disk_mark_write(&spec->creator, mark);
    for (size_t i = 0; i < COUNT_OF(mark); i++)
        set_text(tags, mark[i].name, mark[i].value);
    set_text(tags, TAG_PV_NAME, p->pv_name);
    set_text(tags, TAG_PVC_NAME, p->pvc_name);
    set_text(tags, TAG_PVC_NAMESPACE, p->pvc_namespace);
    return tags;
}

static json_t *creation_json(const struct cloud_disk_spec *spec)
{
    const struct volume_parameters *p = spec->parameters;
    json_t *creation = json_pack("{s:s}", "createOption", spec->source_id ? "Copy" : "Empty");

    set_text(creation, "sourceResourceId", spec->source_id);

    if (p->sector_size)
        json_object_set_new(creation, "logicalSectorSize", json_integer(p->sector_size));
    if (p->performance_plus)
        json_object_set_new(creation, "performancePlus", json_true());
    return creation;
}

/* Nobody exports a disk over a network for whom its class does not ask, as with version 1 of
 * Microsoft's driver since 1.34. Azure Stack Hub has neither property. */
static void set_network_access(json_t *properties, const struct volume_parameters *p,
                               bool azure_stack)
{
    const char *policy = p->network_access, *access = p->public_access;

    if (!policy && !azure_stack)
        policy = "DenyAll";
    if (!access && policy && strcmp(policy, "AllowAll") != 0)
        access = "Disabled";
    set_text(properties, "networkAccessPolicy", policy);
    set_text(properties, "publicNetworkAccess", access);
    set_text(properties, "diskAccessId", p->disk_access);
}

static json_t *properties_json(const struct cloud_disk_spec *spec, bool azure_stack)
{
    const struct volume_parameters *p = spec->parameters;
    json_t *properties = json_pack("{s:o, s:I}", "creationData", creation_json(spec), "diskSizeGB",
                                   (json_int_t)spec->size_gib);

    if (p->max_shares > 1)
        json_object_set_new(properties, "maxShares", json_integer(p->max_shares));
    if (p->iops)
        json_object_set_new(properties, "diskIOPSReadWrite", json_integer(p->iops));
    if (p->mbps)
        json_object_set_new(properties, "diskMBpsReadWrite", json_integer(p->mbps));
    if (p->bursting)
        json_object_set_new(properties, "burstingEnabled", json_true());
    set_network_access(properties, p, azure_stack);
    if (p->encryption_set)
        json_object_set_new(
            properties, "encryption",
            json_pack("{s:s, s:s}", "diskEncryptionSetId", p->encryption_set, "type",
                      p->encryption_type ? p->encryption_type : "EncryptionAtRestWithCustomerKey"));
    return properties;
}

static json_t *disk_json(const struct arm_client *arm, const struct cloud_disk_spec *spec)
{
    const struct volume_parameters *p = spec->parameters;
    const struct azure_config *config = arm_client_config(arm);
    const char *zone = zone_number(spec->zone);
    json_t *disk =
        json_pack("{s:s, s:o, s:{s:s}, s:o}", "location",
                  p->location ? p->location : config->location, "tags", tags_json(spec), "sku",
                  "name", p->sku, "properties", properties_json(spec, config->azure_stack));

    if (zone)
        json_object_set_new(disk, "zones", json_pack("[s]", zone));
    if (config->extended_location)
        json_object_set_new(disk, "extendedLocation",
                            json_pack("{s:s, s:s}", "name", config->extended_location, "type",
                                      config->extended_location_type));
    return disk;
}

static const char *what_to_do(enum disk_origin origin)
{
    return origin == DISK_OF_OTHERS ? "use another name for the volume, or another resource group "
                                      "(parameter resourceGroup)"
                                    : "use another name for the volume, or delete the disk if it "
                                      "is no longer needed; to use the existing disk, create a "
                                      "PersistentVolume with the disk's id as volumeHandle";
}

static struct err *check_created(const Arm__Disk *disk, const struct cloud_disk_spec *spec)
{
    const struct disk_mark mark = mark_of(disk);

    const char *pv = cloud_disk_spec_pv(spec);

    if (disk_is_for_volume(&mark, &spec->creator, spec->name, pv))
        return NULL;
    if (disk_is_for_volume(&mark, &spec->creator, spec->name, NULL))
        return err_new(ERR_EXISTS,
                       "disk %s already exists, and was not created for PersistentVolume %s but "
                       "for %s: parameter diskName must give every claim another name, for "
                       "instance by the template ${pv.metadata.name}",
                       disk->id, pv, mark.pv ? mark.pv : "an unnamed one");
    CLEANUP(freep) char *creator = disk_origin_text(&mark, &spec->creator);
    return err_new(ERR_EXISTS, "disk %s already exists, and %s: %s", disk->id, creator,
                   what_to_do(disk_origin_of(&mark, &spec->creator)));
}

/* A disk that is there already: this volume's from an earlier call, or in the way. */
static struct err *check_same(const Arm__Disk *disk, const struct cloud_disk_spec *spec)
{
    const struct volume_parameters *p = spec->parameters;
    const char *zone = zone_number(spec->zone);
    const Arm__DiskProperties *properties = disk->properties;
    int max_shares = properties->has_max_shares ? properties->max_shares : 1;

    TRY(check_created(disk, spec));
    if (!resource_id_equal(source_of(disk), spec->source_id ? spec->source_id : ""))
        return err_new(ERR_EXISTS, "disk %s already exists, and is a copy of %s, not of %s",
                       disk->id, *source_of(disk) ? source_of(disk) : "nothing",
                       spec->source_id ? spec->source_id : "nothing");
    if (properties->disk_size_gb != spec->size_gib)
        return err_new(ERR_EXISTS, "disk %s already exists with %" PRId64 " GiB, not %" PRId64,
                       disk->id, properties->disk_size_gb, spec->size_gib);
    if (!disk->sku || !disk->sku->name || strcasecmp(disk->sku->name, p->sku) != 0)
        return err_new(ERR_EXISTS, "disk %s already exists and is not of kind %s", disk->id,
                       p->sku);
    if (max_shares != p->max_shares)
        return err_new(ERR_EXISTS, "disk %s already exists with maxShares %d, not %d", disk->id,
                       max_shares, p->max_shares);
    if ((zone != NULL) != (disk->n_zones > 0) || (zone && strcmp(zone, disk->zones[0]) != 0))
        return err_new(ERR_EXISTS, "disk %s already exists in another zone than %s", disk->id,
                       zone ? spec->zone : "none");
    return NULL;
}

struct disk_creation {
    struct arm_client *arm;
    const char *id;
    const struct cloud_disk_spec *spec;
    struct cloud_disk *ret;
};

static struct err *look(struct task *self, void *ctx, enum creation_state *ret)
{
    const struct disk_creation *c = ctx;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const Arm__Disk *disk;

    TRY(read_disk(self, c->arm, c->id, arena, &disk));
    TRY(check_same(disk, c->spec));
    *ret = creation_state_of(disk->properties->provisioning_state);
    if (*ret == CREATION_DONE)
        describe(disk, c->ret);
    return NULL;
}

static struct err *put(struct task *self, void *ctx)
{
    const struct disk_creation *c = ctx;
    CLEANUP(json_decrefp) json_t *body = disk_json(c->arm, c->spec);

    return arm_client_change(
        self, c->arm,
        &(struct arm_request){
            .kind = ARM_DISK_WRITE, .method = "PUT", .path = c->id, .body = body});
}

struct err *managed_disk_create(struct task *self, struct arm_client *arm,
                                const struct cloud_disk_spec *spec, struct cloud_disk *ret)
{
    CLEANUP(freep) char *id = managed_disk_id(arm, spec);
    struct disk_creation creation = {arm, id, spec, ret};

    return creation_carry_out(
        self,
        &(struct creation){.what = "disk", .id = id, .look = look, .put = put, .ctx = &creation});
}

/* ---- delete ---- */

/* What a disk says of its owner lags behind the VM's model: after a detach it is looked at again
 * for a while. */
static struct err *check_unattached(struct task *self, struct arm_client *arm, const char *id)
{
    for (int look = 1;; look++) {
        CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};

        TRY(managed_disk_get(self, arm, id, &disk));
        if (disk.n_instances == 0)
            return NULL;
        if (look == OWNER_LOOKS)
            return err_new(ERR_PRECONDITION, "disk %s is attached to %s", id, disk.instances[0]);
        TRY(task_sleep(self, OWNER_LOOK_MS));
    }
}

/* For an answer that does not say where the deletion can be followed. */
static struct err *check_gone(struct task *self, struct arm_client *arm, const char *id)
{
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
    struct err *err = managed_disk_get(self, arm, id, &disk);

    return err ? err_unless(err, ERR_NOT_FOUND)
               : err_new(ERR_BUSY, "disk %s is still being deleted", id);
}

struct err *managed_disk_delete(struct task *self, struct arm_client *arm, const char *id)
{
    CLEANUP(arm_operation_fini) struct arm_operation operation = {0};
    struct err *err = check_unattached(self, arm, id);

    if (err)
        return err_unless(err, ERR_NOT_FOUND);
    TRY(err_unless(arm_client_request(self, arm,
                                      &(struct arm_request){
                                          .kind = ARM_DISK_DELETE,
                                          .method = "DELETE",
                                          .path = id,
                                      },
                                      NULL, &operation),
                   ERR_NOT_FOUND));
    return operation.url ? arm_operation_wait(self, arm, &operation) : check_gone(self, arm, id);
}
