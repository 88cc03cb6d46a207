#include "test/sim/attacher.h"

#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/rt/backoff.h"
#include "test/sim/coverage.h"
#include "test/sim/csi_request.h"
#include "test/sim/invariant.h"
#include "test/sim/kube/kinds.h"
#include "test/sim/world.h"

#define FINALIZER "external-attacher/disk-csi-azure-com"

enum {
    CALL_TIMEOUT_MS = 15 * 1000,
    RETRY_LEAST_MS = 1000,
    RETRY_MOST_MS = 120 * 1000,
    SEEN_LEAST_MS = 5,
    SEEN_MOST_MS = 200,
};

/* ---- the object ---- */

static void write(struct publication *publication, const char *subresource, json_t *patch)
{
    world_patch(publication->volume->world, &VOLUME_ATTACHMENTS, NULL, publication->name,
                subresource, patch);
}

static void write_error(struct publication *publication, const char *member, struct err *err)
{
    char now[TIMESTAMP_SIZE];

    free(publication->error);
    publication->error = mem_strdup(err_message(err));
    err_free(err);
    timestamp_format(loop_wall_us(publication->volume->world->sim->loop), now);
    write(publication, "status",
          json_pack("{s:{s:{s:s, s:s}}}", "status", member, "time", now, "message",
                    publication->error));
}

static void write_attached(struct publication *publication, ProtobufCMessage *message)
{
    const Csi__V1__ControllerPublishVolumeResponse *response = (void *)message;
    json_t *metadata = json_object();

    for (size_t i = 0; i < response->n_publish_context; i++)
        json_object_set_new(metadata, response->publish_context[i]->key,
                            json_string(response->publish_context[i]->value));
    protobuf_c_message_free_unpacked(message, NULL);
    free(TAKE_PTR(publication->error));
    publication->attached = true;
    write(publication, "status",
          json_pack("{s:{s:b, s:o, s:n}}", "status", "attached", 1, "attachmentMetadata", metadata,
                    "attachError"));
    waiters_wake(&publication->machine->changed);
    attach_detach_poke(publication->volume->world);
}

/* ---- calls ---- */

static struct err *publish_once(struct task *self, struct publication *publication)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    ProtobufCMessage *response = NULL;

    publication->tried = true;
    TRY(csi_request_send(self, publication->volume->world, "ControllerPublishVolume",
                         csi_request_publish(arena, publication), CALL_TIMEOUT_MS, &response));
    write_attached(publication, response);
    return NULL;
}

static struct err *unpublish_once(struct task *self, struct publication *publication)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();

    publication->unpublishing = true;
    return csi_request_send(self, publication->volume->world, "ControllerUnpublishVolume",
                            csi_request_unpublish(arena, publication), CALL_TIMEOUT_MS, NULL);
}

/* Until the pause is over, or the VolumeAttachment is deleted if `until_deleted`. */
static struct err *pause(struct task *self, struct publication *publication,
                         struct backoff *backoff, bool until_deleted)
{
    struct loop *loop = loop_of(self);
    uint64_t until = loop_now(loop) + backoff_next(backoff, loop_random(loop));

    while (!(until_deleted && publication->deleting)) {
        struct err *err = wait_for_change(self, &publication->changed, until);

        if (err && err_kind(err) == ERR_TIMEOUT) {
            err_free(err);
            return NULL;
        }
        TRY(err);
    }
    return NULL;
}

static struct err *publish(struct task *self, struct publication *publication)
{
    struct backoff backoff = {.least_ms = RETRY_LEAST_MS, .most_ms = RETRY_MOST_MS};

    while (!publication->deleting && !publication->attached) {
        struct err *err = publish_once(self, publication);

        if (!err)
            return NULL;
        if (task_is_cancelled(self))
            return err;
        write_error(publication, "attachError", err);
        TRY(pause(self, publication, &backoff, true));
    }
    return NULL;
}

static struct err *unpublish(struct task *self, struct publication *publication)
{
    struct backoff backoff = {.least_ms = RETRY_LEAST_MS, .most_ms = RETRY_MOST_MS};

    for (;;) {
        struct err *err = unpublish_once(self, publication);

        if (!err)
            return NULL;
        if (task_is_cancelled(self))
            return err;
        write_error(publication, "detachError", err);
        TRY(pause(self, publication, &backoff, false));
    }
}

/* ---- the worker ---- */

/* Until it is deleted. One that is to be published again may be deleted by then, of which the
 * attacher has not heard. */
static struct err *keep(struct task *self, struct publication *publication)
{
    while (!publication->deleting || publication->repeat) {
        if (!publication->repeat) {
            TRY(wait_for_change(self, &publication->changed, TIMER_NEVER));
            continue;
        }
        publication->repeat = false;
        struct err *err = publish_once(self, publication);
        if (err && task_is_cancelled(self))
            return err;
        if (err)
            write_error(publication, "attachError", err);
    }
    return NULL;
}

/* Then nobody calls ControllerUnpublishVolume. What a machine may still have mounted is left alone:
 * no driver could help that. */
static bool is_removed_by_hand(struct publication *publication)
{
    if (!publication->volume->world->finalizers_taken || publication->forced)
        return false;
    if (publication->volume->disk)
        invariants_unpublished_by_hand(publication->volume->world->sim, publication->volume->disk,
                                       publication->machine->name);
    coverage_count("VolumeAttachment", "removed by hand",
                   publication->attached ? "attached" : "not attached");
    return true;
}

static struct err *live(struct task *self, struct publication *publication)
{
    struct world *world = publication->volume->world;

    TRY(task_sleep(self, world_draw(world, SEEN_LEAST_MS, SEEN_MOST_MS)));
    if (publication->deleting)
        return NULL; /* it had no finalizer yet: gone */
    write(publication, NULL, json_pack("{s:{s:[s]}}", "metadata", "finalizers", FINALIZER));
    publication->held = true;
    TRY(publish(self, publication));
    TRY(keep(self, publication));
    TRY(task_sleep(self, world_draw(world, SEEN_LEAST_MS, SEEN_MOST_MS)));
    if (!is_removed_by_hand(publication)) {
        TRY(unpublish(self, publication));
        write(publication, "status", json_pack("{s:{s:b}}", "status", "attached", 0));
    }
    write(publication, NULL, json_pack("{s:{s:[]}}", "metadata", "finalizers"));
    return NULL;
}

static void run(struct task *self, void *arg)
{
    struct publication *publication = arg;
    struct world *world = publication->volume->world;
    struct err *err = live(self, publication);

    if (!err) {
        sim_note(world->sim, "volume %s is no longer published on %s", publication->volume->pv,
                 publication->machine->name);
        publication_free(publication);
        attach_detach_poke(world);
    }
    err_free(err);
}

void attacher_start(struct publication *publication)
{
    group_spawn(&publication->volume->world->sim->tasks, "attacher", run, publication);
}
