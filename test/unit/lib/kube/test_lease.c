/* The lease, one situation after the other, in virtual time. */
#include "lib/kube/lease.h"

#include "test/unit/expect.h"
#include "test/unit/lib/kube/lease_world.h"

enum { SECOND = 1000 };

static bool somebody_holds(const struct world *world)
{
    return world_holders(world) == 1;
}

static bool first_holds(const struct world *world)
{
    return candidate_holds(world, 0);
}

static bool second_holds(const struct world *world)
{
    return candidate_holds(world, 1);
}

static bool first_lost(const struct world *world)
{
    return world->candidates[0].lost > 0;
}

/* The first one leads, the second one waits. */
static void two_candidates(struct world *world)
{
    world_init(world, 1);
    candidate_start(world, 0);
    assert_true(world_run_until(world, SECOND, first_holds));
    world_run(world, 3 * SECOND);
    candidate_start(world, 1);
    world_run(world, 20 * SECOND);
    assert_true(first_holds(world));
    assert_int_equal(world->candidates[0].failed + world->candidates[1].failed, 0);
}

static json_int_t number(const struct world *world, const char *member)
{
    return json_integer_value(json_object_get(json_object_get(world->object, "spec"), member));
}

/* ---- quiet times ---- */

static void test_the_first_one_makes_the_object(void **state)
{
    struct world world;
    char began[64];

    (void)state;
    world_init(&world, 1);
    candidate_start(&world, 0);
    assert_true(world_run_until(&world, SECOND, first_holds));
    assert_int_equal(world.candidates[0].acquired, 1);
    assert_string_equal(world_spec(&world, "holderIdentity"), "candidate-0/0");
    assert_int_equal(number(&world, "leaseDurationSeconds"), 15);
    assert_int_equal(number(&world, "leaseTransitions"), 0);
    assert_string_equal(world_spec(&world, "acquireTime"), world_spec(&world, "renewTime"));
    snprintf(began, sizeof began, "%s", world_spec(&world, "acquireTime"));
    assert_memory_equal(began, "2026-01-01T00:00:00.", 20);

    world_run(&world, 60 * SECOND);
    assert_true(first_holds(&world));
    assert_in_range(world.writes, 29, 32); /* a renewal every 2 s */
    assert_string_equal(world_spec(&world, "acquireTime"), began);
    assert_string_not_equal(world_spec(&world, "renewTime"), began);
    assert_int_equal(world.candidates[0].failed, 0);
    world_fini(&world);
}

static void test_of_many_at_once_one_gets_it(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct world world;
        unsigned acquired = 0;

        world_init(&world, seed);
        for (unsigned i = 0; i < WORLD_CANDIDATES; i++)
            candidate_start(&world, i);
        world_run(&world, 30 * SECOND);
        assert_int_equal(world_holders(&world), 1);
        for (unsigned i = 0; i < WORLD_CANDIDATES; i++) {
            acquired += world.candidates[i].acquired;
            assert_int_equal(world.candidates[i].failed, 0); /* a lost race is none */
        }
        assert_int_equal(acquired, 1);
        world_fini(&world);
    }
}

/* ---- changes of holder ---- */

static void test_a_dead_holder_is_succeeded_after_its_time(void **state)
{
    struct world world;

    (void)state;
    two_candidates(&world);
    candidate_kill(&world, 0);
    uint64_t died = world.now;
    world_run(&world, 12 * SECOND);
    assert_false(second_holds(&world));
    assert_true(world_run_until(&world, 30 * SECOND, second_holds));
    /* 15 s after it has seen the last renewal, up to 2 s before the death, and on its next look. */
    assert_in_range(world.now - died, 13 * SECOND, 18 * SECOND);
    assert_int_equal(number(&world, "leaseTransitions"), 1);
    assert_string_equal(world_spec(&world, "holderIdentity"), "candidate-1/0");
    world_fini(&world);
}

static void test_a_released_lease_is_taken_on_the_next_look(void **state)
{
    struct world world;

    (void)state;
    two_candidates(&world);
    uint64_t began = world.now;
    world_run(&world, 5);
    candidate_release(&world, 0);
    assert_int_equal(world.candidates[0].lost, 0);
    assert_true(world_run_until(&world, 3 * SECOND, second_holds));
    assert_true(world.now - began < 3 * SECOND);
    assert_int_equal(world.candidates[0].failed, 0);
    assert_int_equal(number(&world, "leaseTransitions"), 1);
    world_fini(&world);
}

static void test_a_release_alone_leaves_it_to_nobody(void **state)
{
    struct world world;

    (void)state;
    world_init(&world, 1);
    candidate_start(&world, 0);
    assert_true(world_run_until(&world, SECOND, first_holds));
    candidate_release(&world, 0);
    assert_string_equal(world_spec(&world, "holderIdentity"), "");
    assert_int_equal(number(&world, "leaseDurationSeconds"), 1);
    candidate_start(&world, 1);
    assert_true(world_run_until(&world, SECOND, second_holds));
    world_fini(&world);
}

static void test_a_candidate_that_holds_nothing_just_goes(void **state)
{
    struct world world;

    (void)state;
    two_candidates(&world);
    unsigned writes = world.writes;
    candidate_release(&world, 1);
    world_run(&world, 10 * SECOND);
    assert_true(first_holds(&world));
    assert_in_range(world.writes - writes, 4, 6); /* the holder's renewals */
    world_fini(&world);
}

/* ---- holders that stand still ---- */

static void test_a_stopped_holder_knows_at_once_when_it_goes_on(void **state)
{
    struct world world;

    (void)state;
    two_candidates(&world);
    world.candidates[0].paused = true;
    assert_true(world_run_until(&world, 30 * SECOND, second_holds));
    world_run(&world, 2 * SECOND);
    world.candidates[0].paused = false; /* the world looks before anything runs */
    world_run(&world, 5);
    assert_int_equal(world.candidates[0].lost, 1);
    world_run(&world, 60 * SECOND);
    assert_true(second_holds(&world));
    assert_int_equal(world.candidates[0].lost, 1);
    world_fini(&world);
}

static void test_a_short_stop_does_no_harm(void **state)
{
    struct world world;

    (void)state;
    two_candidates(&world);
    for (int i = 0; i < 10; i++) {
        world.candidates[0].paused = true;
        world_run(&world, 7 * SECOND);
        world.candidates[0].paused = false;
        world_run(&world, 3 * SECOND);
        assert_true(first_holds(&world));
    }
    assert_int_equal(world.candidates[0].lost, 0);
    world_fini(&world);
}

static unsigned writes_before;

static bool has_written(const struct world *world)
{
    return world->writes > writes_before;
}

/* What it gets is over before it knows; it must not begin to work for that. */
static void test_a_candidate_is_stopped_while_it_takes_the_lease(void **state)
{
    struct world world;

    (void)state;
    world_init(&world, 1);
    world.most_delay_ms = 2000;
    writes_before = 0;
    candidate_start(&world, 0);
    assert_true(world_run_until(&world, 10 * SECOND, has_written));
    assert_int_equal(world.candidates[0].acquired, 0);
    world.candidates[0].paused = true;
    world_run(&world, 12 * SECOND);
    world.candidates[0].paused = false;
    assert_true(world_run_until(&world, 20 * SECOND, first_holds));
    world_run(&world, 20 * SECOND);
    assert_true(first_holds(&world));
    assert_int_equal(world.candidates[0].lost, 0);
    world_fini(&world);
}

/* ---- a server that fails ---- */

static enum fate the_fate;
static unsigned how_often;

static enum fate fate_of_writes(struct world *world, const struct candidate *from,
                                const char *method)
{
    (void)world, (void)from;
    if (strcmp(method, "GET") == 0 || how_often == 0)
        return ANSWERED;
    how_often--;
    return the_fate;
}

static enum fate fate_of_first(struct world *world, const struct candidate *from,
                               const char *method)
{
    (void)world, (void)method;
    if (from->index != 0 || how_often == 0)
        return ANSWERED;
    how_often--;
    return the_fate;
}

/* One renewal that fails, in whichever way, does not cost the lease. */
static void test_a_renewal_that_fails(void **state)
{
    static const enum fate fates[] = {REFUSED, REQUEST_LOST, ANSWER_LOST, ANSWER_BROKEN};

    (void)state;
    for (size_t i = 0; i < sizeof fates / sizeof fates[0]; i++) {
        struct world world;

        two_candidates(&world);
        the_fate = fates[i];
        how_often = 1;
        world.fate = fate_of_writes;
        world_run(&world, 60 * SECOND);
        assert_int_equal(how_often, 0);
        assert_true(first_holds(&world));
        assert_int_equal(world.candidates[0].lost, 0);
        assert_int_equal(world.candidates[0].failed, 1);
        world_fini(&world);
    }
}

static void test_a_cut_off_holder_gives_up_before_the_next_one_begins(void **state)
{
    static const enum fate fates[] = {REFUSED, REQUEST_LOST};

    (void)state;
    for (size_t i = 0; i < sizeof fates / sizeof fates[0]; i++) {
        struct world world;

        two_candidates(&world);
        the_fate = fates[i];
        how_often = 1000000;
        world.fate = fate_of_first;
        uint64_t cut = world.now;
        assert_true(world_run_until(&world, 30 * SECOND, first_lost));
        /* 10 s after the beginning of the last renewal that worked, up to 2 s before. */
        assert_in_range(world.now - cut, 8 * SECOND - 50, 10 * SECOND);
        assert_false(second_holds(&world));
        assert_true(world_run_until(&world, 30 * SECOND, second_holds));
        assert_in_range(world.now - cut, 13 * SECOND, 18 * SECOND);
        world_fini(&world);
    }
}

static void test_nobody_answers_for_a_while(void **state)
{
    struct world world;

    (void)state;
    two_candidates(&world);
    the_fate = REFUSED;
    how_often = 3; /* 6 s */
    world.fate = fate_of_first;
    world_run(&world, 60 * SECOND);
    assert_true(first_holds(&world));
    assert_int_equal(world.candidates[0].failed, 3);
    assert_string_equal(world.candidates[0].last_failure, "connection refused");
    world_fini(&world);
}

static void test_release_after_a_renewal_whose_answer_was_lost(void **state)
{
    struct world world;

    (void)state;
    two_candidates(&world);
    the_fate = ANSWER_LOST;
    how_often = 1;
    world.fate = fate_of_writes;
    while (how_often > 0)
        world_run(&world, 5);
    world_run(&world, 50); /* it has taken effect, and its sender waits for the answer */
    candidate_release(&world, 0);
    assert_true(world_run_until(&world, 3 * SECOND, second_holds));
    assert_int_equal(world.candidates[0].failed, 0);
    world_fini(&world);
}

/* ---- others at the object ---- */

static void test_somebody_touches_the_object(void **state)
{
    struct world world;

    (void)state;
    two_candidates(&world);
    for (int i = 0; i < 20; i++) {
        world_touch(&world);
        world_run(&world, 1300);
        assert_true(first_holds(&world));
    }
    assert_int_equal(world.candidates[0].failed, 0);
    world_fini(&world);
}

static void take_by_force(struct world *world)
{
    world_touch(world);
    json_object_set_new(json_object_get(world->object, "spec"), "holderIdentity",
                        json_string("an operator"));
}

static void test_somebody_takes_it_away(void **state)
{
    struct world world;

    (void)state;
    two_candidates(&world);
    take_by_force(&world);
    world_run(&world, 3 * SECOND);
    assert_int_equal(world.candidates[0].lost, 1);
    assert_string_equal(world.candidates[0].last_failure,
                        "the lease was taken over and now belongs to an operator");
    world_run(&world, 10 * SECOND);
    assert_false(somebody_holds(&world));
    assert_true(world_run_until(&world, 10 * SECOND, second_holds)); /* which does not renew it */
    world_fini(&world);
}

/* The holder may not know yet, so those who have seen it wait as if it were still there. */
static void test_somebody_deletes_the_object(void **state)
{
    struct world world;

    (void)state;
    two_candidates(&world);
    world_delete(&world);
    uint64_t deleted = world.now;
    world_run(&world, 3 * SECOND);
    assert_int_equal(world.candidates[0].lost, 1);
    assert_string_equal(world.candidates[0].last_failure,
                        "the lease was taken over and now belongs to nobody");
    assert_false(second_holds(&world));
    assert_true(world_run_until(&world, 30 * SECOND, second_holds));
    assert_in_range(world.now - deleted, 12 * SECOND, 18 * SECOND);
    world_fini(&world);
}

static void test_times_in_the_object_mean_nothing(void **state)
{
    static const char *const times[] = {"1970-01-01T00:00:00.000000Z",
                                        "2999-01-01T00:00:00.000000Z", "", "yesterday"};

    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct world world;

        world_init(&world, 1);
        candidate_start(&world, 0);
        assert_true(world_run_until(&world, SECOND, first_holds));
        candidate_kill(&world, 0);
        json_object_set_new(json_object_get(world.object, "spec"), "renewTime",
                            json_string(times[i]));
        candidate_start(&world, 1);
        uint64_t began = world.now;
        assert_true(world_run_until(&world, 30 * SECOND, second_holds));
        assert_in_range(world.now - began, 15 * SECOND, 18 * SECOND);
        world_fini(&world);
    }
}

/* A holder has the time that it promised; if it promised nothing, the candidate's own. */
static void test_a_holder_of_another_duration(void **state)
{
    static const int durations[] = {40, 5, 0};

    (void)state;
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        uint64_t waits = (uint64_t)(durations[i] ? durations[i] : 15) * SECOND;
        struct world world;

        world_init(&world, 1);
        world.object = json_pack("{s:{s:s, s:s}, s:{s:s}}", "metadata", "name", "leader",
                                 "resourceVersion", "1", "spec", "holderIdentity", "somebody");
        if (durations[i])
            json_object_set_new(json_object_get(world.object, "spec"), "leaseDurationSeconds",
                                json_integer(durations[i]));
        world.version = 1;
        candidate_start(&world, 1);
        world_run(&world, waits - SECOND);
        assert_false(second_holds(&world));
        assert_true(world_run_until(&world, 4 * SECOND, second_holds));
        world_fini(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_one_makes_the_object),
        cmocka_unit_test(test_of_many_at_once_one_gets_it),
        cmocka_unit_test(test_a_dead_holder_is_succeeded_after_its_time),
        cmocka_unit_test(test_a_released_lease_is_taken_on_the_next_look),
        cmocka_unit_test(test_a_release_alone_leaves_it_to_nobody),
        cmocka_unit_test(test_a_candidate_that_holds_nothing_just_goes),
        cmocka_unit_test(test_a_stopped_holder_knows_at_once_when_it_goes_on),
        cmocka_unit_test(test_a_short_stop_does_no_harm),
        cmocka_unit_test(test_a_candidate_is_stopped_while_it_takes_the_lease),
        cmocka_unit_test(test_a_renewal_that_fails),
        cmocka_unit_test(test_a_cut_off_holder_gives_up_before_the_next_one_begins),
        cmocka_unit_test(test_nobody_answers_for_a_while),
        cmocka_unit_test(test_release_after_a_renewal_whose_answer_was_lost),
        cmocka_unit_test(test_somebody_touches_the_object),
        cmocka_unit_test(test_somebody_takes_it_away),
        cmocka_unit_test(test_somebody_deletes_the_object),
        cmocka_unit_test(test_times_in_the_object_mean_nothing),
        cmocka_unit_test(test_a_holder_of_another_duration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
