#include "test/sim/provisioner.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/rt/backoff.h"
#include "provisioner-lib/disk_sku.h"
#include "test/sim/csi_request.h"
#include "test/sim/other_cluster.h"
#include "test/sim/workload.h"
#include "test/sim/world.h"

enum {
    CALL_TIMEOUT_MS = 30 * 1000,
    RETRY_LEAST_MS = 1000,
    RETRY_MOST_MS = 120 * 1000,
    MOST_REFUSALS = 5,
    ASKED_AGAIN = 10, /* in a hundred volumes */
    LOOK_MS = 5000,   /* at what keeps a volume from being deleted */
    BACK_LEAST_MS = 500,
    BACK_MOST_MS = 60 * 1000, /* after a restore */
};

/* Errors after which the driver may go on with what was asked; the others say that nothing is
 * there. By gRPC: CANCELLED, DEADLINE_EXCEEDED, ABORTED and UNAVAILABLE. */
static bool may_go_on(const struct err *err)
{
    static const int open[] = {1, 4, 10, 14};

    for (size_t i = 0; i < COUNT_OF(open); i++)
        if (err_kind_grpc_status(err_kind(err)) == open[i])
            return true;
    return false;
}

static struct err *failed(struct task *self, struct volume *volume, struct err *err,
                          struct backoff *backoff)
{
    struct loop *loop = volume->world->sim->loop;

    free(volume->error);
    volume->error = mem_strdup(err_message(err));
    err_free(err);
    return task_sleep(self, backoff_next(backoff, loop_random(loop)));
}

/* ---- the disk is made ---- */

static unsigned zones_of(const Csi__V1__Volume *answer)
{
    unsigned zones = 0;

    for (size_t i = 0; i < answer->n_accessible_topology; i++) {
        const Csi__V1__Topology *topology = answer->accessible_topology[i];

        for (size_t k = 0; k < topology->n_segments; k++) {
            const char *dash = strrchr(topology->segments[k]->value, '-');
            unsigned long zone = dash ? strtoul(dash + 1, NULL, 10) : 0;

            if (zone >= 1 && zone <= WORLD_ZONES)
                zones |= 1U << (zone - 1);
        }
    }
    return zones;
}

static void bind(struct volume *volume, ProtobufCMessage *message)
{
    const Csi__V1__Volume *answer = ((Csi__V1__CreateVolumeResponse *)(void *)message)->volume;
    json_t *context = json_object();

    for (size_t i = 0; i < answer->n_volume_context; i++)
        json_object_set_new(context, answer->volume_context[i]->key,
                            json_string(answer->volume_context[i]->value));
    volume->gib = answer->capacity_bytes / GIB;
    volume->wanted_gib = volume->gib > volume->wanted_gib ? volume->gib : volume->wanted_gib;
    volume_bind(volume, answer->volume_id, context, zones_of(answer));
    protobuf_c_message_free_unpacked(message, NULL);
}

/* The volume of another claim, or nothing. */
static struct copy_source another_source(const struct volume *volume)
{
    struct copy_source source = {0};

    if (copy_source_is_any(&volume->wish.source) && world_chance(volume->world, 50))
        return source;
    LIST_FOREACH(&volume->world->volumes, link) {
        if (VOLUME_OF(link)->phase == VOLUME_BOUND && VOLUME_OF(link) != volume->wish.source.volume)
            source.volume = VOLUME_OF(link);
    }
    return source;
}

/* One that is asked for again as a copy of something else is still what it was made as. */
static struct err *ask_for_another(struct task *self, const struct volume *volume)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct world *world = volume->world;
    struct volume other = *volume;

    if (!world->copies_drawn || !world_chance(world, ASKED_AGAIN))
        return NULL;
    other.wish.source = another_source(volume);
    if (!copy_source_is_any(&volume->wish.source) && !copy_source_is_any(&other.wish.source))
        return NULL;
    struct err *err = csi_request_send(self, world, "CreateVolume",
                                       csi_request_create(arena, &other), CALL_TIMEOUT_MS, NULL);
    if (err && task_is_cancelled(self))
        return err;
    err_free(err);
    return NULL;
}

static struct err *create_once(struct task *self, struct volume *volume)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    ProtobufCMessage *response = NULL;

    volume->asked = true;
    TRY(csi_request_send(self, volume->world, "CreateVolume", csi_request_create(arena, volume),
                         CALL_TIMEOUT_MS, &response));
    struct err *err = ask_for_another(self, volume);
    bind(volume, response);
    return err;
}

/* Where Azure copies it, its pod can run. What cannot be copied nobody waits for: people take
 * something else. */
static void on_refusal(struct volume *volume, const struct err *err)
{
    const struct copy_source *source = &volume->wish.source;
    int zone = copy_source_is_any(source) && volume->wish.zonal ? copy_source_zone(source) : -1;

    if (!copy_source_is_any(source))
        return;
    if (err_kind(err) == ERR_EXHAUSTED && zone >= 0 && zone != volume->chosen_zone) {
        volume->chosen_zone = zone;
        waiters_wake(&volume->world->pods_changed);
    } else if (err_kind(err) == ERR_NOT_FOUND || ++volume->refusals >= MOST_REFUSALS) {
        sim_note(volume->world->sim, "volume %s is given up: %s", volume->pv, err_message(err));
        workload_give_up(volume->world, volume);
    }
}

/* Until there is a disk, or its claim is gone and there is none. CANCELED at the end of the sim. */
static struct err *create(struct task *self, struct volume *volume)
{
    struct backoff backoff = {.least_ms = RETRY_LEAST_MS, .most_ms = RETRY_MOST_MS};
    bool maybe = false; /* there may be a disk */

    if (copy_source_is_any(&volume->wish.source))
        copy_source_may_go(volume->world, &volume->wish.source);
    for (;;) {
        while (volume->chosen_zone < 0 && !volume->delete_wanted)
            TRY(wait_for_change(self, &volume->changed, TIMER_NEVER));
        if (volume->delete_wanted && !maybe && !volume->disk) /* a restored one has it */
            return NULL;
        if (volume->wish.taken && !volume->asked)
            other_cluster_takes_name(volume);
        struct err *err = create_once(self, volume);
        if (!err)
            return NULL;
        maybe = may_go_on(err);
        if (!maybe)
            on_refusal(volume, err);
        TRY(failed(self, volume, err, &backoff));
    }
}

/* It starts after a restore, too, and knows nothing of its earlier calls. */
static struct err *create_again(struct task *self, struct volume *volume)
{
    TRY(task_sleep(self, world_draw(volume->world, BACK_LEAST_MS, BACK_MOST_MS)));
    return create(self, volume);
}

/* ---- and deleted ---- */

static bool is_attached(const struct volume *volume)
{
    LIST_FOREACH(&volume->world->publications, link) {
        if (PUBLICATION_OF(link)->volume == volume)
            return true;
    }
    return false;
}

static struct err *delete_once(struct task *self, struct volume *volume)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();

    volume->delete_asked = true;
    return csi_request_send(self, volume->world, "DeleteVolume", csi_request_delete(arena, volume),
                            CALL_TIMEOUT_MS, NULL);
}

struct err *provisioner_delete(struct task *self, struct volume *volume)
{
    struct backoff backoff = {.least_ms = RETRY_LEAST_MS, .most_ms = RETRY_MOST_MS};

    for (;;) {
        while (is_attached(volume))
            TRY(task_sleep(self, LOOK_MS));
        struct err *err = delete_once(self, volume);
        if (!err)
            return NULL;
        TRY(failed(self, volume, err, &backoff));
    }
}

/* ---- from the claim to its end ---- */

static struct err *live(struct task *self, struct volume *volume)
{
    TRY(create(self, volume));
    while (!volume->delete_wanted) {
        TRY(wait_for_change(self, &volume->changed, TIMER_NEVER));
        if (volume->phase == VOLUME_PENDING)
            TRY(create_again(self, volume));
    }
    while (volume_is_used(volume))
        TRY(task_sleep(self, LOOK_MS));
    volume_remove_claim(volume);
    if (volume->phase == VOLUME_PENDING) {
        volume->phase = VOLUME_GONE;
        return NULL;
    }
    if (volume->wish.retain)
        return NULL;
    TRY(provisioner_delete(self, volume));
    volume->phase = VOLUME_GONE;
    volume_remove_pv(volume);
    sim_note(volume->world->sim, "volume %s is deleted", volume->pv);
    return NULL;
}

static void run(struct task *self, void *arg)
{
    err_free(live(self, arg));
}

void provisioner_start(struct volume *volume)
{
    group_spawn(&volume->world->sim->tasks, "provisioner", run, volume);
}
