#include "lib/kube/lease.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/kube/lease_spec.h"

struct lease {
    struct lease_config config;
    struct loop *loop;
    struct kube *kube; /* with so short a limit that one hanging call does not cost the lease */
    struct task_group group;

    struct kube_object *seen; /* what was last read or written; NULL: no such object */
    uint64_t taken_until;     /* by our clock: what its holder may count on, if it is another */
    bool held, given_back;
    uint64_t renewed_at; /* when our last successful renewal began */
    struct timer expiry; /* of what we hold */
};

static const Api__LeaseSpec *spec_of(const struct lease *lease)
{
    static const Api__LeaseSpec none = API__LEASE_SPEC__INIT;
    const Api__Lease *object = lease->seen ? KUBE_AS(Api__Lease, lease->seen) : NULL;

    return object && object->spec ? object->spec : &none;
}

static bool is_ours(const struct lease *lease)
{
    return same_text(spec_of(lease)->holder_identity, lease->config.identity);
}

static bool is_free(const struct lease *lease)
{
    return same_text(spec_of(lease)->holder_identity, NULL);
}

/* A renewal is good for as long as its author promised, from when it was seen here. An object that
 * is gone has not freed its last holder, who does not know yet. */
static void remember(struct lease *lease, struct kube_object *object)
{
    CLEANUP(kube_object_unrefp) struct kube_object *before = lease->seen;
    const Api__LeaseSpec *was = spec_of(lease);

    lease->seen = object;
    const Api__LeaseSpec *is = spec_of(lease);
    if (!object)
        return;
    if (is_free(lease) || is_ours(lease))
        lease->taken_until = 0;
    else if (!before || !same_text(was->holder_identity, is->holder_identity) ||
             !same_text(was->renew_time, is->renew_time))
        lease->taken_until =
            loop_deadline(lease->loop, is->lease_duration_seconds > 0
                                           ? (uint64_t)is->lease_duration_seconds * 1000
                                           : lease->config.duration_ms);
}

bool lease_is_held(const struct lease *lease)
{
    return lease->held &&
           loop_now(lease->loop) - lease->renewed_at < lease->config.renew_deadline_ms;
}

/* The spec to write, as holder or, to give it back, without one. */
static json_t *next_spec(const struct lease *lease, bool release)
{
    int transitions = spec_of(lease)->lease_transitions + (release || is_ours(lease) ? 0 : 1);
    int64_t now = loop_wall_us(lease->loop);
    json_t *json = release ? lease_spec_free(now)
                           : lease_spec_held(lease->config.identity, lease->config.duration_ms, now,
                                             !is_ours(lease));

    json_object_set_new(json, "leaseTransitions", json_integer(lease->seen ? transitions : 0));
    return json;
}

static struct err *write_spec(struct task *self, struct lease *lease, bool release)
{
    const struct lease_config *config = &lease->config;
    struct kube_object *written;
    CLEANUP(json_decrefp)
    json_t *object = json_pack("{s:{s:s}, s:o}", "metadata", "name", config->name, "spec",
                               next_spec(lease, release));

    if (!lease->seen) {
        TRY(kube_create(self, lease->kube, &LEASES, config->namespace_, object, &written));
    } else {
        json_object_set_new(json_object_get(object, "metadata"), "resourceVersion",
                            json_string(lease->seen->metadata->resource_version));
        TRY(kube_patch(self, lease->kube, &LEASES, config->namespace_, config->name, NULL, object,
                       &written));
    }
    remember(lease, written);
    return NULL;
}

static struct err *read_object(struct task *self, struct lease *lease)
{
    const struct lease_config *config = &lease->config;
    struct kube_object *object = NULL;
    struct err *err =
        kube_get(self, lease->kube, &LEASES, config->namespace_, config->name, &object);

    if (err && err_kind(err) != ERR_NOT_FOUND)
        return err;
    err_free(err);
    remember(lease, object);
    return NULL;
}

/* A holder writes without reading first; the version that it saw last makes a write over somebody
 * else's impossible. Where that is not the newest, it looks: it may be its own write whose answer
 * was lost, or the object was touched by somebody who does not want the lease. */
static struct err *write_as_holder(struct task *self, struct lease *lease, bool release)
{
    struct err *err = write_spec(self, lease, release);

    if (!err || (err_kind(err) != ERR_CONFLICT && err_kind(err) != ERR_NOT_FOUND))
        return err;
    err_free(err);
    TRY(read_object(self, lease));
    if (is_ours(lease))
        return write_spec(self, lease, release);
    return err_new(ERR_CONFLICT, "the lease was taken over and now belongs to %s",
                   is_free(lease) ? "nobody" : spec_of(lease)->holder_identity);
}

static void on_expiry(void *ctx)
{
    struct lease *lease = ctx;

    group_cancel(&lease->group);
}

/* One attempt to take or renew. */
static struct err *try_once(struct task *self, struct lease *lease)
{
    const struct lease_config *config = &lease->config;
    uint64_t began = loop_now(lease->loop);

    if (!lease->held) {
        TRY(read_object(self, lease));
        if (began < lease->taken_until)
            return NULL;
        TRY(write_spec(self, lease, false));
    } else {
        TRY(write_as_holder(self, lease, false));
    }
    uint64_t expires = began + config->renew_deadline_ms;
    if (!lease->held && loop_now(lease->loop) >= expires)
        return NULL; /* that took too long; the next attempt finds it to be ours */
    lease->renewed_at = began;
    loop_start_timer(lease->loop, &lease->expiry, expires, on_expiry, lease);
    if (lease->held)
        return NULL;
    lease->held = true;
    if (!lease->given_back) /* else it is given back at once, and nobody is to begin with it */
        config->acquired(config->ctx);
    return NULL;
}

static bool is_lost(const struct lease *lease)
{
    return lease->held && (!lease_is_held(lease) || !is_ours(lease));
}

/* That another candidate was faster is no failure. */
static void report(const struct lease *lease, const struct err *err)
{
    enum err_kind kind = err_kind(err);
    bool lost_race = !lease->held && (kind == ERR_CONFLICT || kind == ERR_EXISTS);

    if (kind != ERR_CANCELED && !lost_race && lease->config.failed)
        lease->config.failed(lease->config.ctx, err);
}

/* From one attempt's beginning to the next one's; one that hung has used up its pause, and what is
 * left of the lease is for trying again. Candidates spread out. */
static uint64_t next_attempt(const struct lease *lease, uint64_t began)
{
    uint64_t pause = lease->config.retry_period_ms;

    if (!lease->held)
        pause += random_below(loop_random(lease->loop), pause / 5 + 1);
    return began + pause;
}

/* The task is cancelled by lease_release, or by the expiry of what it holds, which is the end even
 * if an answer came at the same moment: nobody would renew what that has won. */
static void run(struct task *self, void *arg)
{
    struct lease *lease = arg;
    const struct lease_config *config = &lease->config;

    while (!task_is_cancelled(self) && !is_lost(lease)) {
        uint64_t began = loop_now(lease->loop);
        CLEANUP(err_freep) struct err *err = try_once(self, lease);

        if (err)
            report(lease, err);
        if (is_lost(lease))
            break;
        uint64_t next = next_attempt(lease, began), now = loop_now(lease->loop);
        err_free(task_sleep(self, next > now ? next - now : 0));
    }
    loop_stop_timer(lease->loop, &lease->expiry);
    if (is_lost(lease) || (lease->held && !lease->given_back)) {
        lease->held = false;
        config->lost(config->ctx);
    }
}

struct lease *lease_new(struct loop *loop, const struct lease_config *config)
{
    struct lease *lease = mem_alloc(sizeof *lease);

    *lease = (struct lease){
        .config = *config,
        .loop = loop,
        .kube = kube_urgent(config->kube, config->renew_deadline_ms / 2),
    };
    group_init(&lease->group, loop);
    group_spawn(&lease->group, "lease", run, lease);
    return lease;
}

void lease_release(struct task *self, struct lease *lease)
{
    if (!lease)
        return;
    lease->given_back = true;
    group_close(self, &lease->group);
    if (lease_is_held(lease)) {
        CLEANUP(err_freep) struct err *err = write_as_holder(self, lease, true);

        if (err)
            report(lease, err);
    }
    kube_object_unref(lease->seen);
    kube_free(lease->kube);
    free(lease);
}
