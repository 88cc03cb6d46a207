/* What watches and lists see, when, and of which past. */
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/kube/reflector.h"
#include "test/unit/test/sim/kube/stage.h"

#define ATTACHMENTS "/apis/disk.csi.azure.com/v1beta2/namespaces/ns/azvolumeattachments"
#define WATCH ATTACHMENTS "?watch=true&allowWatchBookmarks=true&timeoutSeconds=300"

static void expect_end(struct task *self, struct stage *stage, struct http_stream *stream)
{
    const char *data;
    size_t length;

    assert_ok(stream->read(stream, self, loop_deadline(stage->loop, 60 * 1000), &data, &length));
    assert_int_equal(length, 0);
}

static void expect_silence(struct task *self, struct stage *stage, struct http_stream *stream,
                           uint64_t ms)
{
    const char *data;
    size_t length;
    struct err *err = stream->read(stream, self, loop_deadline(stage->loop, ms), &data, &length);

    assert_non_null(err);
    assert_int_equal(err_kind(err), ERR_TIMEOUT);
    err_free(err);
}

static char *watch_from(uint64_t revision)
{
    return mem_printf(WATCH "&resourceVersion=%llu", (unsigned long long)revision);
}

static void tells_every_change(struct task *self, struct stage *stage)
{
    stage_create(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "{'metadata':{'name':'a'}}");
    CLEANUP(freep) char *path = watch_from(kube_server_revision(stage->server));
    CLEANUP(http_stream_closep) struct http_stream *stream = stage_watch(self, stage, path);

    stage_create(stage, &AZ_VOLUME_ATTACHMENTS, "other", "{'metadata':{'name':'x'}}");
    stage_create(stage, &AZ_VOLUMES, "ns", "{'metadata':{'name':'x'}}");
    stage_create(stage, &AZ_VOLUME_ATTACHMENTS, "ns",
                 "{'metadata':{'name':'b','finalizers':['f/f']}}");
    stage_patch(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "a", "status", "{'status':{'s':'1'}}");
    assert_ok(kube_server_delete(stage->server, &AZ_VOLUME_ATTACHMENTS, "ns", "b"));
    stage_patch(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "b", NULL, "{'metadata':{'finalizers':null}}");
    stage_expect_line(self, stage, stream, "{'type':'ADDED','object':{'metadata':{'name':'b'");
    stage_expect_line(self, stage, stream, "'status':{'s':'1'}");
    stage_expect_line(self, stage, stream, "{'type':'MODIFIED','object':{'metadata':{'name':'b'");
    stage_expect_line(self, stage, stream, "{'type':'DELETED','object':{'metadata':{'name':'b'");
    expect_silence(self, stage, stream, 1000);
}

static void begins_with_what_is_there(struct task *self, struct stage *stage)
{
    stage_create(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "{'metadata':{'name':'b'}}");
    stage_create(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "{'metadata':{'name':'a'}}");
    stage_patch(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "a", NULL, "{'spec':{'x':1}}");
    CLEANUP(http_stream_closep) struct http_stream *stream = stage_watch(self, stage, WATCH);

    stage_patch(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "a", NULL, "{'spec':{'x':2}}");
    stage_expect_line(self, stage, stream, "{'type':'ADDED','object':{'metadata':{'name':'a'");
    stage_expect_line(self, stage, stream, "{'type':'ADDED','object':{'metadata':{'name':'b'");
    stage_expect_line(self, stage, stream, "{'type':'MODIFIED','object':{'metadata':{'name':'a'");
    kube_server_break_watches(stage->server, &AZ_VOLUMES);
    expect_silence(self, stage, stream, 1000);
    kube_server_break_watches(stage->server, NULL);
    const char *data;
    size_t length;
    assert_fails(stream->read(stream, self, TIMER_NEVER, &data, &length), ERR_UNAVAILABLE,
                 "the connection of the watch broke");
}

static void selects_by_labels(struct task *self, struct stage *stage)
{
    CLEANUP(http_stream_closep)
    struct http_stream *stream =
        stage_watch(self, stage, WATCH "&labelSelector=node%20in%20(a%2Cb)%2C!gone");

    stage_create(stage, &AZ_VOLUME_ATTACHMENTS, "ns",
                 "{'metadata':{'name':'x','labels':{'node':'c'}}}");
    stage_patch(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "x", NULL,
                "{'metadata':{'labels':{'node':'b'}}}");
    uint64_t selected = kube_server_revision(stage->server);
    stage_patch(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "x", NULL, "{'spec':{'y':1}}");
    stage_patch(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "x", NULL,
                "{'metadata':{'labels':{'gone':''}}}");
    CLEANUP(freep)
    char *last = mem_printf("'resourceVersion':'%llu'", (unsigned long long)selected + 2);
    stage_expect_line(self, stage, stream, "{'type':'ADDED'");
    stage_expect_line(self, stage, stream, "{'type':'MODIFIED'");
    stage_patch(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "x", NULL, "{'spec':{'y':2}}");
    stage_expect_line(self, stage, stream, last);
    expect_silence(self, stage, stream, 1000);
}

static void sends_bookmarks_and_ends(struct task *self, struct stage *stage)
{
    CLEANUP(freep) char *path = watch_from(kube_server_revision(stage->server));
    CLEANUP(http_stream_closep) struct http_stream *stream = stage_watch(self, stage, path);
    uint64_t began = loop_now(stage->loop);

    stage_create(stage, &NODES, NULL, "{'metadata':{'name':'n'}}");
    for (unsigned i = 1; i <= 4; i++) {
        stage_expect_line(self, stage, stream,
                          "{'type':'BOOKMARK','object':{'kind':'AzVolumeAttachment','apiVersion':"
                          "'disk.csi.azure.com/v1beta2','metadata':{'resourceVersion':'2',");
        assert_int_equal(loop_now(stage->loop) - began, i * 60 * 1000);
    }
    stage_expect_line(self, stage, stream, "{'type':'BOOKMARK'");
    expect_end(self, stage, stream);
    assert_int_equal(loop_now(stage->loop) - began, 300 * 1000);
}

static void forgets_the_past(struct task *self, struct stage *stage)
{
    CLEANUP(freep) char *old = watch_from(kube_server_revision(stage->server));
    CLEANUP(http_stream_closep) struct http_stream *slow = stage_watch(self, stage, old);
    CLEANUP(freep) char *answer = NULL;

    stage_create(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "{'metadata':{'name':'a'}}");
    kube_server_compact(stage->server);
    stage_expect_line(self, stage, slow, "{'type':'ADDED'"); /* who watches already loses nothing */
    CLEANUP(http_stream_closep) struct http_stream *late = stage_watch(self, stage, old);
    stage_expect_line(self, stage, late, "{'type':'ERROR','object':{'kind':'Status'");
    expect_end(self, stage, late);

    kube_server_behaviour(stage->server)->gone_is_a_status = true;
    assert_int_equal(
        stage_ask(self, stage, "GET", ATTACHMENTS "?limit=1&continue=1:a", NULL, &answer), 410);

    for (unsigned i = 0; i < 2000; i++) {
        CLEANUP(freep) char *patch = mem_printf("{'spec':{'i':%u}}", i);

        stage_patch(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "a", NULL, patch);
    }
    expect_end(self, stage, slow);
}

static void lags_kind_by_kind(struct task *self, struct stage *stage)
{
    CLEANUP(http_stream_closep) struct http_stream *late = stage_watch(self, stage, WATCH);
    CLEANUP(http_stream_closep)
    struct http_stream *prompt = stage_watch(self, stage, "/api/v1/nodes?watch=1");
    CLEANUP(freep) char *before = NULL;
    CLEANUP(freep) char *newest = NULL;

    kube_server_delay_watches(stage->server, &AZ_VOLUME_ATTACHMENTS, 5000);
    stage_create(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "{'metadata':{'name':'a'}}");
    kube_server_delay_watches(stage->server, &AZ_VOLUME_ATTACHMENTS, 0);
    stage_create(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "{'metadata':{'name':'b'}}");
    stage_create(stage, &NODES, NULL, "{'metadata':{'name':'n'}}");
    stage_expect_line(self, stage, prompt, "{'type':'ADDED'");
    expect_silence(self, stage, late, 4999);
    stage_ask(self, stage, "GET", ATTACHMENTS "?resourceVersion=0", NULL, &before);
    assert_non_null(strstr(before, "\"items\":[]"));
    stage_ask(self, stage, "GET", ATTACHMENTS, NULL, &newest);
    assert_non_null(strstr(newest, "\"name\":\"b\""));
    stage_expect_line(self, stage, late, "{'type':'ADDED','object':{'metadata':{'name':'a'");
    stage_expect_line(self, stage, late, "{'type':'ADDED','object':{'metadata':{'name':'b'");
}

static void serves_lists_of_the_past(struct task *self, struct stage *stage)
{
    CLEANUP(freep) char *stale = NULL;

    stage_create(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "{'metadata':{'name':'a'}}");
    err_free(task_sleep(self, 10 * 1000));
    assert_ok(kube_server_delete(stage->server, &AZ_VOLUME_ATTACHMENTS, "ns", "a"));
    stage_create(stage, &AZ_VOLUME_ATTACHMENTS, "ns", "{'metadata':{'name':'b'}}");
    kube_server_behaviour(stage->server)->list_lag_ms = 1000;
    stage_ask(self, stage, "GET", ATTACHMENTS "?resourceVersion=0", NULL, &stale);
    assert_non_null(strstr(stale, "\"resourceVersion\":\"2\"},\"items\":[{"));
    assert_non_null(strstr(stale, "\"name\":\"a\""));
    assert_null(strstr(stale, "\"name\":\"b\""));
}

static void pages_one_state(struct task *self, struct stage *stage)
{
    struct kube_query query = {.limit = 2};
    CLEANUP(json_decrefp) json_t *first = NULL;
    CLEANUP(json_decrefp) json_t *second = NULL;

    stage_create(stage, &NODES, NULL, "{'metadata':{'name':'a'}}");
    stage_create(stage, &NODES, NULL, "{'metadata':{'name':'b'}}");
    stage_create(stage, &NODES, NULL, "{'metadata':{'name':'d'},'spec':{'x':1}}");
    assert_ok(kube_list_page(self, stage->kube, &NODES, NULL, &query, &first));
    assert_int_equal(json_array_size(json_object_get(first, "items")), 2);
    const json_t *token = json_object_get(json_object_get(first, "metadata"), "continue");
    stage_create(stage, &NODES, NULL, "{'metadata':{'name':'c'}}");
    stage_patch(stage, &NODES, NULL, "d", NULL, "{'spec':{'x':2}}");

    query.continue_token = json_string_value(token);
    assert_ok(kube_list_page(self, stage->kube, &NODES, NULL, &query, &second));
    const json_t *items = json_object_get(second, "items");
    assert_int_equal(json_array_size(items), 1);
    const json_t *spec = json_object_get(json_array_get(items, 0), "spec");
    assert_int_equal(json_integer_value(json_object_get(spec, "x")), 1);
    assert_null(json_object_get(json_object_get(second, "metadata"), "continue"));
}

/* ---- the end of the server ---- */

static struct http_stream *unfinished; /* outlives the server */
static bool broke;

static void read_for_ever(struct task *self, void *arg)
{
    const char *data;
    size_t length;

    (void)arg;
    assert_fails(unfinished->read(unfinished, self, TIMER_NEVER, &data, &length), ERR_UNAVAILABLE,
                 "the connection of the watch broke");
    broke = true;
}

static void leaves_while_somebody_reads(struct task *self, struct stage *stage)
{
    unfinished = stage_watch(self, stage, WATCH);
    broke = false;
    loop_spawn(stage->loop, "reader", read_for_ever, NULL);
    assert_ok(task_sleep(self, 1000));
    assert_false(broke);
}

#define PLAY(body)                                                                                 \
    static void body##_test(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        stage_play(body);                                                                          \
    }
PLAY(tells_every_change)
PLAY(begins_with_what_is_there)
PLAY(selects_by_labels)
PLAY(sends_bookmarks_and_ends)
PLAY(forgets_the_past)
PLAY(lags_kind_by_kind)
PLAY(serves_lists_of_the_past)
PLAY(pages_one_state)

static void breaks_readers_at_its_end_test(void **state)
{
    (void)state;
    stage_play(leaves_while_somebody_reads);
    assert_true(broke);
    http_stream_close(unfinished);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_every_change_test),
        cmocka_unit_test(begins_with_what_is_there_test),
        cmocka_unit_test(selects_by_labels_test),
        cmocka_unit_test(sends_bookmarks_and_ends_test),
        cmocka_unit_test(forgets_the_past_test),
        cmocka_unit_test(lags_kind_by_kind_test),
        cmocka_unit_test(serves_lists_of_the_past_test),
        cmocka_unit_test(pages_one_state_test),
        cmocka_unit_test(breaks_readers_at_its_end_test),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
