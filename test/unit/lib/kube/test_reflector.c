/* The reflector against a scripted API server, in virtual time: what it asks for, in which order
 * and when, what the store then holds, and what is reported. */
#include <stdlib.h>

#include "test/unit/lib/kube/reflector_scene.h"

static uint64_t gap(const struct scene *scene, size_t step)
{
    return scene->script.times[step] - scene->script.times[step - 1];
}

/* ---- what is asked for ---- */

static void test_a_list_then_events(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", ITEM("a", "1") "," ITEM("b", "2"))),
        SCRIPT_STREAM(WATCH("10"), {100, EVENT("ADDED", "c", "11")},
                      {100, EVENT("MODIFIED", "a", "12") EVENT("DELETED", "b", "13")}, QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), 1000);
    assert_string_equal(scene.content, "a=12 c=11 ");
    assert_string_equal(scene.failures, "");
    assert_int_equal(scene.script.unanswered, 0);
}

static void test_pages(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER("GET /api/v1/nodes?labelSelector=x%3Dy&fieldSelector=f"
                      "&resourceVersion=0&limit=2",
                      200, PAGE("10", "p/2", ITEM("a", "1") "," ITEM("b", "2"))),
        SCRIPT_ANSWER("GET /api/v1/nodes?labelSelector=x%3Dy&fieldSelector=f"
                      "&continue=p%2F2&limit=2",
                      200, PAGE("10", "p3", ITEM("c", "3"))),
        SCRIPT_ANSWER("GET /api/v1/nodes?labelSelector=x%3Dy&fieldSelector=f"
                      "&continue=p3&limit=2",
                      200, ITEMS("11", )),
        SCRIPT_STREAM("GET /api/v1/nodes?labelSelector=x%3Dy&fieldSelector=f"
                      "&resourceVersion=11&watch=true&allowWatchBookmarks=true&timeoutSeconds=*",
                      QUIET),
    };
    struct reflector_config config = {
        .label_selector = "x=y", .field_selector = "f", .few = true, .page_size = 2};
    struct scene scene;

    (void)state;
    play_with(&scene, config, steps, COUNT_OF(steps), 0, 1000);
    assert_string_equal(scene.content, "a=1 b=2 c=3 ");
}

static void test_pages_that_are_too_large(void **state)
{
    const struct script_step steps[] = {
        {.request = LIST, .too_large = true},
        {.request = "GET /api/v1/nodes?limit=250", .too_large = true},
        SCRIPT_ANSWER("GET /api/v1/nodes?limit=125", 200, PAGE("10", "p2", ITEM("a", "1"))),
        {.request = "GET /api/v1/nodes?continue=p2&limit=157", .too_large = true},
        SCRIPT_ANSWER("GET /api/v1/nodes?continue=p2&limit=78", 200,
                      PAGE("10", "p3", ITEM("b", "2"))),
        SCRIPT_ANSWER("GET /api/v1/nodes?continue=p3&limit=98", 200, ITEMS("10", ITEM("c", "3"))),
        SCRIPT_STREAM(WATCH("10"), QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), 1000);
    assert_string_equal(scene.content, "a=1 b=2 c=3 ");
    assert_string_equal(scene.failures, "");
}

enum { SLOW = 20 * 1000, LATE = MINUTE };

/* They become smaller until they come in time, and larger only where they come quickly. */
static void test_pages_that_are_too_late(void **state)
{
    const struct script_step steps[] = {
        {.request = LIST, .takes_ms = LATE},
        SCRIPT_ANSWER("GET /api/v1/nodes?limit=125", 200, PAGE("10", "p2", ITEM("a", "1"))),
        {.request = "GET /api/v1/nodes?continue=p2&limit=157", .takes_ms = LATE},
        {.request = "GET /api/v1/nodes?continue=p2&limit=40",
         .takes_ms = SLOW,
         .status = 200,
         .answer = PAGE("10", "p3", ITEM("b", "2"))},
        {.request = "GET /api/v1/nodes?continue=p3&limit=40",
         .takes_ms = SLOW,
         .status = 200,
         .answer = ITEMS("10", ITEM("c", "3"))},
        SCRIPT_ANSWER(WATCH("10"), 410, EXPIRED),
        SCRIPT_ANSWER("GET /api/v1/nodes?limit=40", 200, ITEMS("20", ITEM("a", "1"))),
        SCRIPT_STREAM(WATCH("20"), QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), 3 * MINUTE);
    assert_string_equal(scene.content, "a=1 ");
    assert_int_equal(scene.n_failures, 1); /* the place that was lost */
    assert_in_range(gap(&scene, 1), KUBE_CALL_TIMEOUT_MS, KUBE_CALL_TIMEOUT_MS + 10);
}

/* That a server hangs is told; the next list goes on where this one has come to. */
static void test_a_server_that_hangs(void **state)
{
    const struct script_step steps[] = {
        {.request = "GET /api/v1/nodes?resourceVersion=0&limit=500", .takes_ms = LATE},
        {.request = LIST, .takes_ms = LATE},
        {.request = "GET /api/v1/nodes?limit=125", .takes_ms = LATE},
        {.request = "GET /api/v1/nodes?limit=32", .takes_ms = LATE},
        {.request = "GET /api/v1/nodes?limit=8", .takes_ms = LATE},
        {.request = "GET /api/v1/nodes?limit=2", .takes_ms = LATE},
        {.request = "GET /api/v1/nodes?limit=1", .takes_ms = LATE},
        SCRIPT_ANSWER("GET /api/v1/nodes?limit=1", 200, PAGE("10", "p2", ITEM("a", "1"))),
        SCRIPT_ANSWER("GET /api/v1/nodes?continue=p2&limit=2", 200, ITEMS("10", ITEM("b", "2"))),
        {.request = WATCH("10"), .takes_ms = LATE},
        SCRIPT_STREAM(WATCH("10"), QUIET),
    };
    struct scene scene;

    (void)state;
    play_with(&scene, (struct reflector_config){.few = true}, steps, COUNT_OF(steps), 0,
              5 * MINUTE);
    assert_string_equal(scene.content, "a=1 b=2 ");
    assert_string_equal(scene.failures, "too late\ntoo late\ntoo late\ntoo late\n");
}

/* Somebody may make it smaller meanwhile. */
static void test_an_object_that_is_too_large_by_itself(void **state)
{
    static const char two[] = "GET /api/v1/nodes?limit=2", one[] = "GET /api/v1/nodes?limit=1";
    static const char then[] = "GET /api/v1/nodes?continue=p2&limit=1";
    const struct script_step steps[] = {
        {.request = two, .too_large = true},
        {.request = one, .too_large = true},
        SCRIPT_ANSWER(one, 200, PAGE("10", "p2", ITEM("a", "1"))),
        {.request = "GET /api/v1/nodes?continue=p2&limit=2", .too_large = true},
        {.request = then, .too_large = true},
        SCRIPT_ANSWER(one, 200, ITEMS("12", ITEM("a", "1") "," ITEM("b", "11"))),
        SCRIPT_STREAM(WATCH("12"), QUIET),
    };
    struct scene scene;

    (void)state;
    play_with(&scene, (struct reflector_config){.page_size = 2}, steps, COUNT_OF(steps), 0, MINUTE);
    assert_string_equal(scene.content, "a=1 b=11 ");
    assert_string_equal(scene.failures,
                        "the first of the nodes is too large to read (more than 64 MiB): reduce "
                        "its size or delete it\n"
                        "the object among the nodes that follows a in the order of names is too "
                        "large to read (more than 64 MiB): reduce its size or delete it\n");
    assert_in_range(gap(&scene, 2), 800, 1210);
    assert_in_range(gap(&scene, 5), 1600, 2410);
}

static void test_metadata_alone(void **state)
{
    const struct script_step steps[] = {
        {.request = LIST,
         .status = 200,
         .answer = ITEMS("10", ITEM("a", "1")),
         .accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
                   "application/json"},
        {.request = WATCH("10"),
         .status = 200,
         .pieces = (const struct script_piece[]){{1, EVENT("ADDED", "b", "11")}, QUIET},
         .accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
                   "application/json"},
    };
    struct scene scene;

    (void)state;
    play_with(&scene, (struct reflector_config){.metadata_only = true}, steps, COUNT_OF(steps), 0,
              1000);
    assert_string_equal(scene.content, "a=1 b=11 ");
}

/* Where they are few, the server may give out what it has at hand; not after it has said that the
 * watch is too old, nor if it proves to be too much at once. */
static void test_where_lists_come_from(void **state)
{
    static const char at_hand[] = "GET /api/v1/nodes?fieldSelector=f&resourceVersion=0&limit=500";
    static const char newest[] = "GET /api/v1/nodes?fieldSelector=f&limit=500";
    static const char watch[] = "GET /api/v1/nodes?fieldSelector=f&resourceVersion=*";
    const struct script_step steps[] = {
        {.request = at_hand, .too_large = true},
        SCRIPT_BREAK(newest),
        SCRIPT_ANSWER(newest, 200, ITEMS("10", )),
        SCRIPT_ANSWER(watch, 410, EXPIRED),
        SCRIPT_BREAK(newest),
        SCRIPT_ANSWER(newest, 200, ITEMS("20", ITEM("a", "20"))),
        SCRIPT_STREAM(watch, QUIET),
    };
    struct scene scene;

    (void)state;
    play_with(&scene, (struct reflector_config){.field_selector = "f", .few = true}, steps,
              COUNT_OF(steps), 0, HOUR);
    assert_string_equal(scene.content, "a=20 ");
}

/* The server ends each watch after a while; the next one begins where it was, at once. */
static void test_a_watch_that_ends_goes_on(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", )),
        SCRIPT_STREAM(WATCH("10"), {MINUTE, EVENT("ADDED", "a", "11")}, {MINUTE, ""}),
        SCRIPT_STREAM(WATCH("11"), {MINUTE, BOOKMARK("50")}, {MINUTE, ""}),
        SCRIPT_STREAM(WATCH("50"), QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), 5 * MINUTE);
    assert_string_equal(scene.content, "a=11 ");
    assert_string_equal(scene.failures, "");
    assert_in_range(gap(&scene, 2), 2 * MINUTE, 2 * MINUTE + 10);
    assert_in_range(gap(&scene, 3), 2 * MINUTE, 2 * MINUTE + 10);
}

/* A server that hangs, or vanished without a word, says nothing, not even bookmarks. */
static void test_a_silent_watch_is_begun_anew(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", )),
        SCRIPT_STREAM(WATCH("10"), {2 * MINUTE, BOOKMARK("11")}, {2 * MINUTE, BOOKMARK("12")},
                      QUIET),
        SCRIPT_STREAM(WATCH("12"), {1, EVENT("ADDED", "a", "13")}, QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), 8 * MINUTE);
    assert_string_equal(scene.content, "a=13 ");
    assert_string_equal(scene.failures, "");
    assert_in_range(gap(&scene, 2), 4 * MINUTE + 150000, 4 * MINUTE + 150010);
}

/* ---- catching up ---- */

#define B(version) "{'metadata':{'name':'b','uid':'of-b','resourceVersion':'" version "'}}"

/* What the watch has not told yet is known at once, and the watch may tell it again; so is what is
 * gone, whatever it still tells of its life; and what it has said is gone does not come back. */
static void test_catching_up_beside_a_watch_that_is_late(void **state)
{
    const struct script_step newer[] = {
        /* than the list */
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", ITEM("a", "1") "," B("2"))),
        SCRIPT_STREAM(WATCH("10"), {10, EVENT("ADDED", "d", "11") EVENT("DELETED", "d", "13")},
                      QUIET),
        SCRIPT_ANSWER(LIST, 200, PAGE("12", "more", ITEM("a", "1"))),
        SCRIPT_ANSWER("GET /api/v1/nodes?continue=more&limit=500", 200,
                      ITEMS("12", B("2") "," ITEM("d", "11"))),
    };
    const struct script_step told[] = {
        newer[0],
        SCRIPT_STREAM(WATCH("10"), {MINUTE, "{'type':'MODIFIED','object':" B("12") "}\n"},
                      {1, "{'type':'DELETED','object':" B("13") "}\n"},
                      {1, EVENT("ADDED", "c", "14") EVENT("MODIFIED", "a", "15")}, QUIET),
        SCRIPT_ANSWER(LIST, 200, PAGE("20", "more", ITEM("a", "15"))),
        SCRIPT_ANSWER("GET /api/v1/nodes?continue=more&limit=500", 200,
                      ITEMS("20", ITEM("c", "14") "," ITEM("d", "11"))),
    };
    struct scene scene;

    (void)state;
    play_with(&scene, (struct reflector_config){.page_size = 0}, newer, COUNT_OF(newer), 1000,
              2000);
    assert_string_equal(scene.content, "a=1 b=2 ");
    play_with(&scene, (struct reflector_config){.page_size = 0}, told, COUNT_OF(told), 1000,
              2 * MINUTE);
    assert_string_equal(scene.content, "a=15 c=14 d=11 ");
    assert_int_equal(scene.changes, 6); /* nothing is taken twice */
}

/* ---- how events arrive ---- */

static void test_events_in_any_pieces(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", )),
        SCRIPT_STREAM(WATCH("10"), {1, "{'type':'ADD"}, {1, "ED','object':"}, {1, "{'metadata':"},
                      {1, "{'name':'a','resourceVersion':'11'}}}"},
                      {1, "\n" EVENT("ADDED", "b", "12") EVENT("DELETED", "b", "13") "{'ty"},
                      {1, "pe':'ADDED','object':" ITEM("c", "14") "}\n"}, QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), 1000);
    assert_string_equal(scene.content, "a=11 c=14 ");
    assert_int_equal(scene.changes, 4); /* nothing is taken twice */
}

/* The half event counts for nothing; it comes again as a whole. */
static void test_a_connection_lost_in_the_middle_of_an_event(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", )),
        SCRIPT_STREAM(WATCH("10"), {1, EVENT("ADDED", "a", "11") "{'type':'ADDED','obj"},
                      {1, NULL}),
        SCRIPT_STREAM(WATCH("11"), {1, EVENT("ADDED", "b", "12")}, QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), MINUTE);
    assert_string_equal(scene.content, "a=11 b=12 ");
    assert_string_equal(scene.failures, "the connection broke\n");
    assert_in_range(gap(&scene, 2), 800, 1210);
}

/* The new connection tells again what the old one had told. */
static void test_events_that_come_twice(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", )),
        SCRIPT_STREAM(WATCH("10"), {1, EVENT("ADDED", "a", "11") EVENT("MODIFIED", "a", "12")},
                      {1, NULL}),
        SCRIPT_STREAM(WATCH("12"), {1, EVENT("ADDED", "a", "11") EVENT("MODIFIED", "a", "12")},
                      {1, EVENT("ADDED", "b", "13") EVENT("ADDED", "b", "13")}, QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), MINUTE);
    assert_string_equal(scene.content, "a=12 b=13 ");
    assert_int_equal(scene.changes, 3);
}

/* What is no JSON would come again from the same place. */
static void test_nonsense_in_a_watch(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", )),
        SCRIPT_STREAM(WATCH("10"), {1, EVENT("ADDED", "a", "11") "nonsense\n"}, QUIET),
        SCRIPT_ANSWER(LIST, 200, ITEMS("20", ITEM("a", "11"))),
        SCRIPT_STREAM(WATCH("20"), {1, "{}\n"}, QUIET),
        SCRIPT_STREAM(WATCH("20"), {1, "{'type':'ADDED'}\n"}, QUIET),
        SCRIPT_STREAM(WATCH("20"), {1, EVENT("ADDED", "b", "21")}, QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), MINUTE);
    assert_string_equal(scene.content, "a=11 b=21 ");
    assert_string_equal(scene.failures,
                        "not JSON: line 1, column 8: invalid token near 'nonsense'\n"
                        "a watch event without a type or an object\n"
                        "a watch event without a type or an object\n");
}

/* ---- objects that make no sense ---- */

static const char senseless[] = "Node: spec: expected an object, not a list";

/* They come in the same watch as all others, which goes on behind them. */
static void test_senseless_objects_in_a_watch(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", ITEM("a", "1") "," ITEM("b", "2"))),
        SCRIPT_STREAM(WATCH("10"), {1, "{'type':'MODIFIED','object':" SENSELESS("a", "11") "}\n"},
                      {1, "{'type':'ADDED','object':{}}\n" EVENT("ADDED", "c", "12")},
                      {1, "{'type':'DELETED','object':" SENSELESS("b", "13") "}\n"}, {1, ""}),
        SCRIPT_STREAM(WATCH("13"), {1, EVENT("MODIFIED", "a", "14")}, QUIET),
    };
    CLEANUP(freep)
    char *failures = mem_printf("a: %s\nNode without metadata.name\nb: %s\n", senseless, senseless);
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), MINUTE);
    assert_string_equal(scene.content, "a=14 c=12 ");
    assert_string_equal(scene.failures, failures);
    assert_int_equal(scene.changes, 5); /* it stays until it can be read again, or is deleted */
}

/* Nor does one in a list cost the list; what was known of it stays. */
static void test_senseless_objects_in_a_list(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(
            LIST, 200,
            ITEMS("10", ITEM("a", "1") ",{},5," SENSELESS("new", "3") "," ITEM("b", "2"))),
        SCRIPT_ANSWER(WATCH("10"), 410, EXPIRED),
        SCRIPT_ANSWER(LIST, 200, ITEMS("20", SENSELESS("a", "15"))),
        SCRIPT_STREAM(WATCH("20"), QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), MINUTE);
    assert_string_equal(scene.content, "a=1 ");
    assert_int_equal(scene.n_failures, 5); /* four objects, and the place that was lost */
}

/* Nor does a number that no parser takes, wherever it comes. */
static void test_numbers_that_are_too_long(void **state)
{
#define STRANGE(name, version)                                                                     \
    "{'metadata':{'name':'" name "','resourceVersion':'" version "'},'x':12345678901234567890}"
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", STRANGE("a", "1") "," ITEM("b", "2"))),
        SCRIPT_STREAM(WATCH("10"), {1, "{'type':'ADDED','object':" STRANGE("c", "11") "}\n"},
                      {1, EVENT("ADDED", "d", "12")}, QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), MINUTE);
    assert_string_equal(scene.content, "a=1 b=2 c=11 d=12 ");
    assert_string_equal(scene.failures, "");
}

/* From the same place it would come again; a list has room for its object. */
static void test_an_event_that_is_too_large(void **state)
{
    static char piece[1024 * 1024];
    struct script_step steps[] = {
        SCRIPT_ANSWER("GET /api/v1/nodes?resourceVersion=0&limit=500", 200,
                      ITEMS("10", ITEM("a", "1") "," ITEM("gone", "2"))),
        SCRIPT_STREAM(WATCH("10"), {1, EVENT("MODIFIED", "a", "11")}, {1, piece}, {1, piece},
                      {1, piece}, {1, piece}, {1, piece}, QUIET),
        SCRIPT_ANSWER(LIST, 200, ITEMS("20", ITEM("a", "11") "," ITEM("large", "12"))),
        SCRIPT_STREAM(WATCH("20"), {1, EVENT("ADDED", "b", "21")}, QUIET),
    };
    struct scene scene;

    (void)state;
    memset(piece, ' ', sizeof piece - 1);
    play_with(&scene, (struct reflector_config){.few = true}, steps, COUNT_OF(steps), 0, MINUTE);
    assert_string_equal(scene.content, "a=11 large=12 b=21 ");
    assert_string_equal(scene.failures, "a watch event is larger than 4194304 bytes\n");
    assert_int_equal(scene.script.unanswered, 0);
    assert_in_range(gap(&scene, 2), 800, 1210);
}

/* ---- when the place is lost ---- */

static void test_a_watch_from_too_long_ago(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", ITEM("a", "1") "," ITEM("gone", "2"))),
        SCRIPT_STREAM(WATCH("10"), {MINUTE, ""}),
        SCRIPT_ANSWER(WATCH("10"), 410, EXPIRED),
        SCRIPT_ANSWER(LIST, 200, ITEMS("90", ITEM("a", "1") "," ITEM("b", "80"))),
        SCRIPT_STREAM(WATCH("90"), {MINUTE, ERROR_EVENT("410", "Expired")}, QUIET),
        SCRIPT_ANSWER(LIST, 200, ITEMS("99", ITEM("b", "98"))),
        SCRIPT_STREAM(WATCH("99"), QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), 5 * MINUTE);
    assert_string_equal(scene.content, "b=98 ");
    assert_true(script_matches("watch /api/v1/nodes?resourceVersion=10&watch=true*"
                               ": too old (HTTP 410)\nExpired (HTTP 410)\n",
                               scene.failures));
}

/* By etcd's manual its revision is later then, without it it is earlier. */
static void test_a_server_that_was_restored(void **state)
{
    static const char *const lists[] = {
        ITEMS("1000", ITEM("changed", "30") "," ITEM("deleted", "40")),
        ITEMS("50", ITEM("changed", "30") "," ITEM("deleted", "40"))};
    static const char *const watches[] = {WATCH("1000"), WATCH("50")};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        const struct script_step steps[] = {
            SCRIPT_ANSWER(LIST, 200, ITEMS("55", ITEM("changed", "30") "," ITEM("deleted", "40"))),
            SCRIPT_STREAM(WATCH("55"),
                          {1, EVENT("MODIFIED", "changed", "60") EVENT("ADDED", "made", "61")
                                  EVENT("DELETED", "deleted", "62")},
                          {1, ""}),
            SCRIPT_ANSWER(WATCH("62"), 410, EXPIRED),
            SCRIPT_ANSWER(LIST, 200, lists[i]),
            SCRIPT_STREAM(watches[i], QUIET),
        };
        struct scene scene;

        play(&scene, steps, COUNT_OF(steps), MINUTE);
        assert_string_equal(scene.content, "changed=30 deleted=40 ");
    }
}

/* Whatever the server complains of in the middle of a watch, a new list gets over it. */
static void test_an_error_event_of_any_kind(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", )),
        SCRIPT_STREAM(WATCH("10"), {1, ERROR_EVENT("500", "InternalError")}, QUIET),
        SCRIPT_ANSWER(LIST, 200, ITEMS("20", ITEM("a", "15"))),
        SCRIPT_STREAM(WATCH("20"), QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), MINUTE);
    assert_string_equal(scene.content, "a=15 ");
    assert_string_equal(scene.failures, "InternalError (HTTP 500)\n");
}

static void test_a_list_that_expires_between_pages(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, PAGE("10", "p2", ITEM("a", "1"))),
        SCRIPT_ANSWER("GET /api/v1/nodes?continue=p2&limit=500", 410, EXPIRED),
        SCRIPT_ANSWER(LIST, 200, ITEMS("20", ITEM("b", "15"))),
        SCRIPT_STREAM(WATCH("20"), QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), MINUTE);
    assert_string_equal(scene.content, "b=15 ");
    assert_in_range(gap(&scene, 2), 800, 1210);
}

static void test_a_list_that_breaks_off(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_BREAK(LIST),
        SCRIPT_ANSWER(LIST, 200, PAGE("10", "p2", ITEM("a", "1"))),
        SCRIPT_BREAK("GET /api/v1/nodes?continue=p2&limit=500"),
        SCRIPT_ANSWER(LIST, 200, "{'items':[]}"),
        SCRIPT_ANSWER(LIST, 200, ITEMS("20", ITEM("b", "15"))),
        SCRIPT_STREAM(WATCH("20"), QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), MINUTE);
    assert_string_equal(scene.content, "b=15 ");
    assert_string_equal(scene.failures, "the connection broke\nthe connection broke\n"
                                        "a list without a resourceVersion\n");
}

/* ---- pauses ---- */

enum { FAILURES = 20 };

/* 0.8 s, doubling up to 5 s, and up to half as much again. */
enum { LEAST_PAUSE = 800, LONGEST_PAUSE = 5000 };

static uint64_t next_pause(uint64_t least)
{
    return 2 * least < LONGEST_PAUSE ? 2 * least : LONGEST_PAUSE;
}

static void check_pauses(const struct scene *scene, size_t first)
{
    uint64_t least = LEAST_PAUSE;

    for (size_t i = first; i < scene->script.n; i++, least = next_pause(least))
        assert_in_range(gap(scene, i), least, least + least / 2 + 2);
}

static void test_pauses_while_nobody_answers(void **state)
{
    struct script_step steps[FAILURES];
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < FAILURES; i++)
        steps[i] = (struct script_step)SCRIPT_BREAK(LIST);
    play(&scene, steps, FAILURES, 15 * MINUTE);
    assert_true(scene.n_failures >= FAILURES); /* one for each */
    check_pauses(&scene, 1);
}

static void test_pauses_while_a_watch_breaks_at_once(void **state)
{
    static const struct script_piece broken[] = {{0, NULL}};
    struct script_step steps[FAILURES] = {SCRIPT_ANSWER(LIST, 200, ITEMS("10", ))};
    struct scene scene;

    (void)state;
    for (size_t i = 1; i < FAILURES; i++)
        steps[i] = (struct script_step){.request = WATCH("10"), .status = 200, .pieces = broken};
    play(&scene, steps, FAILURES, 15 * MINUTE);
    check_pauses(&scene, 2);
}

static void test_pauses_while_a_watch_ends_at_once(void **state)
{
    static const struct script_piece ended[] = {{0, ""}};
    struct script_step steps[FAILURES] = {SCRIPT_ANSWER(LIST, 200, ITEMS("10", ))};
    struct scene scene;

    (void)state;
    for (size_t i = 1; i < FAILURES; i++)
        steps[i] = (struct script_step){.request = WATCH("10"), .status = 200, .pieces = ended};
    play(&scene, steps, FAILURES, 15 * MINUTE);
    assert_in_range(scene.script.unanswered - scene.n_failures, 0, 1); /* an end is no failure */
    check_pauses(&scene, 2);
}

static void test_pauses_while_every_watch_is_too_late(void **state)
{
    struct script_step steps[FAILURES] = {SCRIPT_ANSWER(LIST, 200, ITEMS("10", ))};
    struct scene scene;
    uint64_t least = LEAST_PAUSE;

    (void)state;
    for (size_t i = 1; i < FAILURES; i++)
        steps[i] = i % 2 ? (struct script_step)SCRIPT_ANSWER(WATCH("10"), 410, EXPIRED)
                         : (struct script_step)SCRIPT_ANSWER(LIST, 200, ITEMS("10", ));
    play(&scene, steps, FAILURES, 15 * MINUTE);
    for (size_t i = 2; i < FAILURES; i += 2, least = next_pause(least))
        assert_in_range(gap(&scene, i), least, LONGEST_PAUSE + LONGEST_PAUSE / 2 + 2);
}

static void test_pauses_start_anew_after_a_good_while(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_BREAK(LIST),
        SCRIPT_BREAK(LIST),
        SCRIPT_BREAK(LIST),
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", )),
        SCRIPT_STREAM(WATCH("10"), {MINUTE, NULL}),
        SCRIPT_STREAM(WATCH("10"), QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), 3 * MINUTE);
    assert_in_range(gap(&scene, 3), 3200, 4802);
    assert_in_range(gap(&scene, 5), MINUTE + 800, MINUTE + 1202);
}

/* As while the servers of a cluster are replaced one after the other. */
static void test_pauses_stay_short_while_there_is_progress(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", )),
        SCRIPT_STREAM(WATCH("10"), {1, EVENT("ADDED", "a", "11")}, {1, NULL}),
        SCRIPT_BREAK(WATCH("11")),
        SCRIPT_STREAM(WATCH("11"), {1, BOOKMARK("12")}, {1, NULL}),
        SCRIPT_STREAM(WATCH("12"), {1, EVENT("ADDED", "b", "13")}, {1, NULL}),
        SCRIPT_STREAM(WATCH("13"), QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), MINUTE);
    assert_in_range(gap(&scene, 2), 800, 1204);
    assert_in_range(gap(&scene, 3), 1600, 2404);
    assert_in_range(gap(&scene, 4), 800, 1204);
    assert_in_range(gap(&scene, 5), 800, 1204);
}

static void test_a_busy_server_is_left_alone_for_as_long_as_it_says(void **state)
{
    const struct script_step steps[] = {
        {.request = LIST, .status = 429, .answer = "", .header = "Retry-After", .value = "100"},
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", ITEM("a", "1"))),
        {.request = WATCH("10"), .status = 429, .header = "Retry-After", .value = "7"},
        SCRIPT_STREAM(WATCH("10"), {1, ERROR_EVENT("429", "TooManyRequests")}, QUIET),
        SCRIPT_STREAM(WATCH("10"), QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), HOUR);
    assert_string_equal(scene.content, "a=1 ");
    assert_in_range(gap(&scene, 1), 100000, 100010);
    assert_in_range(gap(&scene, 3), 7000, 7010);
    assert_in_range(gap(&scene, 4), 800, 30000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_list_then_events),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_pages_that_are_too_large),
        cmocka_unit_test(test_pages_that_are_too_late),
        cmocka_unit_test(test_a_server_that_hangs),
        cmocka_unit_test(test_an_object_that_is_too_large_by_itself),
        cmocka_unit_test(test_metadata_alone),
        cmocka_unit_test(test_where_lists_come_from),
        cmocka_unit_test(test_a_watch_that_ends_goes_on),
        cmocka_unit_test(test_a_silent_watch_is_begun_anew),
        cmocka_unit_test(test_catching_up_beside_a_watch_that_is_late),
        cmocka_unit_test(test_events_in_any_pieces),
        cmocka_unit_test(test_a_connection_lost_in_the_middle_of_an_event),
        cmocka_unit_test(test_events_that_come_twice),
        cmocka_unit_test(test_nonsense_in_a_watch),
        cmocka_unit_test(test_senseless_objects_in_a_watch),
        cmocka_unit_test(test_senseless_objects_in_a_list),
        cmocka_unit_test(test_numbers_that_are_too_long),
        cmocka_unit_test(test_an_event_that_is_too_large),
        cmocka_unit_test(test_a_watch_from_too_long_ago),
        cmocka_unit_test(test_a_server_that_was_restored),
        cmocka_unit_test(test_an_error_event_of_any_kind),
        cmocka_unit_test(test_a_list_that_expires_between_pages),
        cmocka_unit_test(test_a_list_that_breaks_off),
        cmocka_unit_test(test_pauses_while_nobody_answers),
        cmocka_unit_test(test_pauses_while_a_watch_breaks_at_once),
        cmocka_unit_test(test_pauses_while_a_watch_ends_at_once),
        cmocka_unit_test(test_pauses_while_every_watch_is_too_late),
        cmocka_unit_test(test_pauses_start_anew_after_a_good_while),
        cmocka_unit_test(test_pauses_stay_short_while_there_is_progress),
        cmocka_unit_test(test_a_busy_server_is_left_alone_for_as_long_as_it_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
