/* AzSnapshots against VolumeSnapshotContents and the snapshots that the cloud has, and these
 * against both. */

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/audit/compare.h"
#include "provisioner-lib/records/names.h"

struct comparison {
    const struct snapshot_scan *scan; /* NULL: of contents */
    const struct snapshot_contents *contents;
    struct findings *ret;
};

/* ---- records ---- */

static void visit_for_content(void *ctx, struct kube_object *object)
{
    const struct comparison *comparison = ctx;
    const Api__AzSnapshot *snapshot = as_snapshot(object);

    if (!kube_is_deleting(object->metadata) && snapshot_is_created(snapshot) &&
        !snapshot_contents_have(comparison->contents, snapshot))
        findings_add(comparison->ret, SNAPSHOT_WITHOUT_CONTENT, &AZ_SNAPSHOTS, object, NULL,
                     "No VolumeSnapshotContent has the snapshotHandle %s",
                     snapshot_recorded_id(snapshot));
}

struct err *compare_contents(struct task *self, const struct cluster_source *source,
                             const struct snapshot_contents *contents, struct findings *ret)
{
    struct comparison comparison = {NULL, contents, ret};

    return contents->state == CONTENTS_READ
               ? source->ops->walk(self, source, SNAPSHOTS_OF, visit_for_content, &comparison)
               : NULL;
}

static bool is_told(const struct findings *findings, enum finding_kind kind, const char *subject)
{
    for (size_t i = 0; i < findings->n; i++)
        if (findings->items[i].kind == kind && strcmp(findings->items[i].subject, subject) == 0)
            return true;
    return false;
}

/* Once for each group: where no record is, it does not matter. */
static void tell_unlisted(struct findings *ret, const char *id, const char *reason)
{
    const char *end = strstr(id, "/providers/");
    CLEANUP(freep) char *group = mem_strndup(id, end ? (size_t)(end - id) : strlen(id));

    if (!is_told(ret, SNAPSHOTS_NOT_LISTED, group))
        findings_add_thing(ret, SNAPSHOTS_NOT_LISTED, group, "%s", reason);
}

/* A copy in another region has its id before it exists. */
static bool is_announced(const Api__AzSnapshot *snapshot)
{
    return snapshot_is_copy(snapshot) && !snapshot_copy_exists(snapshot);
}

static void visit_for_snapshot(void *ctx, struct kube_object *object)
{
    const struct comparison *comparison = ctx;
    const Api__AzSnapshot *snapshot = as_snapshot(object);

    if (!snapshot_is_created(snapshot) || kube_is_deleting(object->metadata) ||
        is_announced(snapshot))
        return;
    const char *id = snapshot_recorded_id(snapshot);
    const char *unlisted = snapshot_scan_unlisted(comparison->scan, id);
    if (unlisted)
        tell_unlisted(comparison->ret, id, unlisted);
    else if (!snapshot_scan_find(comparison->scan, id))
        findings_add(comparison->ret, RECORD_WITHOUT_SNAPSHOT, &AZ_SNAPSHOTS, object, NULL,
                     "Snapshot %s does not exist", id);
}

/* ---- snapshots of nobody ---- */

static char *name_of(const char *id)
{
    const char *slash = strrchr(id, '/');

    return mem_lower(slash ? slash + 1 : id);
}

/* The AzSnapshot of that name, whose snapshot is not on record yet. */
static bool is_being_made(const struct cluster_source *source, const char *id)
{
    CLEANUP(freep) char *name = name_of(id);
    const struct kube_object *object = source->ops->snapshot(source, name);

    return object && !snapshot_is_created(as_snapshot(object));
}

/* The one in the region of the disk, from which an AzSnapshot's is copied to another region. */
static bool is_local(const struct cluster_source *source, const char *id)
{
    CLEANUP(freep) char *local_name = name_of(id);
    CLEANUP(freep) char *name = snapshot_name_of_local(local_name);
    const struct kube_object *object = name ? source->ops->snapshot(source, name) : NULL;
    const char *local = object ? snapshot_local_id(as_snapshot(object)) : NULL;

    return local && strcasecmp(local, id) == 0;
}

static void tell_unknown(const struct cluster_source *source,
                         const struct snapshot_contents *contents,
                         const struct cloud_snapshot *snapshot, struct findings *ret)
{
    const struct disk_creator creator = {source->driver_name, source->cluster_id};
    enum disk_origin origin = disk_origin_of(&snapshot->mark, &creator);

    if ((origin != DISK_OWN && origin != DISK_OF_OLDER_DRIVER) ||
        source->ops->snapshot_of_id(source, snapshot->id) || is_being_made(source, snapshot->id) ||
        is_local(source, snapshot->id) || snapshot_contents_name(contents, snapshot->id))
        return;
    findings_add_thing(ret, SNAPSHOT_WITHOUT_RECORD, snapshot->id, "%lld GiB, of disk %s%s",
                       (long long)(snapshot->size_bytes >> 30),
                       *snapshot->disk_id ? snapshot->disk_id : "(unknown)",
                       origin == DISK_OWN
                           ? ""
                           : "; it may belong to another cluster, because the earlier version of "
                             "the driver that created it did not record the cluster");
}

/* Without knowing what VolumeSnapshotContents name, no snapshot is said to be nobody's. */
struct err *compare_snapshots(struct task *self, const struct cluster_source *source,
                              const struct snapshot_scan *scan,
                              const struct snapshot_contents *contents, struct findings *ret)
{
    struct comparison comparison = {scan, contents, ret};

    TRY(source->ops->walk(self, source, SNAPSHOTS_OF, visit_for_snapshot, &comparison));
    for (size_t i = 0; contents->state != CONTENTS_DENIED && i < scan->snapshots.n; i++) {
        tell_unknown(source, contents, &scan->snapshots.items[i], ret);
        TRY(source->ops->pause(self, i + 1));
    }
    return NULL;
}
