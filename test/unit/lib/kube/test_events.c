/* Events as the API server gets to see them, in virtual time. */
#include "lib/kube/events.h"

#include <stdlib.h>

#include "lib/api/resources.h"
#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/objects.h"
#include "test/unit/lib/kube/script.h"

enum { MINUTE = 60 * 1000 };

#define EVENTS_OF(namespace) "/apis/events.k8s.io/v1/namespaces/" namespace "/events"
#define CREATE(note) "POST " EVENTS_OF("ns") " *'note':'" note "'*"
#define COUNT(n) "PATCH " EVENTS_OF("ns") "/pod.* {'series':{'count':" n ",'lastObservedTime':'*'}}"
#define DONE "{}"

struct scene {
    struct loop *loop;
    struct script script;
    struct kube *kube;
    struct task_group group;
    struct events *events;
    struct kube_object *pod;
    unsigned failures;
    char failure[256];
};

static void record_failure(void *ctx, const struct err *err)
{
    struct scene *scene = ctx;

    scene->failures++;
    snprintf(scene->failure, sizeof scene->failure, "%s", err_message(err));
}

static void open_scene(struct scene *scene, const struct script_step *steps, size_t n)
{
    *scene = (struct scene){.loop = loop_new_virtual(1)};
    script_init(&scene->script, scene->loop, steps, n);
    scene->kube = script_client(&scene->script, NULL);
    group_init(&scene->group, scene->loop);
    scene->pod =
        object_of(&api__pod__descriptor, "{'metadata':{'namespace':'ns','name':'pod','uid':'u'}}");
    scene->events = events_new(&scene->group, &(struct events_config){.kube = scene->kube,
                                                                      .controller = "driver",
                                                                      .instance = "me",
                                                                      .failed = record_failure,
                                                                      .ctx = scene});
}

static void close_group(struct task *self, void *arg)
{
    group_close(self, arg);
}

static void close_scene(struct scene *scene)
{
    loop_spawn(scene->loop, "close", close_group, &scene->group);
    loop_run(scene->loop);
    assert_int_equal(scene->script.next, scene->script.n);
    events_free(scene->events);
    kube_object_unref(scene->pod);
    kube_free(scene->kube);
    loop_free(scene->loop);
}

static void say(struct scene *scene, const char *note)
{
    events_record(scene->events, &PODS, scene->pod->metadata, EVENT_NORMAL, "Reason", "Action",
                  "%s", note);
}

/* ---- one event ---- */

static void test_an_event_of_an_object_in_a_namespace(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(
            "POST " EVENTS_OF(
                "ns") " {'apiVersion':'events.k8s.io/v1','kind':'Event',"
                      "'metadata':{'name':'pod.*','namespace':'ns'},"
                      "'eventTime':'2026-01-01T00:00:00.000000Z','reportingController':'driver',"
                      "'reportingInstance':'me','type':'Warning','reason':'DiskLost',"
                      "'action':'Attaching','note':'disk d is gone; trying again in 5 s',"
                      "'regarding':{'apiVersion':'v1','kind':'Pod','name':'pod','uid':'u',"
                      "'namespace':'ns'}}",
            201, DONE),
    };
    struct scene scene;

    (void)state;
    open_scene(&scene, steps, COUNT_OF(steps));
    events_record(scene.events, &PODS, scene.pod->metadata, EVENT_WARNING, "DiskLost", "Attaching",
                  "disk %s is gone; trying again in %d s", "d", 5);
    loop_advance(scene.loop, 100);
    assert_int_equal(scene.failures, 0);
    close_scene(&scene);
}

static void test_an_event_of_an_object_without_a_namespace(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER("POST " EVENTS_OF(
                          "default") " *'namespace':'default'*'type':'Normal'*"
                                     "'regarding':{'apiVersion':'v1','kind':'Node','name':'n'}}",
                      201, DONE),
        SCRIPT_ANSWER("POST *'regarding':{'apiVersion':'disk.csi.azure.com/v1beta2',*", 201, DONE),
    };
    CLEANUP(kube_object_unrefp) struct kube_object *node = node_of("n", 1, "");
    struct scene scene;

    (void)state;
    open_scene(&scene, steps, COUNT_OF(steps));
    events_record(scene.events, &NODES, node->metadata, EVENT_NORMAL, "Reason", "Action", "note");
    events_record(scene.events, &AZ_VOLUMES, scene.pod->metadata, EVENT_NORMAL, "R", "A", "note");
    loop_advance(scene.loop, 100);
    close_scene(&scene);
}

static void test_notes_fit_and_are_utf8(void **state)
{
    char longest[1100], cut[1024];
    CLEANUP(freep) char *expected = NULL;

    (void)state;
    memset(longest, 'x', sizeof longest);
    memcpy(longest + 1022, "\xc3\xa4", 3); /* is cut in two */
    memset(cut, 'x', sizeof cut);
    cut[1022] = '?';
    cut[1023] = '\0';
    expected = mem_printf("POST *'note':'%s','regarding'*", cut);

    const struct script_step steps[] = {
        {.request = expected, .status = 201, .answer = DONE},
        SCRIPT_ANSWER("POST *'note':'of ? bytes'*", 201, DONE),
    };
    struct scene scene;
    open_scene(&scene, steps, COUNT_OF(steps));
    say(&scene, longest);
    say(&scene, "of \xff bytes");
    loop_advance(scene.loop, 100);
    close_scene(&scene);
}

/* ---- series ---- */

static void test_the_same_again_is_counted(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(CREATE("a"), 201, DONE),
        SCRIPT_ANSWER(CREATE("b"), 201, DONE),
        SCRIPT_ANSWER(COUNT("2"), 200, DONE),
        SCRIPT_ANSWER(COUNT("3"), 200, DONE),
        SCRIPT_ANSWER("POST *'type':'Warning','reason':'Reason'*'note':'a'*", 201, DONE),
        SCRIPT_ANSWER("POST *'reason':'Other'*'note':'a'*", 201, DONE),
    };
    struct scene scene;

    (void)state;
    open_scene(&scene, steps, COUNT_OF(steps));
    say(&scene, "a");
    say(&scene, "b");
    loop_advance(scene.loop, 1000);
    for (int i = 0; i < 2; i++) {
        say(&scene, "a");
        loop_advance(scene.loop, 9 * MINUTE);
    }
    events_record(scene.events, &PODS, scene.pod->metadata, EVENT_WARNING, "Reason", "Action", "a");
    loop_advance(scene.loop, 1000);
    events_record(scene.events, &PODS, scene.pod->metadata, EVENT_NORMAL, "Other", "Action", "a");
    loop_advance(scene.loop, 1000);
    close_scene(&scene);
}

/* Those that come faster than they can be sent go together. */
static void test_a_burst_of_the_same(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(CREATE("a"), 201, DONE),
        SCRIPT_ANSWER(COUNT("5"), 200, DONE),
        SCRIPT_ANSWER(COUNT("6"), 200, DONE),
        SCRIPT_ANSWER(COUNT("8"), 200, DONE),
    };
    struct scene scene;

    (void)state;
    open_scene(&scene, steps, COUNT_OF(steps));
    for (int i = 0; i < 5; i++)
        say(&scene, "a");
    loop_advance(scene.loop, 1000);
    say(&scene, "a");
    loop_advance(scene.loop, 0); /* it is being sent */
    say(&scene, "a");
    say(&scene, "a");
    loop_advance(scene.loop, 1000);
    close_scene(&scene);
}

static void test_a_series_ends(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(CREATE("a"), 201, DONE),
        SCRIPT_ANSWER(CREATE("a"), 201, DONE),
    };
    struct scene scene;

    (void)state;
    open_scene(&scene, steps, COUNT_OF(steps));
    say(&scene, "a");
    loop_advance(scene.loop, 10 * MINUTE + 10);
    say(&scene, "a");
    loop_advance(scene.loop, 1000);
    close_scene(&scene);
}

/* ---- bounds ---- */

static void say_number(struct scene *scene, unsigned number)
{
    events_record(scene->events, &PODS, scene->pod->metadata, EVENT_NORMAL, "Reason", "Action",
                  "number %u", number);
}

static void test_nobody_reads_more_than_this_about_one_object(void **state)
{
    struct script_step steps[53];
    CLEANUP(kube_object_unrefp)
    struct kube_object *other =
        object_of(&api__pod__descriptor, "{'metadata':{'namespace':'ns','name':'p2','uid':'v'}}");
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        steps[i] = (struct script_step)SCRIPT_ANSWER("POST *", 201, DONE);
    open_scene(&scene, steps, COUNT_OF(steps));
    for (unsigned i = 0; i < 100; i++)
        say_number(&scene, i);
    loop_advance(scene.loop, 1000);
    assert_int_equal(scene.script.next, 25);
    events_record(scene.events, &PODS, other->metadata, EVENT_NORMAL, "Reason", "Action", "mine");
    loop_advance(scene.loop, 1000);
    assert_int_equal(scene.script.next, 26);
    loop_advance(scene.loop, 10 * MINUTE); /* for two more */
    for (unsigned i = 100; i < 200; i++)
        say_number(&scene, i);
    loop_advance(scene.loop, 1000);
    assert_int_equal(scene.script.next, 28);
    loop_advance(scene.loop, 7 * 24 * 60 * MINUTE); /* which saves up no more than a burst */
    for (unsigned i = 200; i < 300; i++)
        say_number(&scene, i);
    loop_advance(scene.loop, 1000);
    close_scene(&scene);
    assert_int_equal(scene.script.unanswered, 0);
}

static void say_of(struct scene *scene, unsigned uid)
{
    CLEANUP(freep)
    char *json = mem_printf("{'metadata':{'namespace':'ns','name':'pod','uid':'%u'}}", uid);
    CLEANUP(kube_object_unrefp)
    struct kube_object *object = object_of(&api__pod__descriptor, json);

    events_record(scene->events, &PODS, object->metadata, EVENT_NORMAL, "Reason", "Action", "a");
}

/* Many objects, and a server that does not answer. */
static void test_what_waits_is_bounded(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, NULL, 0);
    for (unsigned i = 0; i < 3000; i++) {
        say_of(&scene, i);
        loop_advance(scene.loop, 1);
    }
    assert_int_equal(scene.script.unanswered, 1);
    loop_advance(scene.loop, 3 * 3600 * 1000);
    assert_int_equal(scene.failures, 1 + 256); /* one was under way, so many waited */
    assert_string_equal(scene.failure, "no answer");
    close_scene(&scene);
}

enum { REMEMBERED = 512 };

/* As many objects as are remembered, with what has been said about each. */
static void fill_memory(struct scene *scene, struct script_step *step)
{
    *step = (struct script_step)SCRIPT_ANSWER("P* " EVENTS_OF("ns") "*", 201, DONE);
    open_scene(scene, step, 1);
    for (unsigned i = 0; i < REMEMBERED; i++) {
        scene->script.next = 0;
        say_of(scene, i);
        loop_advance(scene->loop, 10);
        assert_int_equal(scene->script.next, 1);
    }
}

static void test_the_oldest_series_makes_room(void **state)
{
    struct script_step step;
    struct scene scene;

    (void)state;
    fill_memory(&scene, &step);
    step.request = "PATCH *";
    scene.script.next = 0;
    say_of(&scene, 0);
    loop_advance(scene.loop, 10);
    assert_int_equal(scene.script.next, 1);

    step.request = "POST *";
    scene.script.next = 0;
    say_of(&scene, REMEMBERED);
    loop_advance(scene.loop, 10);
    assert_int_equal(scene.script.next, 1);

    scene.script.next = 0; /* it is forgotten, and told anew */
    say_of(&scene, 0);
    loop_advance(scene.loop, 10);
    close_scene(&scene);
}

static void test_a_series_that_is_being_sent_stays(void **state)
{
    struct script_step step;
    struct scene scene;

    (void)state;
    fill_memory(&scene, &step); /* the server does not answer any more */
    say_of(&scene, 0);
    loop_advance(scene.loop, 10);
    assert_int_equal(scene.script.unanswered, 1);
    say_of(&scene, REMEMBERED);
    say_of(&scene, 0); /* while it is being sent, and the oldest */
    loop_advance(scene.loop, 2 * MINUTE);
    assert_int_equal(scene.failures, 2);
    close_scene(&scene);
}

/* What may be said is remembered for as many objects, too. */
static void test_an_allowance_is_forgotten(void **state)
{
    struct script_step step;
    struct scene scene;

    (void)state;
    fill_memory(&scene, &step);
    step.request = "P*";
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 100; i++) {
            scene.script.next = 0;
            say_of(&scene, REMEMBERED + round);
            loop_advance(scene.loop, 10);
            assert_int_equal(scene.script.next, i < 25);
        }
    }
    for (unsigned i = 0; i < REMEMBERED; i++) {
        scene.script.next = 0;
        say_of(&scene, 10000 + i);
        loop_advance(scene.loop, 10);
    }
    scene.script.next = 0;
    say_of(&scene, REMEMBERED);
    loop_advance(scene.loop, 10);
    close_scene(&scene);
}

/* ---- failures ---- */

static void test_what_fails_is_dropped_and_begins_anew(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_BREAK(CREATE("a")),
        SCRIPT_ANSWER(CREATE("a"), 201, DONE),
        SCRIPT_ANSWER(COUNT("2"), 404, "{'kind':'Status','reason':'NotFound','message':'gone'}"),
        SCRIPT_ANSWER(CREATE("a"), 201, DONE),
        SCRIPT_ANSWER(CREATE("b"), 201, DONE),
    };
    struct scene scene;

    (void)state;
    open_scene(&scene, steps, COUNT_OF(steps));
    for (int i = 0; i < 4; i++) {
        say(&scene, "a");
        loop_advance(scene.loop, 1000);
        assert_int_equal(scene.failures, i < 2 ? 1 : 2);
    }
    say(&scene, "b");
    loop_advance(scene.loop, 1000);
    assert_true(script_matches("PATCH *: gone (HTTP 404)", scene.failure));
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_event_of_an_object_in_a_namespace),
        cmocka_unit_test(test_an_event_of_an_object_without_a_namespace),
        cmocka_unit_test(test_notes_fit_and_are_utf8),
        cmocka_unit_test(test_the_same_again_is_counted),
        cmocka_unit_test(test_a_burst_of_the_same),
        cmocka_unit_test(test_a_series_ends),
        cmocka_unit_test(test_nobody_reads_more_than_this_about_one_object),
        cmocka_unit_test(test_what_waits_is_bounded),
        cmocka_unit_test(test_the_oldest_series_makes_room),
        cmocka_unit_test(test_a_series_that_is_being_sent_stays),
        cmocka_unit_test(test_an_allowance_is_forgotten),
        cmocka_unit_test(test_what_fails_is_dropped_and_begins_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
