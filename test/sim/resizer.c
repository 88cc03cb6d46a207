#include "test/sim/resizer.h"

#include "lib/base/alloc.h"
#include "lib/rt/backoff.h"
#include "provisioner-lib/disk_sku.h"
#include "test/sim/csi_request.h"
#include "test/sim/world.h"

enum {
    CALL_TIMEOUT_MS = 10 * 1000,
    RETRY_LEAST_MS = 1000,
    RETRY_MOST_MS = 300 * 1000,
    SEEN_LEAST_MS = 5,
    SEEN_MOST_MS = 200,
};

static struct err *expand_once(struct task *self, struct volume *volume)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    ProtobufCMessage *response = NULL;

    TRY(csi_request_send(self, volume->world, "ControllerExpandVolume",
                         csi_request_expand(arena, volume, volume->wanted_gib * GIB),
                         CALL_TIMEOUT_MS, &response));
    const Csi__V1__ControllerExpandVolumeResponse *answer = (void *)response;
    int64_t gib = answer->capacity_bytes / GIB;
    protobuf_c_message_free_unpacked(response, NULL);
    sim_note(volume->world->sim, "volume %s has %lld GiB", volume->pv, (long long)gib);
    if (volume->phase == VOLUME_BOUND)
        volume_resize(volume, gib);
    return NULL;
}

static void note_error(struct volume *volume, struct err *err)
{
    free(volume->resize_error);
    volume->resize_error = err ? mem_strdup(err_message(err)) : NULL;
    err_free(err);
}

static struct err *live(struct task *self, struct volume *volume)
{
    struct loop *loop = loop_of(self);
    struct backoff backoff = {.least_ms = RETRY_LEAST_MS, .most_ms = RETRY_MOST_MS};

    while (volume->phase == VOLUME_BOUND) {
        if (volume->wanted_gib <= volume->gib) {
            TRY(wait_for_change(self, &volume->changed, TIMER_NEVER));
            TRY(task_sleep(self, world_draw(volume->world, SEEN_LEAST_MS, SEEN_MOST_MS)));
            continue;
        }
        struct err *err = expand_once(self, volume);
        if (err && task_is_cancelled(self))
            return err;
        bool failed = err != NULL;
        note_error(volume, err);
        if (failed)
            TRY(task_sleep(self, backoff_next(&backoff, loop_random(loop))));
        else
            backoff_reset(&backoff);
    }
    return NULL;
}

static void run(struct task *self, void *arg)
{
    err_free(live(self, arg));
}

void resizer_start(struct volume *volume)
{
    group_spawn(&volume->world->sim->tasks, "resizer", run, volume);
}
