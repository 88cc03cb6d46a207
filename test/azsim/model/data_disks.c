#include "test/azsim/model/data_disks.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/access.h"
#include "test/azsim/model/attachment.h"

/* Above it Azure caches nothing. */
enum { MAX_CACHED_GIB = 4095 };

void data_disks_add(struct data_disks *disks, const struct data_disk *item)
{
    ARRAY_ADD(disks->items, disks->n) = *item;
}

void data_disks_copy(struct data_disks *to, const struct data_disks *from)
{
    for (size_t i = 0; i < from->n; i++) {
        struct data_disk item = from->items[i];

        item.key = mem_strdup(item.key);
        item.entry = json_deep_copy(item.entry);
        data_disks_add(to, &item);
    }
}

static void data_disk_fini(struct data_disk *item)
{
    free(item->key);
    json_decref(item->entry);
}

void data_disks_remove(struct data_disks *disks, struct data_disk *item)
{
    size_t i = (size_t)(item - disks->items);

    data_disk_fini(item);
    memmove(item, item + 1, (disks->n - i - 1) * sizeof *item);
    disks->n--;
}

void data_disks_fini(struct data_disks *disks)
{
    for (size_t i = 0; i < disks->n; i++)
        data_disk_fini(&disks->items[i]);
    free(disks->items);
    *disks = (struct data_disks){0};
}

struct data_disk *data_disks_find(const struct data_disks *disks, const char *key)
{
    for (size_t i = 0; i < disks->n; i++)
        if (strcmp(disks->items[i].key, key) == 0)
            return &disks->items[i];
    return NULL;
}

static struct data_disk *find_at(const struct data_disks *disks, unsigned lun)
{
    for (size_t i = 0; i < disks->n; i++)
        if (disks->items[i].lun == lun)
            return &disks->items[i];
    return NULL;
}

struct disk *data_disk_disk(const struct model *model, const struct data_disk *item)
{
    struct disk *disk = disk_find(model, item->key);

    return disk && strcmp(disk->unique_id, item->unique_id) == 0 ? disk : NULL;
}

/* Whether another disk has the name of the one that was meant. */
static bool is_stale(const struct model *model, const struct data_disk *item)
{
    return disk_find(model, item->key) && !data_disk_disk(model, item);
}

/* ---- reading ---- */

static struct refusal *read_lun(const json_t *json, unsigned *ret)
{
    json_int_t lun = json_integer_value(json);

    if (!json_is_integer(json))
        return refuse(PARAMETER_MISSING("dataDisk.lun"));
    if (lun < 0 || lun > MAX_LUN)
        return refuse(PARAMETER_OUT_OF_RANGE("dataDisk.lun"), (long long)lun, 0LL,
                      (long long)MAX_LUN);
    *ret = (unsigned)lun;
    return NULL;
}

/* The disk that an id names, by key. */
static struct refusal *read_disk_id(const struct vm *vm, const char *id, const char *path,
                                    char **ret_key)
{
    const char *subscription = vm->group->subscription->id;
    struct resource_parts parts;

    if (!id)
        return refuse(PARAMETER_MISSING("dataDisk.managedDisk.id"));
    if (!resource_parts_read(&parts, id))
        return refuse(DISK_ID_MALFORMED, id, path);

    bool is_disk = strcasecmp(parts.type, "disks") == 0;
    struct refusal *refusal = NULL;
    if (!is_disk)
        refusal = refuse(DISK_ID_MALFORMED, id, path);
    else if (strcasecmp(parts.subscription, subscription) != 0)
        refusal = refuse(DISK_SUBSCRIPTION_DIFFERS, subscription, parts.subscription);
    resource_parts_fini(&parts);
    if (!refusal)
        *ret_key = resource_key(id);
    return refusal;
}

static const char *default_caching(const struct disk *disk)
{
    bool cached = disk->spec.sku->family == DISK_PREMIUM && disk->spec.max_shares == 1 &&
                  disk->spec.size_gib <= MAX_CACHED_GIB;

    return cached ? "ReadOnly" : "None";
}

/* A new item; `sent` holds what the client says of it, in the words of a VM's model. */
static struct refusal *add_new(const struct vm *vm, unsigned lun, const char *key,
                               const json_t *sent, struct data_disks *ret)
{
    struct disk *disk = disk_find(vm->model, key);
    const char *id = resource_text(sent, "managedDisk.id", "");

    if (!disk || !model_location_is(vm->model, disk_location(disk)))
        return refuse(DISK_NOT_FOUND, id);

    json_t *entry =
        json_pack("{s:i, s:s, s:s, s:s, s:b, s:s, s:b}", "lun", (int)lun, "name", disk->name,
                  "createOption", "Attach", "caching", default_caching(disk),
                  "writeAcceleratorEnabled", 0, "deleteOption", "Detach", "toBeDetached", 0);
    resource_merge(entry, sent);
    struct data_disk item = {.lun = lun, .key = mem_strdup(key), .entry = entry};
    snprintf(item.unique_id, sizeof item.unique_id, "%s", disk->unique_id);
    data_disks_add(ret, &item);
    return NULL;
}

static void mark_to_be_detached(struct data_disks *disks, struct data_disk *item,
                                const char *detach_option)
{
    disks->force |= detach_option && strcasecmp(detach_option, "ForceDetach") == 0;
    item->to_be_detached = true;
    json_object_set_new(item->entry, "toBeDetached", json_true());
    if (detach_option) /* it may be the entry's own, which this replaces */
        json_object_set_new(item->entry, "detachOption", json_string(detach_option));
}

static struct refusal *check_create_option(const json_t *sent)
{
    const char *option = resource_text(sent, "createOption", "Attach");

    if (strcasecmp(option, "Attach") == 0)
        return NULL;
    if (resource_get(sent, "managedDisk.id"))
        return refuse(CREATE_OPTION_CONFLICT, option);
    return refuse(PARAMETER_UNKNOWN("dataDisk.createOption"), option);
}

/* An entry for a disk that the VM's model has. */
static struct refusal *keep_listed(const struct vm *vm, const struct data_disk *present,
                                   unsigned lun, const json_t *sent, struct data_disks *ret)
{
    struct data_disk item = *present;

    if (lun != present->lun)
        return refuse(PROPERTY_CHANGE_NOT_ALLOWED("dataDisk.lun"), "dataDisk.lun");
    if (!data_disk_disk(vm->model, present) && !json_is_true(json_object_get(sent, "toBeDetached")))
        return refuse(DISK_NOT_FOUND, resource_text(present->entry, "managedDisk.id", ""));
    item.key = mem_strdup(present->key);
    item.entry = json_deep_copy(present->entry);
    resource_merge(item.entry, sent);
    item.to_be_detached = json_is_true(json_object_get(item.entry, "toBeDetached"));
    data_disks_add(ret, &item);
    if (item.to_be_detached)
        mark_to_be_detached(ret, &ret->items[ret->n - 1],
                            resource_text(item.entry, "detachOption", NULL));
    return NULL;
}

static struct refusal *read_listed(const struct vm *vm, const json_t *sent, struct data_disks *ret)
{
    const char *id = resource_text(sent, "managedDisk.id", NULL);
    CLEANUP(freep) char *key = NULL;
    unsigned lun = 0;

    REQUIRE(read_lun(json_object_get(sent, "lun"), &lun));
    REQUIRE(check_create_option(sent));
    const struct data_disk *present = id ? NULL : find_at(&vm->data_disks, lun);
    if (!present) {
        REQUIRE(read_disk_id(vm, id, "properties.storageProfile.dataDisks.managedDisk.id", &key));
        present = data_disks_find(&vm->data_disks, key);
    }
    if (present && !is_stale(vm->model, present))
        return keep_listed(vm, present, lun, sent, ret);
    if (json_is_true(json_object_get(sent, "toBeDetached")))
        return refuse(DETACH_UNATTACHED, id, vm->name);
    return add_new(vm, lun, key, sent, ret);
}

struct refusal *data_disks_from_list(const struct vm *vm, const json_t *list,
                                     struct data_disks *ret)
{
    size_t i;
    json_t *sent;

    if (!json_is_array(list))
        return refuse(NOT_A_LIST, "dataDisks");
    if (json_array_size(list) > MAX_LUN + 1)
        return refuse(TOO_MANY_DATA_DISKS, vm->size->max_data_disks);
    json_array_foreach(list, i, sent) {
        REQUIRE(read_listed(vm, sent, ret));
    }
    return NULL;
}

static struct refusal *detach_one(const struct vm *vm, const json_t *sent, struct data_disks *ret)
{
    const char *id = resource_text(sent, "diskId", NULL);
    CLEANUP(freep) char *key = NULL;

    REQUIRE(read_disk_id(vm, id, "dataDisksToDetach.diskId", &key));
    struct data_disk *item = data_disks_find(ret, key);
    if (!item)
        return refuse(DETACH_UNATTACHED, id, vm->name);
    mark_to_be_detached(ret, item, resource_text(sent, "detachOption", NULL));
    return NULL;
}

static unsigned lowest_free_lun(const struct vm *vm, const struct data_disks *disks)
{
    unsigned lun = 0;

    while (find_at(disks, lun) || attachment_at(vm, lun))
        lun++;
    return lun;
}

/* What attachDetachDataDisks calls diskId is managedDisk.id in a VM's model. */
static json_t *as_listed(const json_t *sent)
{
    json_t *listed = json_deep_copy(sent);
    json_t *disk = json_pack("{s:O}", "id", json_object_get(sent, "diskId"));

    if (json_object_get(sent, "diskEncryptionSet"))
        json_object_set(disk, "diskEncryptionSet", json_object_get(sent, "diskEncryptionSet"));
    json_object_del(listed, "diskEncryptionSet");
    json_object_del(listed, "diskId");
    json_object_set_new(listed, "managedDisk", disk);
    return listed;
}

static struct refusal *attach_one(const struct vm *vm, const json_t *sent, struct data_disks *ret)
{
    const char *id = resource_text(sent, "diskId", NULL);
    CLEANUP(freep) char *key = NULL;
    unsigned lun = lowest_free_lun(vm, ret);

    REQUIRE(read_disk_id(vm, id, "dataDisksToAttach.diskId", &key));
    if (resource_get(sent, "lun"))
        REQUIRE(read_lun(json_object_get(sent, "lun"), &lun));
    if (lun > MAX_LUN)
        return refuse(TOO_MANY_DATA_DISKS, vm->size->max_data_disks);

    struct data_disk *present = data_disks_find(ret, key);
    if (present && is_stale(vm->model, present)) {
        data_disks_remove(ret, present);
        present = NULL;
    }
    if (present && present->to_be_detached)
        return refuse(DISK_BEING_DETACHED, id, vm->name);
    if (present && resource_get(sent, "lun") && present->lun != lun)
        return refuse(DISK_LISTED_TWICE, resource_text(present->entry, "name", ""));
    if (present)
        return NULL;

    json_t *listed = as_listed(sent);
    struct refusal *refusal = add_new(vm, lun, key, listed, ret);
    json_decref(listed);
    return refusal;
}

struct refusal *data_disks_from_attach_detach(const struct vm *vm, const json_t *body,
                                              struct data_disks *ret)
{
    const json_t *attach = resource_get(body, "dataDisksToAttach");
    const json_t *detach = resource_get(body, "dataDisksToDetach");
    size_t i;
    json_t *sent;

    if ((attach && !json_is_array(attach)) || (detach && !json_is_array(detach)))
        return refuse(NOT_A_LIST, attach ? "dataDisksToAttach" : "dataDisksToDetach");
    if (json_array_size(attach) + json_array_size(detach) == 0)
        return refuse(PARAMETER_MISSING("dataDisksToAttach"));
    if (json_array_size(attach) > MAX_LUN + 1)
        return refuse(TOO_MANY_DATA_DISKS, vm->size->max_data_disks);
    data_disks_copy(ret, &vm->data_disks);
    json_array_foreach(detach, i, sent) {
        REQUIRE(detach_one(vm, sent, ret));
    }
    json_array_foreach(attach, i, sent) {
        REQUIRE(attach_one(vm, sent, ret));
    }
    return NULL;
}

/* ---- rules ---- */

static struct refusal *check_zone(const struct vm *vm, const struct disk *disk)
{
    const char *vm_zone = vm->spec.zone, *disk_zone = disk->spec.zone;

    if (disk->spec.sku->zone_redundant || strcmp(vm_zone, disk_zone) == 0)
        return NULL;
    return *disk_zone ? refuse(DISK_ZONE_DIFFERS, disk->id, vm_zone, disk_zone)
                      : refuse(DISK_NOT_IN_ZONE, disk->id, vm_zone);
}

static struct refusal *check_caching(const struct disk *disk, const struct data_disk *item)
{
    const char *caching = resource_text(item->entry, "caching", "None");

    if (strcasecmp(caching, "None") == 0)
        return NULL;
    if (strcasecmp(caching, "ReadOnly") != 0 && strcasecmp(caching, "ReadWrite") != 0)
        return refuse(PARAMETER_UNKNOWN("dataDisk.caching"), caching);
    if (disk_performance_is_settable(disk->spec.sku))
        return refuse(SKU_CACHING, disk->spec.sku->name, caching);
    if (disk->spec.max_shares > 1)
        return refuse(SHARED_DISK_CACHING, disk->name, (long long)disk->spec.max_shares);
    if (disk->spec.size_gib > MAX_CACHED_GIB)
        return refuse(LARGE_DISK_CACHING);
    return NULL;
}

/* A VM may say which encryption set a disk has, and has to be right. */
static struct refusal *check_encryption(const struct disk *disk, const struct data_disk *item)
{
    const char *said = resource_text(item->entry, "managedDisk.diskEncryptionSet.id", NULL);
    const char *own = resource_text(disk->body, "properties.encryption.diskEncryptionSetId", "");

    return said && strcasecmp(said, own) != 0 ? refuse(ENCRYPTION_SET_DIFFERS, said, disk->name)
                                              : NULL;
}

static struct refusal *check_owners(const struct vm *vm, const struct disk *disk)
{
    uint64_t since = loop_now(vm->model->loop) - disk->attaching_since;
    int64_t others = 0;

    LIST_FOREACH(&disk->attachments, link) {
        others++;
    }
    if (others >= disk->spec.max_shares)
        return refuse(DISK_OWNED, disk->id, ATTACHMENT_OF_DISK(disk->attachments.next)->vm->id);
    if (others > 0 && disk->attaching_vm && strcmp(disk->attaching_vm, vm->id) != 0 &&
        since < SHARED_ATTACH_WINDOW_MS) {
        struct refusal *refusal =
            refuse(DISK_ATTACHING_ELSEWHERE, disk->name, vm->id, disk->attaching_vm);

        refusal->target = mem_strdup(disk->id);
        return refusal;
    }
    return NULL;
}

struct refusal *data_disk_check_attach(const struct vm *vm, const struct data_disk *item)
{
    const struct disk *disk = data_disk_disk(vm->model, item);

    if (!disk)
        return refuse(DISK_NOT_FOUND, resource_text(item->entry, "managedDisk.id", item->key));
    if (disk->operation)
        return refuse(CONCURRENT_REQUEST);
    if (disk_is_accessed(disk))
        return refuse(ACCESS_IS_GRANTED, "disk", disk->name);
    REQUIRE(check_zone(vm, disk));
    if (!vm->size->premium && strcmp(disk->spec.sku->tier, "Standard") != 0)
        return refuse(PREMIUM_NOT_SUPPORTED, vm->size->name, disk->spec.sku->name, disk->name);
    if (disk->spec.sku->family == DISK_ULTRA && !vm_takes_ultra_disks(vm))
        return refuse(ULTRA_NOT_ENABLED);
    REQUIRE(check_encryption(disk, item));
    REQUIRE(check_caching(disk, item));

    const struct attachment *there = attachment_at(vm, item->lun);
    if (there)
        return refuse(LUN_TAKEN, there->disk->name, item->lun);
    return check_owners(vm, disk);
}

static struct refusal *check_unique(const struct data_disks *wanted, size_t i)
{
    const struct data_disk *item = &wanted->items[i];

    for (size_t j = 0; j < i; j++) {
        if (strcmp(wanted->items[j].key, item->key) == 0)
            return refuse(DISK_LISTED_TWICE, resource_text(item->entry, "name", ""));
        if (wanted->items[j].lun == item->lun)
            return refuse(LUN_LISTED_TWICE, item->lun);
    }
    return NULL;
}

static struct refusal *check_item(const struct vm *vm, const struct data_disk *item)
{
    const struct data_disk *present = data_disks_find(&vm->data_disks, item->key);
    const struct disk *disk = data_disk_disk(vm->model, item);

    if (item->to_be_detached)
        return NULL;
    if (present && strcmp(present->unique_id, item->unique_id) != 0)
        present = NULL;
    if (present && present->to_be_detached)
        return refuse(DISK_BEING_DETACHED, resource_text(item->entry, "managedDisk.id", item->key),
                      vm->name);
    if (present)
        return disk ? check_caching(disk, item) : NULL;
    const struct data_disk *there = find_at(&vm->data_disks, item->lun);
    if (there && strcmp(there->key, item->key) != 0)
        return refuse(PROPERTY_CHANGE_NOT_ALLOWED("dataDisk.managedDisk.id"),
                      "dataDisk.managedDisk.id");
    return data_disk_check_attach(vm, item);
}

struct refusal *data_disks_check(const struct vm *vm, const struct vm_size *size,
                                 const struct data_disks *wanted)
{
    size_t staying = 0;

    for (size_t i = 0; i < wanted->n; i++) {
        staying += !wanted->items[i].to_be_detached;
        REQUIRE(check_unique(wanted, i));
    }
    if (staying > size->max_data_disks)
        return refuse(TOO_MANY_DATA_DISKS, size->max_data_disks);
    for (size_t i = 0; i < wanted->n; i++)
        REQUIRE(check_item(vm, &wanted->items[i]));
    return NULL;
}
