/* Which requests calls become, and what answers become. */
#include "lib/kube/client.h"

#include <stdlib.h>
#include <unistd.h>

#include "lib/api/resources.h"
#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "lib/kube/pages.h"
#include "lib/rt/wait.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/script.h"

#define STATUS(fields) "{'kind':'Status','apiVersion':'v1'," fields "}"
#define LEASE "{'metadata':{'namespace':'ns','name':'l','uid':'u','resourceVersion':'7'}}"
#define NODE "{'metadata':{'name':'n'}}"

struct scene {
    struct script script;
    struct kube *kube;
    void (*body)(struct task *self, struct kube *kube);
};

static void scene_main(struct task *self, void *arg)
{
    struct scene *scene = arg;

    scene->body(self, scene->kube);
}

/* `times`: when each step is asked for, and an answer takes a millisecond; NULL: that is no matter.
 */
static void play_with(const struct script_step *steps, size_t n, const struct kube_config *config,
                      const uint64_t *times, void (*body)(struct task *self, struct kube *kube))
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct scene scene = {.body = body};

    script_init(&scene.script, loop, steps, n);
    scene.kube = script_client(&scene.script, config);
    loop_spawn(loop, "test", scene_main, &scene);
    loop_run(loop);
    assert_int_equal(scene.script.next, n);
    assert_int_equal(scene.script.unanswered, 0);
    for (size_t i = 0; times && i < n; i++)
        assert_int_equal(scene.script.times[i], times[i]);
    kube_free(scene.kube);
}

static void play(const struct script_step *steps, size_t n, const struct kube_config *config,
                 void (*body)(struct task *self, struct kube *kube))
{
    play_with(steps, n, config, NULL, body);
}

static void play_at(const struct script_step *steps, size_t n, const uint64_t *times,
                    void (*body)(struct task *self, struct kube *kube))
{
    play_with(steps, n, NULL, times, body);
}

static json_t *document(const char *text)
{
    CLEANUP(freep) char *quoted = script_text(text);
    json_t *json = NULL;

    assert_ok(json_parse_here(quoted, strlen(quoted), &json));
    return json;
}

/* ---- requests ---- */

#define EVICTION                                                                                   \
    "POST /api/v1/namespaces/ns/pods/p/eviction {'apiVersion':'policy/v1','kind':'Eviction',"      \
    "'metadata':{'name':'p','namespace':'ns'},'deleteOptions':{'preconditions':{'uid':'u'}}}"

static const struct script_step requests[] = {
    SCRIPT_ANSWER("GET /apis/coordination.k8s.io/v1/namespaces/ns/leases/l", 200, LEASE),
    SCRIPT_ANSWER("GET /api/v1/nodes/n", 200, NODE),
    SCRIPT_ANSWER("GET /api/v1/namespaces/a%2Fb/pods/..%3F%23", 200, NODE),
    SCRIPT_ANSWER("POST /apis/coordination.k8s.io/v1/namespaces/ns/leases "
                  "{'apiVersion':'coordination.k8s.io/v1','kind':'Lease','metadata':{'name':'l'}}",
                  201, LEASE),
    SCRIPT_ANSWER("POST /api/v1/nodes {'apiVersion':'v1','kind':'Node','metadata':{'name':'n'}}",
                  201, NODE),
    SCRIPT_ANSWER("PATCH /apis/coordination.k8s.io/v1/namespaces/ns/leases/l {'spec':{'a':null}}",
                  200, LEASE),
    SCRIPT_ANSWER("PATCH /apis/disk.csi.azure.com/v1beta2/namespaces/ns/azvolumes/v/status "
                  "{'status':{}}",
                  200, NODE),
    SCRIPT_ANSWER("DELETE /api/v1/nodes/n {}", 200, "{}"),
    SCRIPT_ANSWER("DELETE /api/v1/nodes/n {'preconditions':{'uid':'u'}}", 200, "{}"),
    SCRIPT_ANSWER("DELETE /apis/coordination.k8s.io/v1/namespaces/ns/leases/l "
                  "{'preconditions':{'uid':'u','resourceVersion':'7'}}",
                  200, "{}"),
    SCRIPT_ANSWER("DELETE /api/v1/namespaces/ns/pods/p "
                  "{'preconditions':{'uid':'u'},'gracePeriodSeconds':0}",
                  200, "{}"),
    SCRIPT_ANSWER(EVICTION, 201, "{}"),
    /* Of a budget, which nobody knows the time of: the caller asks again. */
    SCRIPT_ANSWER(EVICTION, 429, STATUS("'message':'budget','reason':'TooManyRequests'")),
    SCRIPT_ANSWER("GET /api/v1/nodes", 200, "{}"),
    SCRIPT_ANSWER("GET /api/v1/pods?labelSelector=a%3Db%2Cc&fieldSelector=spec.nodeName%3Dx"
                  "&resourceVersion=0&continue=c%2B%2F%3D&limit=5",
                  200, "{}"),
    SCRIPT_STREAM("GET /api/v1/namespaces/ns/pods?resourceVersion=7&watch=true"
                  "&allowWatchBookmarks=true&timeoutSeconds=300",
                  {0, "{}"}, {0, ""}),
};

static void make_reads(struct task *self, struct kube *kube)
{
    struct kube_object *object;

    assert_ok(kube_get(self, kube, &LEASES, "ns", "l", &object));
    assert_string_equal(object->key, "ns/l");
    assert_int_equal(object->version, 7);
    kube_object_unref(object);
    assert_ok(kube_get(self, kube, &NODES, "ns", "n", NULL)); /* nodes are in no namespace */
    assert_ok(kube_get(self, kube, &PODS, "a/b", "..?#", NULL));
}

static void make_writes(struct task *self, struct kube *kube)
{
    CLEANUP(json_decrefp) json_t *lease = document("{'metadata':{'name':'l'}}");
    CLEANUP(json_decrefp) json_t *node = document("{'metadata':{'name':'n'}}");
    CLEANUP(json_decrefp) json_t *patch = document("{'spec':{'a':null}}");
    CLEANUP(json_decrefp) json_t *status = document("{'status':{}}");
    struct kube_object *object;

    assert_ok(kube_create(self, kube, &LEASES, "ns", lease, &object));
    assert_string_equal(KUBE_AS(Api__Lease, object)->metadata->name, "l");
    kube_object_unref(object);
    assert_ok(kube_create(self, kube, &NODES, NULL, node, NULL));
    CLEANUP(kube_object_unrefp) struct kube_object *patched = NULL;
    assert_ok(kube_patch(self, kube, &LEASES, "ns", "l", NULL, patch, &patched));
    assert_ok(kube_patch(self, kube, &AZ_VOLUMES, "ns", "v", "status", status, NULL));
    assert_ok(kube_delete(self, kube, &NODES, NULL, "n", NULL));
    assert_ok(kube_delete(self, kube, &NODES, NULL, "n", "u"));
    assert_ok(kube_delete_unchanged(self, kube, &LEASES, patched));
    assert_ok(kube_delete_pod_now(self, kube, "ns", "p", "u"));
    assert_ok(kube_evict(self, kube, "ns", "p", "u"));
    assert_fails(kube_evict(self, kube, "ns", "p", "u"), ERR_THROTTLED,
                 "POST /api/v1/namespaces/ns/pods/p/eviction: budget (HTTP 429)");
}

static void make_lists(struct task *self, struct kube *kube)
{
    struct kube_query all = {.label_selector = NULL};
    struct kube_query some = {.label_selector = "a=b,c",
                              .field_selector = "spec.nodeName=x",
                              .resource_version = "0",
                              .continue_token = "c+/=",
                              .limit = 5};
    struct kube_query watch = {.resource_version = "7", .timeout_seconds = 300};
    struct http_stream *stream;
    const char *data;
    size_t length;
    json_t *list;

    assert_ok(kube_list_page(self, kube, &NODES, NULL, &all, &list));
    json_decref(list);
    assert_ok(kube_list_page(self, kube, &PODS, NULL, &some, &list));
    json_decref(list);
    assert_ok(kube_watch(self, kube, &PODS, "ns", &watch, &stream));
    assert_ok(stream->read(stream, self, TIMER_NEVER, &data, &length));
    assert_memory_equal(data, "{}", length);
    http_stream_close(stream);
}

static void make_requests(struct task *self, struct kube *kube)
{
    make_reads(self, kube);
    make_writes(self, kube);
    make_lists(self, kube);
}

static void test_requests(void **state)
{
    (void)state;
    play(requests, COUNT_OF(requests), NULL, make_requests);
}

/* ---- what becomes of an answer that is no success ---- */

static const struct {
    int status;
    const char *body, *retry_after;
    enum err_kind kind;
    const char *message, *code;
    uint64_t retry_after_ms;
} failures[] = {
    {404, STATUS("'message':'nodes \\'n\\' not found','reason':'NotFound'"), NULL, ERR_NOT_FOUND,
     "nodes \"n\" not found (HTTP 404)", KUBE_NO_SUCH_OBJECT, 0},
    {404, "404 page not found\n", NULL, ERR_UNAVAILABLE, "\"404 page not found \" (HTTP 404)",
     KUBE_NO_SUCH_KIND, 0},
    {409, STATUS("'message':'exists','reason':'AlreadyExists'"), NULL, ERR_EXISTS,
     "exists (HTTP 409)", "AlreadyExists", 0},
    {409, STATUS("'message':'modified','reason':'Conflict'"), NULL, ERR_CONFLICT,
     "modified (HTTP 409)", "Conflict", 0},
    {410, STATUS("'message':'too old','reason':'Expired'"), NULL, ERR_OUT_OF_RANGE,
     "too old (HTTP 410)", "Expired", 0},
    {410, STATUS("'message':'gone','reason':'Gone'"), NULL, ERR_OUT_OF_RANGE, "gone (HTTP 410)",
     "Gone", 0},
    {401, STATUS("'message':'Unauthorized','reason':'Unauthorized'"), NULL, ERR_DENIED,
     "Unauthorized (HTTP 401)", "Unauthorized", 0},
    {403, STATUS("'message':'forbidden','reason':'Forbidden'"), NULL, ERR_DENIED,
     "forbidden (HTTP 403)", "Forbidden", 0},
    {422, STATUS("'message':'invalid','reason':'Invalid'"), NULL, ERR_INVALID, "invalid (HTTP 422)",
     "Invalid", 0},
    {400, STATUS("'message':'bad','reason':'BadRequest'"), NULL, ERR_INVALID, "bad (HTTP 400)",
     "BadRequest", 0},
    {405, STATUS("'message':'no','reason':'MethodNotAllowed'"), NULL, ERR_UNIMPLEMENTED,
     "no (HTTP 405)", "MethodNotAllowed", 0},
    {413, STATUS("'message':'large','reason':'RequestEntityTooLarge'"), NULL, ERR_INVALID,
     "large (HTTP 413)", "RequestEntityTooLarge", 0},
    {429,
     STATUS("'message':'slow down','reason':'TooManyRequests','details':"
            "{'retryAfterSeconds':7}"),
     NULL, ERR_THROTTLED, "slow down (HTTP 429)", "TooManyRequests", 7000},
    {429, STATUS("'message':'slow down','reason':'TooManyRequests'"), NULL, ERR_THROTTLED,
     "slow down (HTTP 429)", "TooManyRequests", 1000},
    {429, STATUS("'message':'x','details':{'retryAfterSeconds':-5}"), NULL, ERR_THROTTLED,
     "x (HTTP 429)", NULL, 1000},
    {429, STATUS("'message':'x','details':{'retryAfterSeconds':2147483647}"), NULL, ERR_THROTTLED,
     "x (HTTP 429)", NULL, 600000},
    {429, "", "18446744073709552", ERR_THROTTLED, "\"\" (HTTP 429)", NULL, 600000},
    {429, "Too many requests, please try again later.\n", "3", ERR_THROTTLED,
     "\"Too many requests, please try again later. \" (HTTP 429)", NULL, 3000},
    {429, "", "Wed, 21 Oct 2026 07:28:00 GMT", ERR_THROTTLED, "\"\" (HTTP 429)", NULL, 1000},
    {500, STATUS("'message':'etcd','reason':'InternalError'"), NULL, ERR_UNAVAILABLE,
     "etcd (HTTP 500)", "InternalError", 0},
    {503, "<html>", "9", ERR_UNAVAILABLE, "\"<html>\" (HTTP 503)", NULL, 0},
    {504, STATUS("'message':'Too large resource version','reason':'Timeout'"), NULL,
     ERR_UNAVAILABLE, "Too large resource version (HTTP 504)", "Timeout", 0},
    {302, "", NULL, ERR_UNAVAILABLE, "\"\" (HTTP 302)", NULL, 0},
    {500, "{}", NULL, ERR_UNAVAILABLE, "no message (HTTP 500)", "InternalError", 0},
    {500, "[]", NULL, ERR_UNAVAILABLE, "\"[]\" (HTTP 500)", "InternalError", 0},
    {500, STATUS("'message':5"), NULL, ERR_UNAVAILABLE,
     "message: expected a string, not this number (HTTP 500)", "InternalError", 0},
};

static void check_failure(size_t i, struct err *err, const char *prefix)
{
    CLEANUP(freep) char *message = mem_printf("%s: %s", prefix, failures[i].message);

    assert_non_null(err);
    if (failures[i].code)
        assert_string_equal(err_code(err), failures[i].code);
    else
        assert_null(err_code(err));
    assert_int_equal(err_retry_after_ms(err), failures[i].retry_after_ms);
    assert_fails(err, failures[i].kind, message);
}

static void meet_failures(struct task *self, struct kube *kube)
{
    struct kube_query query = {.timeout_seconds = 1};
    CLEANUP(kube_freep) struct kube *hasty = kube_urgent(kube, 500); /* cannot wait */

    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        struct http_stream *stream = NULL;
        struct kube_object *object = NULL;

        check_failure(i, kube_get(self, hasty, &NODES, NULL, "n", &object), "GET /api/v1/nodes/n");
        assert_null(object);
        check_failure(i, kube_watch(self, kube, &NODES, NULL, &query, &stream),
                      "watch /api/v1/nodes?watch=true&allowWatchBookmarks=true&timeoutSeconds=1");
        assert_null(stream);
    }
}

static void test_failures(void **state)
{
    struct script_step steps[2 * COUNT_OF(failures)];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        steps[i] = (struct script_step){
            .request = "GET *",
            .status = failures[i / 2].status,
            .answer = failures[i / 2].body,
            .header = failures[i / 2].retry_after ? "Retry-After" : NULL,
            .value = failures[i / 2].retry_after,
        };
    play(steps, COUNT_OF(steps), NULL, meet_failures);
}

/* ---- a server that has too much to do ---- */

#define REFUSED(request_, seconds)                                                                 \
    {                                                                                              \
        .request = (request_), .status = 429, .answer = "", .header = "Retry-After",               \
        .value = (seconds)                                                                         \
    }
#define PATCH_NODE "PATCH /api/v1/nodes/n/status {}"

static struct err *patch_node(struct task *self, struct kube *kube)
{
    CLEANUP(json_decrefp) json_t *patch = json_object();

    return kube_patch(self, kube, &NODES, NULL, "n", "status", patch, NULL);
}

static const struct script_step too_much_to_do[] = {
    REFUSED(PATCH_NODE, "3"), REFUSED(PATCH_NODE, "1"),  SCRIPT_ANSWER(PATCH_NODE, 200, NODE),
    REFUSED(PATCH_NODE, "9"), REFUSED(PATCH_NODE, "21"), REFUSED(PATCH_NODE, "30"),
};

static void waits_as_told(struct task *self, struct kube *kube)
{
    assert_ok(patch_node(self, kube));
    /* No later than the call's deadline, however often it has been asked. */
    assert_fails(patch_node(self, kube), ERR_THROTTLED,
                 "PATCH /api/v1/nodes/n/status: \"\" (HTTP 429)");
    assert_fails(patch_node(self, kube), ERR_THROTTLED,
                 "PATCH /api/v1/nodes/n/status: \"\" (HTTP 429)");
}

static void test_too_much_to_do(void **state)
{
    static const uint64_t times[] = {0, 3001, 4002, 4003, 13004, 13005};

    (void)state;
    play_at(too_much_to_do, COUNT_OF(too_much_to_do), times, waits_as_told);
}

static void gives_up(struct task *self, struct kube *kube)
{
    assert_fails(patch_node(self, kube), ERR_THROTTLED,
                 "PATCH /api/v1/nodes/n/status: \"\" (HTTP 429)");
}

static void test_not_asked_for_ever(void **state)
{
    struct script_step steps[11];
    uint64_t times[COUNT_OF(steps)];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        steps[i] = (struct script_step)REFUSED(PATCH_NODE, "1");
        times[i] = 1001 * i;
    }
    play_at(steps, COUNT_OF(steps), times, gives_up);
}

static void meet_nonsense(struct task *self, struct kube *kube)
{
    struct kube_object *object = NULL;
    json_t *list = NULL;

    assert_fails(kube_get(self, kube, &NODES, NULL, "n", &object), ERR_UNAVAILABLE,
                 "the connection broke");
    assert_fails(kube_get(self, kube, &NODES, NULL, "n", &object), ERR_UNAVAILABLE,
                 "GET /api/v1/nodes/n: not JSON: line 1, column 0: unexpected token near end of "
                 "file");
    assert_fails(kube_get(self, kube, &NODES, NULL, "n", &object), ERR_UNAVAILABLE,
                 "GET /api/v1/nodes/n: Node: spec: expected an object, not a list");
    assert_fails(kube_get(self, kube, &NODES, NULL, "n", &object), ERR_UNAVAILABLE,
                 "GET /api/v1/nodes/n: Node without metadata.name");
    assert_null(object);
    assert_fails(kube_list_page(self, kube, &NODES, NULL, &(struct kube_query){.limit = 1}, &list),
                 ERR_UNAVAILABLE, "the connection broke");
    assert_null(list);
}

static void test_nonsense(void **state)
{
    static const struct script_step steps[] = {
        SCRIPT_BREAK("GET *"),
        SCRIPT_ANSWER("GET *", 200, ""),
        SCRIPT_ANSWER("GET *", 200, "{'metadata':{'name':'n'},'spec':[]}"),
        SCRIPT_ANSWER("GET *", 200, "{}"),
        SCRIPT_BREAK("GET *"),
    };

    (void)state;
    play(steps, COUNT_OF(steps), NULL, meet_nonsense);
}

/* Names come from callers, tokens from the server. */
static void ask_at_length(struct task *self, struct kube *kube)
{
    enum { LENGTH = 64 * 1024 };
    CLEANUP(freep) char *name = mem_alloc(LENGTH + 1);
    CLEANUP(json_decrefp) json_t *patch = json_object();
    const struct kube_query query = {.continue_token = name};
    struct http_stream *stream;
    json_t *list;

    memset(name, '+', LENGTH);
    assert_fails(kube_get(self, kube, &NODES, NULL, name, NULL), ERR_INVALID,
                 "the name is too long for a request (65536 bytes)");
    assert_fails(kube_get(self, kube, &PODS, name, "p", NULL), ERR_INVALID,
                 "the namespace is too long for a request (65536 bytes)");
    assert_fails(kube_create(self, kube, &PODS, name, patch, NULL), ERR_INVALID,
                 "the namespace is too long for a request (65536 bytes)");
    assert_fails(kube_patch(self, kube, &NODES, NULL, name, NULL, patch, NULL), ERR_INVALID,
                 "the name is too long for a request (65536 bytes)");
    assert_fails(kube_json_patch(self, kube, &NODES, NULL, name, patch), ERR_INVALID,
                 "the name is too long for a request (65536 bytes)");
    assert_fails(kube_delete(self, kube, &NODES, NULL, name, "u"), ERR_INVALID,
                 "the name is too long for a request (65536 bytes)");
    assert_fails(kube_evict(self, kube, "ns", name, "u"), ERR_INVALID,
                 "the name is too long for a request (65536 bytes)");
    assert_fails(kube_list_page(self, kube, &NODES, NULL, &query, &list), ERR_INVALID,
                 "the parameter continue is too long for a request (65536 bytes)");
    assert_fails(kube_watch(self, kube, &NODES, NULL, &query, &stream), ERR_INVALID,
                 "the parameter continue is too long for a request (65536 bytes)");
}

static void test_what_is_too_long(void **state)
{
    (void)state;
    play(NULL, 0, NULL, ask_at_length);
}

/* ---- time ---- */

static void wait_in_vain(struct task *self, struct kube *kube)
{
    struct loop *loop = loop_of(self);
    uint64_t began = loop_now(loop);
    CLEANUP(kube_freep) struct kube *hasty = kube_urgent(kube, 700);

    assert_fails(kube_get(self, kube, &NODES, NULL, "n", NULL), ERR_TIMEOUT, "no answer");
    assert_int_equal(loop_now(loop) - began, KUBE_CALL_TIMEOUT_MS);
    began = loop_now(loop);
    assert_fails(kube_get(self, hasty, &NODES, NULL, "n", NULL), ERR_TIMEOUT, "no answer");
    assert_int_equal(loop_now(loop) - began, 700);
}

/* Who reads a list once has other plans, as failover has. */
static void page_in_vain(struct task *self, struct kube *kube)
{
    CLEANUP(kube_pages_fini) struct kube_pages pages;
    const struct kube_query query = {.limit = 5};
    json_t *page;

    kube_pages_init(&pages, kube, &NODES, NULL, &query);
    assert_fails(kube_pages_next(self, &pages, &page), ERR_TIMEOUT, "too late");
}

static void test_a_page_that_is_late_is_not_asked_for_again(void **state)
{
    static const struct script_step steps[] = {
        {.request = "GET /api/v1/nodes?limit=5", .takes_ms = 2 * KUBE_CALL_TIMEOUT_MS},
    };

    (void)state;
    play(steps, COUNT_OF(steps), NULL, page_in_vain);
}

static void wait_in_vain_main(struct task *self, void *arg)
{
    wait_in_vain(self, arg);
}

static void test_calls_have_a_time_limit(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct script script;

    (void)state;
    script_init(&script, loop, NULL, 0);
    CLEANUP(kube_freep) struct kube *kube = script_client(&script, NULL);
    loop_spawn(loop, "test", wait_in_vain_main, kube);
    loop_run(loop);
    assert_int_equal(script.unanswered, 2);
}

/* ---- tokens ---- */

#define ACCEPTED(token_)                                                                           \
    {                                                                                              \
        .request = "GET *", .status = 200, .answer = NODE, .token = (token_)                       \
    }
#define REJECTED(token_)                                                                           \
    {                                                                                              \
        .request = "GET *", .status = 401, .answer = STATUS("'message':'no'"), .token = (token_)   \
    }

static char token_path[] = "/tmp/test_kube_client.XXXXXX";

static void write_token(const char *text)
{
    FILE *file = fopen(token_path, "we");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void use_a_token(struct task *self, struct kube *kube)
{
    assert_ok(kube_get(self, kube, &NODES, NULL, "n", NULL)); /* 0: from the file */
    write_token("second\n");
    assert_ok(kube_get(self, kube, &NODES, NULL, "n", NULL)); /* 1: still the first */
    assert_ok(task_sleep(self, 60 * 1000));
    assert_ok(kube_get(self, kube, &NODES, NULL, "n", NULL)); /* 2: a minute old, so read again */
    write_token("third");
    assert_ok(kube_get(self, kube, &NODES, NULL, "n", NULL)); /* 3, 4: rejected, so read again */
    unlink(token_path);
    assert_ok(task_sleep(self, 60 * 1000));
    assert_ok(kube_get(self, kube, &NODES, NULL, "n", NULL)); /* 5: not there, so the one before */
    assert_fails(kube_get(self, kube, &NODES, NULL, "n", NULL), ERR_DENIED, /* 6, 7 */
                 "GET /api/v1/nodes/n: no (HTTP 401)");
    write_token("fourth");
    struct kube_query query = {.timeout_seconds = 1};
    struct http_stream *stream;
    assert_ok(task_sleep(self, 60 * 1000));
    write_token("fifth");
    assert_ok(kube_watch(self, kube, &NODES, NULL, &query, &stream)); /* 8, 9 */
    http_stream_close(stream);
}

static void test_tokens_are_read_again(void **state)
{
    const struct script_step steps[] = {
        ACCEPTED("first"),
        ACCEPTED("first"),
        ACCEPTED("second"),
        REJECTED("second"),
        ACCEPTED("third"),
        ACCEPTED("third"),
        REJECTED("third"),
        REJECTED("third"),
        REJECTED("fifth"),
        {.request = "GET *",
         .status = 200,
         .pieces = (const struct script_piece[]){{0, ""}},
         .token = "fifth"},
    };
    int fd = mkstemp(token_path);
    struct kube_config config = {.token_file = token_path};

    (void)state;
    close(fd);
    write_token("first\n");
    play(steps, COUNT_OF(steps), &config, use_a_token);
    unlink(token_path);
}

static void be_rejected(struct task *self, struct kube *kube)
{
    assert_fails(kube_get(self, kube, &NODES, NULL, "n", NULL), ERR_DENIED,
                 "GET /api/v1/nodes/n: no (HTTP 401)");
}

static void test_a_fixed_token_is_not_tried_twice(void **state)
{
    static const struct script_step steps[] = {
        REJECTED("fixed"),
    };
    char token[] = "fixed";

    (void)state;
    play(steps, COUNT_OF(steps), &(struct kube_config){.token = token}, be_rejected);
}

static void lack_a_token(struct task *self, struct kube *kube)
{
    assert_fails(kube_get(self, kube, &NODES, NULL, "n", NULL), ERR_DENIED, /* not: no such Node */
                 "token: /no/such/token: No such file or directory");
}

static void test_without_any_token_nothing_is_sent(void **state)
{
    char path[] = "/no/such/token";

    (void)state;
    play(NULL, 0, &(struct kube_config){.token_file = path}, lack_a_token);
}

/* ---- impersonation ---- */

static void be_somebody_else(struct task *self, struct kube *kube)
{
    CLEANUP(kube_freep) struct kube *urgent = kube_urgent(kube, 1000);
    CLEANUP(http_stream_closep) struct http_stream *stream = NULL;
    CLEANUP(json_decrefp) json_t *patch = document("{}");
    struct kube_query query = {.timeout_seconds = 60};

    assert_ok(kube_get(self, kube, &NODES, NULL, "n", NULL));
    assert_ok(kube_patch(self, urgent, &NODES, NULL, "n", NULL, patch, NULL));
    assert_ok(kube_watch(self, kube, &NODES, NULL, &query, &stream));
}

#define AS "Impersonate-User: bob, Impersonate-Group: a,b, Impersonate-Group: c"

static void test_every_request_is_somebody_elses(void **state)
{
    const struct script_step steps[] = {
        {.request = "GET /api/v1/nodes/n", .status = 200, .answer = NODE, .token = "t", .as = AS},
        {.request = "PATCH /api/v1/nodes/n {}", .status = 200, .answer = NODE, .as = AS},
        {.request = "GET *watch=true*",
         .status = 200,
         .pieces = (const struct script_piece[]){{0, ""}},
         .as = AS},
    };
    struct http_header headers[] = {
        {"Impersonate-User", "bob"}, {"Impersonate-Group", "a,b"}, {"Impersonate-Group", "c"}};
    char token[] = "t";

    (void)state;
    play(steps, COUNT_OF(steps),
         &(struct kube_config){.token = token, .impersonation = {headers, COUNT_OF(headers)}},
         be_somebody_else);
}

static void be_oneself(struct task *self, struct kube *kube)
{
    assert_ok(kube_get(self, kube, &NODES, NULL, "n", NULL));
}

static void test_nobody_else_unless_it_is_said(void **state)
{
    static const struct script_step steps[] = {
        {.request = "GET /api/v1/nodes/n", .status = 200, .answer = NODE, .as = ""},
    };

    (void)state;
    play(steps, COUNT_OF(steps), NULL, be_oneself);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_too_much_to_do),
        cmocka_unit_test(test_not_asked_for_ever),
        cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_what_is_too_long),
        cmocka_unit_test(test_calls_have_a_time_limit),
        cmocka_unit_test(test_a_page_that_is_late_is_not_asked_for_again),
        cmocka_unit_test(test_tokens_are_read_again),
        cmocka_unit_test(test_a_fixed_token_is_not_tried_twice),
        cmocka_unit_test(test_without_any_token_nothing_is_sent),
        cmocka_unit_test(test_every_request_is_somebody_elses),
        cmocka_unit_test(test_nobody_else_unless_it_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
