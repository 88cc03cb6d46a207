#include "test/sim/snapshotter.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/rt/backoff.h"
#include "provisioner-lib/disk_sku.h"
#include "test/azsim/model/resource.h"
#include "test/azsim/model/snapshot.h"
#include "test/sim/csi_request.h"
#include "test/sim/world.h"

enum {
    CALL_TIMEOUT_MS = 60 * 1000,
    RETRY_LEAST_MS = 1000,
    RETRY_MOST_MS = 300 * 1000,
    LOOK_MS = 10 * 1000, /* at one that is not ready */
};

/* ---- one call ---- */

static bool is_slow(const struct volume_snapshot *snapshot)
{
    CLEANUP(freep) char *key = resource_key(snapshot->id);
    const struct snapshot *made = snapshot_find(snapshot->world->sim->azure, key);

    return made && made->slow;
}

static struct err *create_once(struct task *self, struct volume_snapshot *snapshot)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    ProtobufCMessage *response = NULL;

    TRY(csi_request_send(self, snapshot->world, "CreateSnapshot",
                         csi_request_create_snapshot(arena, snapshot), CALL_TIMEOUT_MS, &response));
    const Csi__V1__Snapshot *answer =
        ((Csi__V1__CreateSnapshotResponse *)(void *)response)->snapshot;
    if (!snapshot->id) {
        snapshot->id = mem_strdup(answer->snapshot_id);
        snapshot->taken_seconds = answer->creation_time->seconds;
        snapshot->gib = answer->size_bytes / GIB;
        snapshot->slow = is_slow(snapshot);
    }
    snapshot->phase = answer->ready_to_use ? SNAPSHOT_READY : SNAPSHOT_TAKEN;
    protobuf_c_message_free_unpacked(response, NULL);
    return NULL;
}

static struct err *delete_once(struct task *self, struct volume_snapshot *snapshot)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();

    snapshot->delete_asked = true;
    return csi_request_send(self, snapshot->world, "DeleteSnapshot",
                            csi_request_delete_snapshot(arena, snapshot), CALL_TIMEOUT_MS, NULL);
}

static struct err *failed(struct task *self, struct volume_snapshot *snapshot, struct err *err,
                          struct backoff *backoff)
{
    free(snapshot->error);
    snapshot->error = mem_strdup(err_message(err));
    err_free(err);
    return task_sleep(self, backoff_next(backoff, loop_random(loop_of(self))));
}

/* ---- from the VolumeSnapshot to its end ---- */

/* Until it is ready. One that is not wanted any more is given up when an answer says for certain
 * that there is none. */
static struct err *create(struct task *self, struct volume_snapshot *snapshot)
{
    struct backoff backoff = {.least_ms = RETRY_LEAST_MS, .most_ms = RETRY_MOST_MS};

    while (snapshot->phase != SNAPSHOT_READY) {
        struct err *err = create_once(self, snapshot);
        bool is_final = err && !err_is_transient(err) && err_kind(err) != ERR_CANCELED;

        snapshot->impossible = err && err_kind(err) == ERR_NOT_FOUND;
        if (is_final && (snapshot->delete_wanted || snapshot->impossible) && !snapshot->id) {
            err_free(err);
            return NULL;
        }
        if (err)
            TRY(failed(self, snapshot, err, &backoff));
        else if (snapshot->delete_wanted)
            return NULL;
        else if (snapshot->phase != SNAPSHOT_READY)
            TRY(task_sleep(self, LOOK_MS));
    }
    return NULL;
}

static struct err *live(struct task *self, struct volume_snapshot *snapshot)
{
    struct backoff backoff = {.least_ms = RETRY_LEAST_MS, .most_ms = RETRY_MOST_MS};
    struct err *err;

    TRY(create(self, snapshot));
    if (!snapshot->id) {
        snapshot->phase = SNAPSHOT_GONE;
        return NULL;
    }
    while (!snapshot->delete_wanted)
        TRY(wait_for_change(self, &snapshot->changed, TIMER_NEVER));
    while ((err = delete_once(self, snapshot)))
        TRY(failed(self, snapshot, err, &backoff));
    snapshot->phase = SNAPSHOT_GONE;
    sim_note(snapshot->world->sim, "%s is deleted", snapshot->name);
    return NULL;
}

static void run(struct task *self, void *arg)
{
    err_free(live(self, arg));
}

struct volume_snapshot *snapshotter_take(const struct volume *volume, const char *location)
{
    struct world *world = volume->world;
    struct volume_snapshot *snapshot = mem_alloc(sizeof *snapshot);
    char uid[UUID_SIZE];

    random_uuid(loop_random(world->sim->loop), uid);
    *snapshot = (struct volume_snapshot){
        .world = world,
        .name = mem_printf("snapshot-%s", uid),
        .source = mem_strdup(volume->handle),
        .block = volume->wish.block,
        .location = location,
    };
    waiters_init(&snapshot->changed);
    list_append(&world->snapshots, &snapshot->link);
    sim_note(world->sim, "%s of volume %s is wanted%s%s", snapshot->name, volume->pv,
             location ? " in " : "", location ? location : "");
    group_spawn(&world->sim->tasks, "snapshotter", run, snapshot);
    return snapshot;
}

void volume_snapshot_free(struct volume_snapshot *snapshot)
{
    free(snapshot->name);
    free(snapshot->source);
    free(snapshot->id);
    free(snapshot->error);
    free(snapshot);
}

void snapshotter_delete(struct volume_snapshot *snapshot)
{
    if (snapshot->delete_wanted)
        return;
    sim_note(snapshot->world->sim, "%s is not wanted any more", snapshot->name);
    snapshot->delete_wanted = true;
    waiters_wake(&snapshot->changed);
}

const struct snapshot *volume_snapshot_local(const struct volume_snapshot *snapshot)
{
    CLEANUP(freep) char *id = mem_printf("%s.local", snapshot->id ? snapshot->id : "");
    CLEANUP(freep) char *key = resource_key(id);

    return snapshot_find(snapshot->world->sim->azure, key);
}

bool volume_snapshot_is_settled(const struct volume_snapshot *snapshot)
{
    if (snapshot->phase == SNAPSHOT_GONE)
        return true;
    return snapshot->phase == SNAPSHOT_READY && !snapshot->delete_wanted &&
           !volume_snapshot_local(snapshot);
}
