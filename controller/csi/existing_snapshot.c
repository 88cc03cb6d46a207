#include "controller/csi/existing_snapshot.h"

#include <string.h>
#include <strings.h>

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

/* The name that a record made for it has. */
static char *name_in(const char *snapshot_id)
{
    const char *slash = strrchr(snapshot_id, '/');

    return mem_lower(slash ? slash + 1 : snapshot_id);
}

static struct err *read_named(struct task *self, struct controller *controller,
                              const char *snapshot_id)
{
    CLEANUP(freep) char *name = name_in(snapshot_id);
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    if (!*name)
        return NULL;
    return err_unless(cached_get(self, controller->kube, controller->snapshots,
                                 controller->settings.namespace_, name, &object),
                      ERR_NOT_FOUND);
}

/* One that may be being created has no id on record yet. If its snapshot was taken for one without
 * a record, and deleted, it would be created once more. */
static struct kube_object *find_uncreated(const struct controller *controller,
                                          const char *snapshot_id)
{
    CLEANUP(freep) char *name = name_in(snapshot_id);
    CLEANUP(freep) char *key = kube_key(controller->settings.namespace_, name);
    CLEANUP(snapshot_parameters_fini) struct snapshot_parameters parameters = {0};
    CLEANUP(freep) char *id = NULL;
    struct kube_object *object = store_get(controller->snapshots, key);
    const Api__AzSnapshot *snapshot = object ? as_snapshot(object) : NULL;

    if (!snapshot || snapshot_recorded_id(snapshot) || !snapshot->spec ||
        !snapshot->spec->snapshot_name || !snapshot->spec->source_volume_id)
        return NULL;
    struct err *err = snapshot_parse_parameters(snapshot, &parameters);
    if (!err)
        err = controller->cloud->ops->snapshot_id(
            controller->cloud,
            &(struct cloud_snapshot_spec){.name = snapshot->spec->snapshot_name,
                                          .disk_id = snapshot->spec->source_volume_id,
                                          .parameters = &parameters},
            &id);
    err_free(err); /* it can have no snapshot */
    return id && strcasecmp(id, snapshot_id) == 0 ? object : NULL;
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
    if (!object)
        object = find_uncreated(controller, snapshot_id);
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

struct err *csi_locate_snapshot(struct task *self, struct controller *controller,
                                struct arena *arena, const char *snapshot_id,
                                Csi__V1__Snapshot **ret, const char **ret_region)
{
    struct cloud *cloud = controller->cloud;
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot seen = {0};

    *ret = NULL;
    *ret_region = "";
    TRY(csi_find_snapshot(self, controller, snapshot_id, &object));
    if (object && kube_is_deleting(object->metadata))
        return NULL;
    if (object && snapshot_is_created(as_snapshot(object))) {
        const char *region = as_snapshot(object)->status->location;

        *ret = csi_snapshot_of(arena, as_snapshot(object));
        *ret_region = arena_strdup(arena, region ? region : "");
        return NULL;
    }
    struct err *err = cloud->ops->snapshot_get(self, cloud, snapshot_id, &seen);
    if (err && (err_kind(err) == ERR_NOT_FOUND || err_kind(err) == ERR_INVALID)) {
        err_free(err);
        return NULL;
    }
    TRY(err);
    *ret = describe(arena, seen.id, seen.disk_id, seen.size_bytes, seen.taken_us, seen.ready);
    *ret_region = arena_strdup(arena, seen.region);
    return NULL;
}

struct err *csi_read_snapshot(struct task *self, struct controller *controller, struct arena *arena,
                              const char *snapshot_id, Csi__V1__Snapshot **ret)
{
    const char *region;

    return csi_locate_snapshot(self, controller, arena, snapshot_id, ret, &region);
}
