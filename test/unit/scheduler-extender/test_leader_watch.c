/* Whether there is a leader, by when its Lease was seen to change. Virtual time. */
#include "scheduler-extender/leader_watch.h"

#include "lib/base/alloc.h"
#include "test/unit/scheduler-extender/watched.h"
#include "test/unit/expect.h"

#define LEASE(version, holder, renewed)                                                            \
    "{'metadata':{'name':'csi-azuredisk-controller','namespace':'kube-system','resourceVersion':"  \
    "'" version "'},'spec':{'holderIdentity':'" holder                                             \
    "','leaseDurationSeconds':15,'renewTime':'2026-01-01T00:00:" renewed ".000000Z'}}"

struct scene {
    struct watched watched;
    struct leader_watch *watch;
};

static void begin(struct scene *scene, const char *items)
{
    watched_init(&scene->watched, items);
    scene->watch =
        leader_watch_start(scene->watched.loop, &scene->watched.group,
                           &(struct leader_watch_config){.kube = scene->watched.kube,
                                                         .namespace_ = "kube-system",
                                                         .name = "csi-azuredisk-controller"});
    loop_advance(scene->watched.loop, 100);
}

static void end(struct scene *scene)
{
    struct leader_watch *watch = scene->watch;

    watched_fini(&scene->watched);
    leader_watch_free(watch);
}

static bool after(struct scene *scene, uint64_t ms)
{
    loop_advance(scene->watched.loop, ms);
    return leader_watch_has_leader(scene->watch);
}

/* The Lease may be of yesterday, or of a clock that is wrong. */
static void test_what_is_found_does_not_count(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, LEASE("5", "a", "00"));
    assert_false(after(&scene, 0));
    end(&scene);
    begin(&scene, "");
    assert_false(after(&scene, 0));
    end(&scene);
    assert_false(leader_watch_has_leader(NULL));
}

static void test_a_leader_lasts_as_long_as_its_lease(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, LEASE("5", "a", "00"));
    watched_say(&scene.watched, "MODIFIED", LEASE("10", "a", "02"));
    assert_true(after(&scene, 0));
    assert_true(after(&scene, 14 * 1000));
    watched_say(&scene.watched, "MODIFIED", LEASE("11", "a", "04"));
    assert_true(after(&scene, 14 * 1000));
    /* A change that is no renewal. */
    watched_say(&scene.watched, "MODIFIED", LEASE("12", "a", "04"));
    assert_false(after(&scene, 1000));
    watched_say(&scene.watched, "MODIFIED", LEASE("13", "b", "40"));
    assert_true(after(&scene, 0));
    end(&scene);
}

static void test_a_leader_may_leave(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, LEASE("5", "a", "00"));
    watched_say(&scene.watched, "MODIFIED", LEASE("10", "a", "02"));
    watched_say(&scene.watched, "MODIFIED", LEASE("11", "", "03"));
    assert_false(after(&scene, 0));
    watched_say(&scene.watched, "MODIFIED", LEASE("12", "b", "04"));
    assert_true(after(&scene, 0));
    watched_say(&scene.watched, "DELETED", LEASE("13", "b", "04"));
    assert_false(after(&scene, 0));
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_found_does_not_count),
        cmocka_unit_test(test_a_leader_lasts_as_long_as_its_lease),
        cmocka_unit_test(test_a_leader_may_leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
