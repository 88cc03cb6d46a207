#include "lib/rt/group.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

struct fixture {
    struct task_group group;
    char log[32];
    unsigned cancelled;
};

static void note(struct fixture *fixture, char letter)
{
    fixture->log[strlen(fixture->log)] = letter;
}

static void wake_task(void *ctx)
{
    task_wake(ctx);
}

/* Ends by itself after 10 ms, or cleans up when it is cancelled, for 5 ms or, if others
 * do so too, longer. */
static void works(struct task *self, void *arg)
{
    struct fixture *fixture = arg;
    struct loop *loop = loop_of(self);
    CLEANUP(err_freep) struct err *err = task_sleep(self, 10);

    if (!err) {
        note(fixture, 'e');
        return;
    }
    struct timer timer = {0};
    loop_start_timer(loop, &timer, loop_deadline(loop, 5 * ++fixture->cancelled), wake_task, self);
    task_park_uninterruptible(self);
    note(fixture, 'c');
}

static void closes(struct task *self, void *arg)
{
    struct fixture *fixture = arg;

    group_close(self, &fixture->group);
    assert_int_equal(fixture->group.n_members, 0);
    note(fixture, '.');
}

static void test_members_may_end_by_themselves(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct fixture fixture = {.log = ""};

    (void)state;
    group_init(&fixture.group, loop);
    for (int i = 0; i < 3; i++)
        assert_true(group_spawn(&fixture.group, "worker", works, &fixture));
    assert_int_equal(fixture.group.n_members, 3);
    loop_run(loop);
    assert_int_equal(fixture.group.n_members, 0);
    loop_spawn(loop, "closer", closes, &fixture);
    loop_run(loop);
    assert_string_equal(fixture.log, "eee.");
}

static void test_closing_cancels_and_waits_for_every_member(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct fixture fixture = {.log = ""};

    (void)state;
    group_init(&fixture.group, loop);
    for (int i = 0; i < 3; i++)
        assert_true(group_spawn(&fixture.group, "worker", works, &fixture));
    loop_advance(loop, 3);
    task_cancel(loop_spawn(loop, "closer", closes, &fixture)); /* it waits nevertheless */
    loop_advance(loop, 0);
    assert_false(group_spawn(&fixture.group, "late", works, &fixture));
    assert_string_equal(fixture.log, "");
    loop_run(loop);
    assert_string_equal(fixture.log, "ccc.");
    assert_int_equal(loop_now(loop), 3 + 15);
}

static void test_two_may_close(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct fixture fixture = {.log = ""};

    (void)state;
    group_init(&fixture.group, loop);
    assert_true(group_spawn(&fixture.group, "worker", works, &fixture));
    loop_spawn(loop, "closer", closes, &fixture);
    loop_spawn(loop, "another", closes, &fixture);
    loop_run(loop);
    assert_string_equal(fixture.log, "c..");
}

static void test_cancelling_alone_leaves_the_group_open(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct fixture fixture = {.log = ""};

    (void)state;
    group_init(&fixture.group, loop);
    assert_true(group_spawn(&fixture.group, "worker", works, &fixture));
    group_cancel(&fixture.group);
    assert_true(group_spawn(&fixture.group, "worker", works, &fixture));
    loop_run(loop);
    assert_string_equal(fixture.log, "ce");
}

static void spawns_at_its_end(struct task *self, void *arg)
{
    struct fixture *fixture = arg;

    err_free(task_sleep(self, 10));
    note(fixture, group_spawn(&fixture->group, "child", works, fixture) ? 's' : 'n');
}

static void test_a_member_may_spawn_unless_it_closes(void **state)
{
    static const struct {
        uint64_t close_at;
        const char *log;
    } rows[] = {{5, "n."}, {15, "sc."}, {30, "se."}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
        struct fixture fixture = {.log = ""};

        group_init(&fixture.group, loop);
        assert_true(group_spawn(&fixture.group, "parent", spawns_at_its_end, &fixture));
        loop_advance(loop, rows[i].close_at);
        loop_spawn(loop, "closer", closes, &fixture);
        loop_run(loop);
        assert_string_equal(fixture.log, rows[i].log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_may_end_by_themselves),
        cmocka_unit_test(test_closing_cancels_and_waits_for_every_member),
        cmocka_unit_test(test_two_may_close),
        cmocka_unit_test(test_cancelling_alone_leaves_the_group_open),
        cmocka_unit_test(test_a_member_may_spawn_unless_it_closes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
