#include "provisioner-lib/audit/cluster_view.h"

#include <string.h>
#include <strings.h>

#include "lib/api/csi.pb-c.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/kube/pv_source.h"
#include "provisioner-lib/parameters.h"

#define OUT_OF_SERVICE "node.kubernetes.io/out-of-service"

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
    const Api__AzVolumeStatus *status = KUBE_AS(Api__AzVolume, object)->status;

    return status && status->detail ? status->detail->volume__id : NULL;
}

static const Api__AzVolumeAttachmentSpec *spec_of(const struct kube_object *attachment)
{
    static const Api__AzVolumeAttachmentSpec none = API__AZ_VOLUME_ATTACHMENT_SPEC__INIT;
    const Api__AzVolumeAttachmentSpec *spec = KUBE_AS(Api__AzVolumeAttachment, attachment)->spec;

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

/* ---- what objects say ---- */

bool object_is_deleting(const struct kube_object *object)
{
    return object->metadata->deletion_timestamp != NULL;
}

static const char *volume_note_of(const struct kube_object *volume, const char *name)
{
    const Api__AzVolumeStatus *status = KUBE_AS(Api__AzVolume, volume)->status;

    return status ? KUBE_MAP_GET(status->annotation, status->n_annotation, name) : NULL;
}

unsigned volume_shares(const struct kube_object *volume)
{
    const Api__AzVolumeSpec *spec = KUBE_AS(Api__AzVolume, volume)->spec;

    if (!spec)
        return 1;
    CLEANUP(freep)
    struct parameter *list = PARAMETER_LIST(spec->parameters, spec->n_parameters);
    const char *shares = parameter_find(list, spec->n_parameters, "maxShares");
    if (!shares || !*shares)
        shares = volume_note_of(volume, ANNOTATION_DISK_MAX_SHARES);
    unsigned long number = shares ? strtoul(shares, NULL, 10) : 1;

    return number >= 1 && number <= MAX_SHARES_LIMIT ? (unsigned)number : 1;
}

#define MODE(name) CSI__V1__VOLUME_CAPABILITY__ACCESS_MODE__MODE__##name

bool volume_takes_many_writers(const struct kube_object *volume)
{
    const Api__AzVolumeSpec *spec = KUBE_AS(Api__AzVolume, volume)->spec;

    for (size_t i = 0; spec && i < spec->n_volume_capability; i++) {
        int mode = spec->volume_capability[i]->access__mode;

        if (mode == MODE(MULTI_NODE_READER_ONLY) || mode == MODE(MULTI_NODE_SINGLE_WRITER) ||
            mode == MODE(MULTI_NODE_MULTI_WRITER))
            return true;
    }
    return false;
}

bool attachment_wants(const struct kube_object *attachment, const char *role)
{
    const char *wanted = spec_of(attachment)->role;

    return wanted && strcmp(wanted, role) == 0;
}

static const Api__AzVolumeAttachmentDetail *detail_of(const struct kube_object *attachment)
{
    const Api__AzVolumeAttachmentStatus *status =
        KUBE_AS(Api__AzVolumeAttachment, attachment)->status;

    return status ? status->detail : NULL;
}

bool attachment_is(const struct kube_object *attachment, const char *role)
{
    const Api__AzVolumeAttachmentDetail *detail = detail_of(attachment);

    return detail && detail->role && strcmp(detail->role, role) == 0;
}

const char *attachment_state(const struct kube_object *attachment)
{
    const Api__AzVolumeAttachmentStatus *status =
        KUBE_AS(Api__AzVolumeAttachment, attachment)->status;

    return status && status->state ? status->state : "";
}

int attachment_lun(const struct kube_object *attachment)
{
    const Api__AzVolumeAttachmentDetail *detail = detail_of(attachment);
    const char *lun =
        detail ? KUBE_MAP_GET(detail->publish__context, detail->n_publish__context, CONTEXT_LUN)
               : NULL;

    return lun ? (int)strtol(lun, NULL, 10) : LUN_UNKNOWN;
}

const char *attachment_vm(const struct kube_object *attachment)
{
    const Api__AzVolumeAttachmentStatus *status =
        KUBE_AS(Api__AzVolumeAttachment, attachment)->status;

    return status ? KUBE_MAP_GET(status->annotation, status->n_annotation, ANNOTATION_VM) : NULL;
}

bool volume_attachment_is_attached(const struct kube_object *object)
{
    const Api__VolumeAttachmentStatus *status = KUBE_AS(Api__VolumeAttachment, object)->status;

    return status && status->attached;
}

const char *volume_attachment_node(const struct kube_object *object)
{
    const Api__VolumeAttachmentSpec *spec = KUBE_AS(Api__VolumeAttachment, object)->spec;

    return spec ? spec->node_name : NULL;
}

const char *node_volume_in_use(const struct kube_object *node, const char *driver_name, size_t i)
{
    static const char prefix[] = "kubernetes.io/csi/";
    const char *name = KUBE_AS(Api__Node, node)->status->volumes_in_use[i];
    size_t length = strlen(driver_name);

    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return NULL;
    name += sizeof prefix - 1;
    return strncmp(name, driver_name, length) == 0 && name[length] == '^' ? name + length + 1
                                                                          : NULL;
}

size_t node_count_in_use(const struct kube_object *node)
{
    const Api__NodeStatus *status = KUBE_AS(Api__Node, node)->status;

    return status ? status->n_volumes_in_use : 0;
}

bool node_uses_volume(const struct kube_object *node, const char *driver_name, const char *handle)
{
    for (size_t i = 0; i < node_count_in_use(node); i++) {
        const char *used = node_volume_in_use(node, driver_name, i);

        if (used && strcasecmp(used, handle) == 0)
            return true;
    }
    return false;
}

bool node_is_out_of_service(const Api__Node *node)
{
    for (size_t i = 0; node->spec && i < node->spec->n_taints; i++)
        if (node->spec->taints[i]->key && strcmp(node->spec->taints[i]->key, OUT_OF_SERVICE) == 0)
            return true;
    return false;
}
