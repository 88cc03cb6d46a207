#include "controller/csi/existing_snapshot.h"

#include <string.h>

#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/snapshot.h"

enum { US = 1000 * 1000 };

struct err *csi_check_snapshots(const struct controller *controller)
{
    if (store_is_synced(controller->snapshots))
        return NULL;
    return err_new(ERR_UNAVAILABLE,
                   "AzSnapshots have not been read yet. If this persists, the custom resource "
                   "definition azsnapshots.disk.csi.azure.com is missing: kubectl apply -f crds/");
}

/* By the name that a record made for it has. */
static struct err *read_named(struct task *self, struct controller *controller,
                              const char *snapshot_id)
{
    const char *slash = strrchr(snapshot_id, '/');
    CLEANUP(freep) char *name = mem_lower(slash ? slash + 1 : snapshot_id);
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    if (!*name)
        return NULL;
    return err_unless(cached_get(self, controller->kube, controller->snapshots,
                                 controller->settings.namespace_, name, &object),
                      ERR_NOT_FOUND);
}

struct err *csi_find_snapshot(struct task *self, struct controller *controller,
                              const char *snapshot_id, struct kube_object **ret)
{
    struct kube_object *object = snapshot_of_id(controller, snapshot_id);

    TRY(csi_check_snapshots(controller));
    if (!object) {
        TRY(read_named(self, controller, snapshot_id));
        object = snapshot_of_id(controller, snapshot_id);
    }
    *ret = object ? kube_object_ref(object) : NULL;
    return NULL;
}

static Csi__V1__Snapshot *describe(struct arena *arena, const char *id, const char *source,
                                   int64_t size_bytes, int64_t taken_us, bool ready)
{
    Csi__V1__Snapshot *answer = arena_alloc(arena, sizeof *answer);
    Google__Protobuf__Timestamp *time = arena_alloc(arena, sizeof *time);

    csi__v1__snapshot__init(answer);
    google__protobuf__timestamp__init(time);
    time->seconds = taken_us / US;
    time->nanos = (int32_t)(taken_us % US) * 1000;
    answer->snapshot_id = arena_strdup(arena, id);
    answer->source_volume_id = arena_strdup(arena, source);
    answer->size_bytes = size_bytes;
    answer->creation_time = time;
    answer->ready_to_use = ready;
    return answer;
}

Csi__V1__Snapshot *csi_snapshot_of(struct arena *arena, const Api__AzSnapshot *snapshot)
{
    const char *source = snapshot->spec ? snapshot->spec->source_volume_id : NULL;

    return describe(arena, snapshot->status->snapshot_id, source ? source : "",
                    snapshot->status->size_bytes, snapshot_taken_us(snapshot),
                    snapshot_is_ready(snapshot));
}

struct err *csi_read_snapshot(struct task *self, struct controller *controller, struct arena *arena,
                              const char *snapshot_id, Csi__V1__Snapshot **ret)
{
    struct cloud *cloud = controller->cloud;
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot seen = {0};

    *ret = NULL;
    TRY(csi_find_snapshot(self, controller, snapshot_id, &object));
    if (object && kube_is_deleting(object->metadata))
        return NULL;
    if (object && snapshot_is_created(as_snapshot(object))) {
        *ret = csi_snapshot_of(arena, as_snapshot(object));
        return NULL;
    }
    struct err *err = cloud->ops->snapshot_get(self, cloud, snapshot_id, &seen);
    if (err && (err_kind(err) == ERR_NOT_FOUND || err_kind(err) == ERR_INVALID)) {
        err_free(err);
        return NULL;
    }
    TRY(err);
    *ret = describe(arena, seen.id, seen.disk_id, seen.size_bytes, seen.taken_us, seen.ready);
    return NULL;
}
