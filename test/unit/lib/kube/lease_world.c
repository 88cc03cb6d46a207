#include "test/unit/lib/kube/lease_world.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "lib/rt/wait.h"
#include "test/unit/expect.h"

#define OBJECT_URL "http://server/apis/coordination.k8s.io/v1/namespaces/ns/leases"

enum { STEP_MS = 20, POLL_MS = 20 };

/* ---- the server ---- */

static void set_answer(struct http_response *response, int status, const json_t *json)
{
    *response = (struct http_response){.status = status, .body = json_to_text(json)};
    response->body_length = strlen(response->body);
}

static void set_refusal(struct http_response *response, int status, const char *reason)
{
    CLEANUP(json_decrefp)
    json_t *json =
        json_pack("{s:s, s:s, s:s}", "kind", "Status", "reason", reason, "message", reason);

    set_answer(response, status, json);
}

static void store_object(struct world *world, json_t *object)
{
    char version[24];

    snprintf(version, sizeof version, "%" PRIu64, ++world->version);
    json_object_set_new(json_object_get(object, "metadata"), "resourceVersion",
                        json_string(version));
    json_decref(world->object);
    world->object = object;
    world->writes++;
}

/* RFC 7386. */
static json_t *merged(json_t *target, const json_t *patch)
{
    const char *name;
    json_t *value, *result = json_is_object(target) ? json_deep_copy(target) : json_object();

    if (!json_is_object(patch)) {
        json_decref(result);
        return json_deep_copy(patch);
    }
    json_object_foreach((json_t *)(uintptr_t)patch, name, value) {
        if (json_is_null(value))
            json_object_del(result, name);
        else
            json_object_set_new(result, name, merged(json_object_get(result, name), value));
    }
    return result;
}

static const char *version_in(const json_t *object)
{
    return json_string_value(
        json_object_get(json_object_get(object, "metadata"), "resourceVersion"));
}

static void serve(struct world *world, struct request *request)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    bool create = strcmp(request->method, "POST") == 0;

    if (request->body)
        assert_ok(json_parse_here(request->body, strlen(request->body), &body));
    if (create ? world->object != NULL : world->object == NULL) {
        set_refusal(&request->response, create ? 409 : 404, create ? "AlreadyExists" : "NotFound");
        return;
    }
    if (create)
        store_object(world, TAKE_PTR(body));
    if (strcmp(request->method, "PATCH") == 0) {
        const char *wanted = version_in(body);

        if (wanted && strcmp(wanted, version_in(world->object)) != 0) {
            set_refusal(&request->response, 409, "Conflict");
            return;
        }
        store_object(world, merged(world->object, body));
    }
    set_answer(&request->response, 200, world->object);
}

static void forget(struct request *request)
{
    free(request->method);
    free(request->body);
    http_response_fini(&request->response);
    *request = (struct request){.used = false};
}

static void serve_all(struct world *world)
{
    for (unsigned i = 0; i < WORLD_REQUESTS; i++) {
        struct request *request = &world->requests[i];

        if (!request->used)
            continue;
        if (!request->arrived && request->arrives && world->now >= request->arrives) {
            request->arrived = true;
            serve(world, request);
        }
        request->answered = request->answers && world->now >= request->answers;
        if (request->sender_gone && (request->arrived || !request->arrives))
            forget(request);
    }
}

/* ---- the wire ---- */

static enum fate answered(struct world *world, const struct candidate *from, const char *method)
{
    (void)world, (void)from, (void)method;
    return ANSWERED;
}

static struct request *send(struct world *world, const struct candidate *from,
                            const struct http_request *sent, enum fate fate)
{
    struct request *request = world->requests;
    uint64_t most = world->most_delay_ms;

    while (request->used)
        assert_true(++request < world->requests + WORLD_REQUESTS);
    *request = (struct request){
        .used = true, .method = mem_strdup(sent->method), .body = mem_strdup(sent->body)};
    /* It leaves when its sender's clock says so; one that was stopped is not behind any more. */
    assert_false(from->paused);
    if (fate != REQUEST_LOST)
        request->arrives = world->now + 1 + random_below(&world->random, most);
    if (fate == ANSWERED || fate == ANSWER_BROKEN)
        request->answers = request->arrives + 1 + random_below(&world->random, most);
    request->breaks = fate == ANSWER_BROKEN;
    return request;
}

static struct err *await(struct task *self, struct request *request,
                         const struct http_request *sent, struct http_response *ret)
{
    struct loop *loop = loop_of(self);

    while (!request->answered) {
        TRY(task_sleep(self, POLL_MS));
        if (!request->answered && loop_now(loop) >= sent->deadline)
            return err_new(ERR_TIMEOUT, "no answer");
    }
    if (request->breaks)
        return err_new(ERR_UNAVAILABLE, "the connection broke");
    *ret = request->response;
    request->response = (struct http_response){0};
    return NULL;
}

static struct err *exchange(struct http_transport *transport, struct task *self,
                            const struct http_request *sent, struct http_response *ret)
{
    struct candidate *from = CONTAINER_OF(transport, struct candidate, transport);
    struct world *world = from->world;
    enum fate fate = world->fate(world, from, sent->method);

    assert_memory_equal(sent->url, OBJECT_URL, strlen(OBJECT_URL));
    assert_string_equal(sent->url + strlen(OBJECT_URL),
                        strcmp(sent->method, "POST") == 0 ? "" : "/leader");
    if (fate == REFUSED)
        return err_new(ERR_UNAVAILABLE, "connection refused");
    struct request *request = send(world, from, sent, fate);
    struct err *err = await(self, request, sent, ret);
    request->sender_gone = true;
    return err;
}

/* ---- candidates ---- */

static void on_acquired(void *ctx)
{
    struct candidate *candidate = ctx;

    candidate->acquired++;
    assert_int_equal(candidate->acquired, 1);
    assert_int_equal(candidate->lost, 0);
}

static void on_lost(void *ctx)
{
    struct candidate *candidate = ctx;

    candidate->lost++;
    assert_int_equal(candidate->acquired, 1);
    assert_int_equal(candidate->lost, 1);
    assert_false(lease_is_held(candidate->lease));
}

static void on_failed(void *ctx, const struct err *err)
{
    struct candidate *candidate = ctx;

    candidate->failed++;
    snprintf(candidate->last_failure, sizeof candidate->last_failure, "%s", err_message(err));
}

void candidate_start(struct world *world, unsigned index)
{
    struct candidate *candidate = &world->candidates[index];
    char server[] = "http://server";
    struct kube_config config = {.server = server};

    assert_null(candidate->loop);
    *candidate = (struct candidate){
        .transport = {.exchange = exchange},
        .world = world,
        .index = index,
        .loop = loop_new_virtual(random_next(&world->random) | 1),
    };
    snprintf(candidate->identity, sizeof candidate->identity, "candidate-%u/%u", index,
             world->started[index]++);
    candidate->kube = kube_new(candidate->loop, &candidate->transport, &config);
    candidate->lease = lease_new(candidate->loop, &(struct lease_config){
                                                      .kube = candidate->kube,
                                                      .namespace_ = "ns",
                                                      .name = "leader",
                                                      .identity = candidate->identity,
                                                      .duration_ms = 15000,
                                                      .renew_deadline_ms = 10000,
                                                      .retry_period_ms = 2000,
                                                      .acquired = on_acquired,
                                                      .lost = on_lost,
                                                      .failed = on_failed,
                                                      .ctx = candidate,
                                                  });
}

static void release(struct task *self, void *arg)
{
    struct candidate *candidate = arg;

    lease_release(self, TAKE_PTR(candidate->lease));
    candidate->ended = true;
}

static void bury(struct candidate *candidate)
{
    kube_free(candidate->kube);
    loop_free(candidate->loop);
    candidate->loop = NULL;
    candidate->kube = NULL;
}

static enum fate all_refused(struct world *world, const struct candidate *from, const char *method)
{
    (void)world, (void)from, (void)method;
    return REFUSED;
}

/* The process is gone at once. Its memory is taken apart by letting it release into the void. */
void candidate_kill(struct world *world, unsigned index)
{
    struct candidate *candidate = &world->candidates[index];
    enum fate (*fate)(struct world *, const struct candidate *, const char *) = world->fate;

    world->fate = all_refused;
    candidate->paused = false;
    loop_spawn(candidate->loop, "release", release, candidate);
    loop_run(candidate->loop);
    world->fate = fate;
    bury(candidate);
}

bool candidate_holds(const struct world *world, unsigned index)
{
    const struct candidate *candidate = &world->candidates[index];

    return candidate->lease && !candidate->paused && lease_is_held(candidate->lease);
}

void candidate_release(struct world *world, unsigned index)
{
    struct candidate *candidate = &world->candidates[index];

    loop_spawn(candidate->loop, "release", release, candidate);
    while (!candidate->ended)
        world_run(world, STEP_MS);
    bury(candidate);
}

/* ---- time ---- */

unsigned world_holders(const struct world *world)
{
    unsigned n = 0;

    for (unsigned i = 0; i < WORLD_CANDIDATES; i++)
        n += candidate_holds(world, i);
    return n;
}

static void check_holders(const struct world *world)
{
    if (world_holders(world) > 1)
        fail_msg("two hold the lease at %" PRIu64, world->now);
}

/* One that goes on after a pause finds its clock moved before it does anything. */
static void catch_up(struct candidate *candidate)
{
    if (!candidate->loop || candidate->paused)
        return;
    loop_skip(candidate->loop, candidate->behind);
    candidate->behind = 0;
}

static void step(struct world *world, uint64_t ms)
{
    world->now += ms;
    serve_all(world);
    for (unsigned i = 0; i < WORLD_CANDIDATES; i++)
        catch_up(&world->candidates[i]);
    for (unsigned i = 0; i < WORLD_CANDIDATES; i++) {
        struct candidate *candidate = &world->candidates[i];

        check_holders(world);
        if (candidate->loop && !candidate->paused)
            loop_advance(candidate->loop, ms);
        else
            candidate->behind += ms;
    }
    check_holders(world);
}

void world_run(struct world *world, uint64_t ms)
{
    for (uint64_t past = 0; past < ms; past += STEP_MS)
        step(world, STEP_MS);
}

bool world_run_until(struct world *world, uint64_t ms, bool (*condition)(const struct world *world))
{
    for (uint64_t past = 0; past < ms && !condition(world); past += STEP_MS)
        step(world, STEP_MS);
    return condition(world);
}

/* ---- the world ---- */

void world_init(struct world *world, uint64_t seed)
{
    *world = (struct world){.random = {.state = seed}, .fate = answered, .most_delay_ms = 10};
}

void world_fini(struct world *world)
{
    for (unsigned i = 0; i < WORLD_CANDIDATES; i++)
        if (world->candidates[i].loop)
            candidate_kill(world, i);
    for (unsigned i = 0; i < WORLD_REQUESTS; i++)
        forget(&world->requests[i]);
    json_decref(world->object);
}

const char *world_spec(const struct world *world, const char *member)
{
    const char *text =
        json_string_value(json_object_get(json_object_get(world->object, "spec"), member));

    return text ? text : "";
}

void world_touch(struct world *world)
{
    json_t *touched = json_deep_copy(world->object);

    json_object_set_new(json_object_get(touched, "metadata"), "labels",
                        json_pack("{s:s}", "touched", "yes"));
    store_object(world, touched);
}

void world_delete(struct world *world)
{
    json_decref(world->object);
    world->object = NULL;
    world->version++;
}
