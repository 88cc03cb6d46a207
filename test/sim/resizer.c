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

static bool is_to_be_expanded(const struct volume *volume)
{
    return volume->wanted_gib > volume->gib;
}

static struct err *modify_once(struct task *self, struct volume *volume)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const char *sku = volume->wanted_sku;
    ProtobufCMessage *response = NULL;

    TRY(csi_request_send(self, volume->world, "ControllerModifyVolume",
                         csi_request_modify(arena, volume, sku), CALL_TIMEOUT_MS, &response));
    protobuf_c_message_free_unpacked(response, NULL);
    sim_note(volume->world->sim, "volume %s is on a %s disk", volume->pv, sku);
    volume->given_sku = sku;
    return NULL;
}

static bool is_to_be_modified(const struct volume *volume)
{
    return volume->wanted_sku != volume->given_sku;
}

static void note_error(char **error, struct err *err)
{
    free(*error);
    *error = err ? mem_strdup(err_message(err)) : NULL;
    err_free(err);
}

struct resizing {
    bool (*is_needed)(const struct volume *volume);
    struct err *(*once)(struct task *self, struct volume *volume);
};

static const struct resizing expansion = {is_to_be_expanded, expand_once};
static const struct resizing modification = {is_to_be_modified, modify_once};

static struct err *live(struct task *self, struct volume *volume, const struct resizing *resizing,
                        char **error)
{
    struct loop *loop = loop_of(self);
    struct backoff backoff = {.least_ms = RETRY_LEAST_MS, .most_ms = RETRY_MOST_MS};

    while (volume->phase == VOLUME_BOUND) {
        if (!resizing->is_needed(volume)) {
            TRY(wait_for_change(self, &volume->changed, TIMER_NEVER));
            TRY(task_sleep(self, world_draw(volume->world, SEEN_LEAST_MS, SEEN_MOST_MS)));
            continue;
        }
        struct err *err = resizing->once(self, volume);
        if (err && task_is_cancelled(self))
            return err;
        bool failed = err != NULL;
        note_error(error, err);
        if (failed)
            TRY(task_sleep(self, backoff_next(&backoff, loop_random(loop))));
        else
            backoff_reset(&backoff);
    }
    return NULL;
}

static void expand(struct task *self, void *arg)
{
    struct volume *volume = arg;

    err_free(live(self, volume, &expansion, &volume->resize_error));
}

static void modify(struct task *self, void *arg)
{
    struct volume *volume = arg;

    err_free(live(self, volume, &modification, &volume->modify_error));
}

void resizer_start(struct volume *volume)
{
    group_spawn(&volume->world->sim->tasks, "resizer", expand, volume);
    group_spawn(&volume->world->sim->tasks, "resizer modify", modify, volume);
}
