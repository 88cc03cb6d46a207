#include "provisioner-lib/audit/cluster_view.h"

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/kube/pv_source.h"

/* ---- indexes ---- */

/* Ids of disks are long and differ at their ends only, so texts are compared where hashes are
 * equal. A set bit 5 makes letters of either case alike. */
uint64_t text_hash(const char *text)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15), low = UINT64_C(0x2020202020202020);
    size_t left = strlen(text);
    uint64_t hash = left;

    for (; left > 0; text += left < 8 ? left : 8, left -= left < 8 ? left : 8) {
        uint64_t word = 0;

        memcpy(&word, text, left < 8 ? left : 8);
        hash = (hash ^ (word | low)) * factor;
        hash ^= hash >> 29;
    }
    return hash;
}

static int compare(const void *a, const void *b)
{
    const struct object_entry *one = a, *other = b;

    if (one->hash != other->hash)
        return one->hash < other->hash ? -1 : 1;
    int order = strcasecmp(one->key, other->key);
    return order ? order : strcmp(one->object->key, other->object->key);
}

struct object_index object_index_of(const struct object_list *list, object_key_fn *key_of)
{
    struct object_index index = {.entries = mem_alloc((list->n + 1) * sizeof *index.entries)};

    for (size_t i = 0; i < list->n; i++) {
        const char *key = key_of(list->items[i]);

        if (key)
            index.entries[index.n++] = (struct object_entry){text_hash(key), key, list->items[i]};
    }
    qsort(index.entries, index.n, sizeof *index.entries, compare);
    index.objects = mem_alloc((index.n + 1) * sizeof(struct kube_object *));
    for (size_t i = 0; i < index.n; i++)
        index.objects[i] = index.entries[i].object;
    return index;
}

void object_index_fini(struct object_index *index)
{
    free(index->entries);
    free(index->objects);
    *index = (struct object_index){0};
}

static bool is_before(const struct object_entry *entry, uint64_t hash, const char *key)
{
    return entry->hash < hash || (entry->hash == hash && strcasecmp(entry->key, key) < 0);
}

struct object_list object_index_find(const struct object_index *index, const char *key)
{
    size_t low = 0, high = index->n, n = 0;

    if (!key)
        return (struct object_list){0};
    uint64_t hash = text_hash(key);
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (is_before(&index->entries[middle], hash, key))
            low = middle + 1;
        else
            high = middle;
    }
    while (low + n < index->n && index->entries[low + n].hash == hash &&
           strcasecmp(index->entries[low + n].key, key) == 0)
        n++;
    return (struct object_list){index->objects + low, n};
}

struct kube_object *object_index_first(const struct object_index *index, const char *key)
{
    struct object_list found = object_index_find(index, key);

    return found.n ? found.items[0] : NULL;
}

/* ---- keys ---- */

const char *key_name(const struct kube_object *object)
{
    return object->metadata->name;
}

const char *volume_disk_id(const struct kube_object *object)
{
    const Api__AzVolumeStatus *status = as_volume(object)->status;

    return status && status->detail ? status->detail->volume__id : NULL;
}

const char *snapshot_handle(const struct kube_object *object)
{
    return snapshot_recorded_id(as_snapshot(object));
}

static const Api__AzVolumeAttachmentSpec *spec_of(const struct kube_object *attachment)
{
    static const Api__AzVolumeAttachmentSpec none = API__AZ_VOLUME_ATTACHMENT_SPEC__INIT;
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(attachment)->spec;

    return spec ? spec : &none;
}

const char *attachment_volume(const struct kube_object *object)
{
    return spec_of(object)->volume_name;
}

const char *attachment_node(const struct kube_object *object)
{
    return spec_of(object)->node_name;
}

const char *attachment_disk_id(const struct kube_object *object)
{
    return spec_of(object)->volume__id;
}

const char *persistent_volume_handle(const struct kube_object *object)
{
    return pv_handle(KUBE_AS(Api__PersistentVolume, object)->spec);
}

const char *volume_attachment_source(const struct kube_object *object)
{
    const Api__VolumeAttachmentSpec *spec = KUBE_AS(Api__VolumeAttachment, object)->spec;

    return spec && spec->source ? spec->source->persistent_volume_name : NULL;
}

const char *volume_attachment_disk(const struct kube_object *object)
{
    const Api__VolumeAttachmentSpec *spec = KUBE_AS(Api__VolumeAttachment, object)->spec;

    return spec && spec->source ? pv_handle(spec->source->inline_volume_spec) : NULL;
}

/* ---- what a VolumeAttachment says ---- */

bool volume_attachment_is_attached(const struct kube_object *object)
{
    const Api__VolumeAttachmentStatus *status = KUBE_AS(Api__VolumeAttachment, object)->status;

    return status && status->attached;
}

bool volume_attachment_is_of(const struct kube_object *object, const char *driver_name)
{
    const Api__VolumeAttachmentSpec *spec = KUBE_AS(Api__VolumeAttachment, object)->spec;

    return spec && spec->attacher && strcmp(spec->attacher, driver_name) == 0;
}

const char *volume_attachment_node(const struct kube_object *object)
{
    const Api__VolumeAttachmentSpec *spec = KUBE_AS(Api__VolumeAttachment, object)->spec;

    return spec ? spec->node_name : NULL;
}
