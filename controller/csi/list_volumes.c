/* ListVolumes: what is on record, from the cache, in pages in the order of the AzVolumes' names. It
 * asks nothing of Azure or of the API server, and every replica of the controller answers it.
 *
 * csi-attacher compares the answer with its VolumeAttachments every minute. Where they differ it
 * repeats its call: ControllerPublishVolume for one that stays, ControllerUnpublishVolume for one
 * that is being deleted, never another. So an answer from a cache that is behind, or while a
 * replica is promoted, costs a call that is answered from what is on record. An empty cache is
 * never answered from, since CSI is not served before it has been read (app_read_cluster()). */

#include <string.h>
#include <strings.h>

#include "controller/cache/published.h"
#include "controller/csi/page_token.h"
#include "controller/csi/service.h"
#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/pv_source.h"
#include "provisioner-lib/records/az_error.h"

/* A page ends when it is this large, however many volumes the caller would take: gRPC's clients
 * accept 4 MiB, and the loop does nothing else meanwhile. It has about 2,000 volumes, which took
 * the loop 8 ms. */
enum { PAGE_BYTES = 512 * 1024 };

/* ---- one volume ---- */

static bool is_listed(const struct kube_object *object)
{
    return volume_is_created(as_volume(object)) && !kube_is_deleting(object->metadata);
}

/* Of a VolumeAttachment for a pod that names the disk without a claim; NULL if there is none. */
static const char *inline_handle(const struct controller *controller,
                                 const struct kube_object *object, const char *disk)
{
    size_t n;
    CLEANUP(freep)
    struct kube_object **attachments =
        volume_attachments_of(controller, object->metadata->name, &n);

    for (size_t i = 0; i < n; i++) {
        const Api__VolumeAttachmentSource *source =
            as_volume_attachment(attachments[i])->spec->source;
        const char *handle = pv_handle(source->inline_volume_spec);

        if (handle && strcasecmp(handle, disk) == 0)
            return handle;
    }
    return NULL;
}

/* As Kubernetes spells it: for csi-attacher a disk with other capitals is another one. */
static const char *handle_of(const struct controller *controller, const struct kube_object *object)
{
    const char *disk = as_volume(object)->status->detail->volume__id;
    const struct kube_object *pv = kubernetes_pv(controller, object->metadata->name);
    const char *handle = pv ? pv_handle(KUBE_AS(Api__PersistentVolume, pv)->spec)
                            : inline_handle(controller, object, disk);

    return handle ? handle : disk;
}

/* "" if it makes no sense. */
static const char *node_of(const Api__AzVolumeAttachment *attachment)
{
    return attachment->spec && attachment->spec->node_name ? attachment->spec->node_name : "";
}

/* Abnormal while a node that it is published to cannot get it. What passes by itself is no
 * condition. */
static Csi__V1__VolumeCondition *condition_of(struct arena *arena,
                                              struct kube_object *const *attachments, size_t n)
{
    Csi__V1__VolumeCondition *condition = arena_alloc(arena, sizeof *condition);

    csi__v1__volume_condition__init(condition);
    condition->message = arena_strdup(arena, "no failure is on record");
    for (size_t i = 0; i < n; i++) {
        const Api__AzVolumeAttachment *attachment = as_attachment(attachments[i]);

        if (!attachment_wants(attachment, ROLE_PRIMARY) ||
            strcmp(attachment_state(attachment), STATE_ATTACHMENT_FAILED) != 0)
            continue;
        CLEANUP(err_freep) struct err *why = az_error_take(attachment->status->error);
        condition->abnormal = true;
        condition->message =
            arena_printf(arena, "attaching the disk to node %s failed: %s", node_of(attachment),
                         why ? err_message(why) : "no reason given");
    }
    return condition;
}

static Csi__V1__ListVolumesResponse__VolumeStatus *status_of(const struct controller *controller,
                                                             struct arena *arena,
                                                             const struct kube_object *object)
{
    Csi__V1__ListVolumesResponse__VolumeStatus *status = arena_alloc(arena, sizeof *status);
    size_t n;
    struct kube_object *const *attachments =
        attachments_of_volume(controller, object->metadata->name, &n);

    csi__v1__list_volumes_response__volume_status__init(status);
    status->published_node_ids = arena_alloc(arena, n * sizeof *status->published_node_ids);
    for (size_t i = 0; i < n; i++)
        if (*node_of(as_attachment(attachments[i])) && csi_is_published(controller, attachments[i]))
            status->published_node_ids[status->n_published_node_ids++] =
                arena_strdup(arena, node_of(as_attachment(attachments[i])));
    status->volume_condition = condition_of(arena, attachments, n);
    return status;
}

/* Without the volume's context and topology, which are many times as long and which nobody needs
 * who lists volumes. */
static Csi__V1__ListVolumesResponse__Entry *
entry_of(const struct controller *controller, struct arena *arena, const struct kube_object *object)
{
    Csi__V1__ListVolumesResponse__Entry *entry = arena_alloc(arena, sizeof *entry);
    Csi__V1__Volume *volume = arena_alloc(arena, sizeof *volume);

    csi__v1__volume__init(volume);
    volume->volume_id = arena_strdup(arena, handle_of(controller, object));
    volume->capacity_bytes = as_volume(object)->status->detail->capacity__bytes;
    csi__v1__list_volumes_response__entry__init(entry);
    entry->volume = volume;
    entry->status = status_of(controller, arena, object);
    return entry;
}

/* ---- pages ---- */

static const struct kube_object *next_listed(const struct store *store, const char *key)
{
    const struct kube_object *object = store_after(store, key);

    while (object && !is_listed(object))
        object = store_after(store, object->key);
    return object;
}

static void list_page(const struct controller *controller, struct arena *arena, const char *key,
                      size_t most, Csi__V1__ListVolumesResponse *response)
{
    const struct kube_object *object = next_listed(controller->volumes, key), *last = NULL;
    size_t bytes = 0;

    response->entries = arena_alloc(arena, most * sizeof *response->entries);
    while (object && response->n_entries < most && bytes < PAGE_BYTES) {
        Csi__V1__ListVolumesResponse__Entry *entry = entry_of(controller, arena, object);

        bytes += protobuf_c_message_get_packed_size(&entry->base);
        response->entries[response->n_entries++] = entry;
        last = object;
        object = next_listed(controller->volumes, object->key);
    }
    if (object && last)
        response->next_token = page_token_after(arena, last);
}

struct err *csi_list_volumes(struct task *self, struct rpc_call *call, const void *message,
                             void *ret)
{
    const struct controller *controller = call->ctx;
    const Csi__V1__ListVolumesRequest *request = message;
    size_t most = store_count(controller->volumes);
    CLEANUP(freep) char *key = NULL;

    (void)self;
    if (request->max_entries < 0)
        return err_new(ERR_INVALID, "max_entries is %d; it must not be negative",
                       request->max_entries);
    TRY(page_token_read(controller, "ListVolumes", request->starting_token, &key));
    if (request->max_entries > 0 && (size_t)request->max_entries < most)
        most = (size_t)request->max_entries;
    list_page(controller, call->arena, key, most, ret);
    return NULL;
}
