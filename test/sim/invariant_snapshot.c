/* Invariants of snapshots: one that was answered is there, with the content of one moment, until it
 * is to be deleted; and nothing is left of one that was. */

#include <string.h>

#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "test/azsim/model/region.h"
#include "test/azsim/model/resource.h"
#include "test/azsim/model/snapshot.h"
#include "test/sim/coverage.h"
#include "test/sim/invariant_check.h"
#include "test/sim/snapshotter.h"

static const struct snapshot *in_azure(const struct sim *sim, const char *id)
{
    CLEANUP(freep) char *key = resource_key(id);

    return snapshot_find(sim->azure, key);
}

/* In the region of its disk, to be copied from there. */
static bool is_taken(const struct sim *sim, const char *id)
{
    CLEANUP(freep) char *local = mem_printf("%s.local", id);

    return in_azure(sim, local);
}

static const struct volume_snapshot *find(const struct sim *sim, const char *name)
{
    LIST_FOREACH(&sim->world->snapshots, link) {
        if (strcmp(SNAPSHOT_OF(link)->name, name) == 0)
            return SNAPSHOT_OF(link);
    }
    return NULL;
}

void check_snapshot_created(struct invariants *invariants, const ProtobufCMessage *request,
                            const ProtobufCMessage *response, const struct err *err)
{
    const Csi__V1__CreateSnapshotRequest *question = (const void *)request;
    struct sim *sim = invariants->sim;

    coverage_count("snapshot", question->n_parameters ? "created-elsewhere" : "created",
                   err ? err_kind_reason(err_kind(err)) : "OK");
    if (err)
        return;
    const Csi__V1__Snapshot *answer =
        ((const Csi__V1__CreateSnapshotResponse *)(const void *)response)->snapshot;
    const struct volume_snapshot *wanted = find(sim, question->name);
    const struct snapshot *there = in_azure(sim, answer->snapshot_id);
    bool is_to_be_copied = question->n_parameters && !answer->ready_to_use;

    if (!there && is_to_be_copied && is_taken(sim, answer->snapshot_id))
        return;
    if (!there)
        verdict_violated(sim, CALL_WAS_DONE, "%s was created and is not there", question->name);
    else if (answer->ready_to_use && !snapshot_is_usable(there))
        verdict_violated(sim, CALL_WAS_DONE, "%s is said to be ready, and is not", question->name);
    else if (wanted && wanted->id && wanted->taken_seconds != answer->creation_time->seconds)
        verdict_violated(sim, CALL_WAS_DONE, "%s has the content of another moment than before",
                         question->name);
    else if (wanted && wanted->id && strcmp(wanted->id, answer->snapshot_id) != 0)
        verdict_violated(sim, CALL_WAS_DONE, "%s is %s, and was %s before", question->name,
                         answer->snapshot_id, wanted->id);
    else if (wanted && !region_is_same(wanted->location ? wanted->location : sim->azure->location,
                                       snapshot_location(there)))
        verdict_violated(sim, CALL_WAS_DONE, "%s is in %s", question->name,
                         snapshot_location(there));
}

void check_snapshot_deleted(struct invariants *invariants, const ProtobufCMessage *request,
                            const struct err *err)
{
    const Csi__V1__DeleteSnapshotRequest *question = (const void *)request;

    coverage_count("snapshot", "deleted", err ? err_kind_reason(err_kind(err)) : "OK");
    if (!err && (in_azure(invariants->sim, question->snapshot_id) ||
                 is_taken(invariants->sim, question->snapshot_id)))
        verdict_violated(invariants->sim, CALL_WAS_DONE, "%s was deleted, and is there",
                         question->snapshot_id);
}

/* ---- at the end ---- */

static bool is_expected(const struct sim *sim, const char *name)
{
    const struct volume_snapshot *wanted = find(sim, name);

    return wanted && wanted->phase != SNAPSHOT_GONE;
}

void check_snapshots_at_end(struct sim *sim)
{
    LIST_FOREACH(&sim->world->snapshots, link) {
        const struct volume_snapshot *wanted = SNAPSHOT_OF(link);

        if (wanted->phase != SNAPSHOT_GONE && wanted->id && !in_azure(sim, wanted->id))
            verdict_violated(sim, SNAPSHOT_STAYS, "%s is not there any more", wanted->name);
    }
    HASH_FOREACH(sim->azure->snapshots, snapshot) {
        if (!is_expected(sim, snapshot->name))
            verdict_violated(sim, NOTHING_LEFT, "snapshot %s is there, and nobody wants it",
                             snapshot->name);
    }
    for (size_t i = 0; i < kube_server_count(sim->kube, &AZ_SNAPSHOTS); i++) {
        const json_t *object = kube_server_at(sim->kube, &AZ_SNAPSHOTS, i);
        const char *name = resource_text(object, "metadata.name", "");

        if (!is_expected(sim, name))
            verdict_violated(sim, NOTHING_LEFT, "AzSnapshot %s is there, and nobody wants it",
                             name);
    }
}
