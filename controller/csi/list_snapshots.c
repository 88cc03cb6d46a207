/* ListSnapshots and GetSnapshot.
 *
 * A list has the snapshots that are on record, from the cache, in pages in the order of their
 * names. One that is asked for by its id is looked up in the cloud if it is not on record:
 * csi-snapshotter asks so for a snapshot that somebody else has made and named in a
 * VolumeSnapshotContent.
 */

#include <string.h>
#include <strings.h>

#include "controller/csi/existing_snapshot.h"
#include "controller/csi/page_token.h"
#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/records/snapshot.h"

/* A page ends when it is this large, however many snapshots the caller would take; see
 * list_volumes.c. */
enum { PAGE_BYTES = 512 * 1024 };

static bool is_listed(const struct kube_object *object, const char *source)
{
    const Api__AzSnapshot *snapshot = as_snapshot(object);

    if (!snapshot_is_created(snapshot) || kube_is_deleting(object->metadata) || !snapshot->spec)
        return false;
    return !source[0] || (snapshot->spec->source_volume_id &&
                          strcasecmp(snapshot->spec->source_volume_id, source) == 0);
}

static const struct kube_object *next_listed(const struct store *store, const char *key,
                                             const char *source)
{
    const struct kube_object *object = store_after(store, key);

    while (object && !is_listed(object, source))
        object = store_after(store, object->key);
    return object;
}

static Csi__V1__ListSnapshotsResponse__Entry *entry_of(struct arena *arena,
                                                       Csi__V1__Snapshot *snapshot)
{
    Csi__V1__ListSnapshotsResponse__Entry *entry = arena_alloc(arena, sizeof *entry);

    csi__v1__list_snapshots_response__entry__init(entry);
    entry->snapshot = snapshot;
    return entry;
}

static void list_page(const struct controller *controller, struct arena *arena, const char *key,
                      const char *source, size_t most, Csi__V1__ListSnapshotsResponse *response)
{
    const struct kube_object *object = next_listed(controller->snapshots, key, source);
    const struct kube_object *last = NULL;
    size_t bytes = 0;

    response->entries = arena_alloc(arena, most * sizeof *response->entries);
    while (object && response->n_entries < most && bytes < PAGE_BYTES) {
        Csi__V1__Snapshot *snapshot = csi_snapshot_of(arena, as_snapshot(object));

        bytes += protobuf_c_message_get_packed_size(&snapshot->base);
        response->entries[response->n_entries++] = entry_of(arena, snapshot);
        last = object;
        object = next_listed(controller->snapshots, object->key, source);
    }
    if (object && last)
        response->next_token = page_token_after(arena, last);
}

static struct err *list_one(struct task *self, struct rpc_call *call,
                            const Csi__V1__ListSnapshotsRequest *request,
                            Csi__V1__ListSnapshotsResponse *response)
{
    Csi__V1__Snapshot *snapshot;

    TRY(csi_read_snapshot(self, call->ctx, call->arena, request->snapshot_id, &snapshot));
    if (!snapshot || (request->source_volume_id[0] &&
                      strcasecmp(snapshot->source_volume_id, request->source_volume_id) != 0))
        return NULL;
    response->entries = arena_alloc(call->arena, sizeof *response->entries);
    response->entries[response->n_entries++] = entry_of(call->arena, snapshot);
    return NULL;
}

struct err *csi_list_snapshots(struct task *self, struct rpc_call *call, const void *message,
                               void *ret)
{
    const struct controller *controller = call->ctx;
    const Csi__V1__ListSnapshotsRequest *request = message;
    size_t most = store_count(controller->snapshots);
    CLEANUP(freep) char *key = NULL;

    if (request->max_entries < 0)
        return err_new(ERR_INVALID, "max_entries is %d; it must not be negative",
                       request->max_entries);
    TRY(csi_check_snapshots(controller));
    TRY(page_token_read(controller, "ListSnapshots", request->starting_token, &key));
    if (request->snapshot_id[0])
        return list_one(self, call, request, ret);
    if (request->max_entries > 0 && (size_t)request->max_entries < most)
        most = (size_t)request->max_entries;
    list_page(controller, call->arena, key, request->source_volume_id, most, ret);
    return NULL;
}

struct err *csi_get_snapshot(struct task *self, struct rpc_call *call, const void *message,
                             void *ret)
{
    const Csi__V1__GetSnapshotRequest *request = message;
    Csi__V1__GetSnapshotResponse *response = ret;

    if (!request->snapshot_id[0])
        return err_new(ERR_INVALID, "snapshot_id is missing");
    TRY(csi_read_snapshot(self, call->ctx, call->arena, request->snapshot_id, &response->snapshot));
    return response->snapshot
               ? NULL
               : err_new(ERR_NOT_FOUND, "there is no snapshot %s", request->snapshot_id);
}
