#include "provisioner-lib/audit/snapshot_scan.h"

#include <stdlib.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/audit/disk_scan.h"

void snapshot_scan_fini(struct snapshot_scan *scan)
{
    cloud_snapshots_fini(&scan->snapshots);
    for (size_t i = 0; i < scan->n_unlisted; i++) {
        free(scan->unlisted[i].id);
        free(scan->unlisted[i].reason);
    }
    free(scan->unlisted);
    *scan = (struct snapshot_scan){0};
}

/* ---- where ---- */

/* An id in each place, whether there is such a snapshot or not. */
struct places {
    struct cloud *cloud;
    char **ids;
    size_t n;
};

static void places_fini(struct places *places)
{
    for (size_t i = 0; i < places->n; i++)
        free(places->ids[i]);
    free(places->ids);
}

static void add_place(struct places *places, const char *id)
{
    for (size_t i = 0; i < places->n; i++)
        if (disk_is_beside(id, places->ids[i]))
            return;
    ARRAY_ADD(places->ids, places->n) = mem_strdup(id);
}

/* Where a snapshot of the disk is made by default. */
static void add_place_of_disk(struct places *places, const char *disk_id)
{
    static const struct snapshot_parameters plain;
    CLEANUP(freep) char *id = NULL;
    CLEANUP(err_freep)
    struct err *err = places->cloud->ops->snapshot_id(
        places->cloud,
        &(struct cloud_snapshot_spec){.name = "any", .disk_id = disk_id, .parameters = &plain},
        &id);

    if (!err)
        add_place(places, id);
}

static void visit_volume(void *ctx, struct kube_object *volume)
{
    const char *id = volume_disk_id(volume);

    if (id)
        add_place_of_disk(ctx, id);
}

static void visit_snapshot(void *ctx, struct kube_object *snapshot)
{
    const char *id = snapshot_handle(snapshot);

    if (id)
        add_place(ctx, id);
}

static struct err *find_places(struct task *self, const struct cluster_source *source,
                               struct places *ret)
{
    static const struct volume_parameters plain;
    CLEANUP(freep) char *disk = NULL;

    TRY(ret->cloud->ops->disk_id(
        ret->cloud, &(struct cloud_disk_spec){.name = "any", .parameters = &plain}, &disk));
    add_place_of_disk(ret, disk);
    TRY(source->ops->walk(self, source, VOLUMES_OF, visit_volume, ret));
    return source->ops->walk(self, source, SNAPSHOTS_OF, visit_snapshot, ret);
}

/* ---- what is there ---- */

/* A place that is gone has none. One that may not be listed keeps no other from being looked at. */
static struct err *list_place(struct task *self, struct cloud *cloud, const char *place,
                              struct snapshot_scan *ret)
{
    CLEANUP(err_freep)
    struct err *err = cloud->ops->snapshot_list(self, cloud, place, &ret->snapshots);

    if (err && err_kind(err) == ERR_DENIED)
        ARRAY_ADD(ret->unlisted, ret->n_unlisted) =
            (struct unlisted_snapshots){mem_strdup(place), mem_strdup(err_message(err))};
    else if (err && err_kind(err) != ERR_NOT_FOUND)
        return TAKE_PTR(err);
    return NULL;
}

static int by_id(const void *a, const void *b)
{
    const struct cloud_snapshot *one = a, *other = b;

    return strcasecmp(one->id, other->id);
}

struct err *scan_snapshots(struct task *self, struct cloud *cloud,
                           const struct cluster_source *source, struct snapshot_scan *ret)
{
    CLEANUP(places_fini) struct places places = {.cloud = cloud};

    TRY(find_places(self, source, &places));
    for (size_t i = 0; i < places.n; i++)
        TRY(list_place(self, cloud, places.ids[i], ret));
    if (ret->snapshots.n)
        qsort(ret->snapshots.items, ret->snapshots.n, sizeof *ret->snapshots.items, by_id);
    return NULL;
}

const struct cloud_snapshot *snapshot_scan_find(const struct snapshot_scan *scan, const char *id)
{
    const struct cloud_snapshot key = {.id = (char *)(uintptr_t)id};

    return scan->snapshots.n ? bsearch(&key, scan->snapshots.items, scan->snapshots.n,
                                       sizeof *scan->snapshots.items, by_id)
                             : NULL;
}

const char *snapshot_scan_unlisted(const struct snapshot_scan *scan, const char *id)
{
    for (size_t i = 0; i < scan->n_unlisted; i++)
        if (disk_is_beside(scan->unlisted[i].id, id))
            return scan->unlisted[i].reason;
    return NULL;
}
