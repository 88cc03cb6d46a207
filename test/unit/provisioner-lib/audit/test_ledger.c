/* What is told of differences that come, last and go. */
#include "provisioner-lib/audit/ledger.h"

#include "lib/base/buffer.h"
#include "test/unit/expect.h"

struct told {
    struct buffer text;
};

static void note(struct told *told, const char *what, const struct difference *difference)
{
    buffer_printf(&told->text, "%s %s;", what, difference->subject);
}

static void appeared(void *ctx, const struct difference *difference)
{
    note(ctx, "new", difference);
}

static void lasts(void *ctx, const struct difference *difference)
{
    note(ctx, "lasts", difference);
}

static void went(void *ctx, const struct difference *difference)
{
    note(ctx, "gone", difference);
}

/* A look at a scope that shows the disks of these one-letter names. */
static void look(struct ledger *ledger, const char *scope, const char *disks, const char *expected)
{
    struct told told;
    struct differences seen = {0};

    buffer_init(&told.text, 4096);
    for (; *disks; disks++) {
        char name[] = {*disks, 0};

        difference_add_thing(&seen, DISK_WITHOUT_VOLUME, name, "x");
    }
    ledger_take(ledger, scope, &seen, &(struct ledger_callbacks){appeared, lasts, went, &told});
    assert_null(seen.items);
    CLEANUP(freep) char *text = buffer_take(&told.text);
    assert_string_equal(text, expected);
}

static void test_once_is_doubtful_twice_is_told(void **state)
{
    CLEANUP(ledger_freep) struct ledger *ledger = ledger_new();

    (void)state;
    assert_null(ledger_doubtful(ledger));
    look(ledger, "disks", "a", "");
    assert_string_equal(ledger_doubtful(ledger), "disks");
    assert_int_equal(ledger_count(ledger, DISK_WITHOUT_VOLUME), 0);
    look(ledger, "disks", "a", "new a;lasts a;");
    assert_null(ledger_doubtful(ledger));
    assert_int_equal(ledger_count(ledger, DISK_WITHOUT_VOLUME), 1);
    assert_int_equal(ledger_count(ledger, LUN_DIFFERS), 0);
    look(ledger, "disks", "a", "lasts a;");
    look(ledger, "disks", "", "gone a;");
    assert_int_equal(ledger_count(ledger, DISK_WITHOUT_VOLUME), 0);
}

static void test_what_comes_and_goes_is_never_told(void **state)
{
    CLEANUP(ledger_freep) struct ledger *ledger = ledger_new();

    (void)state;
    look(ledger, "disks", "a", "");
    look(ledger, "disks", "", "");
    look(ledger, "disks", "a", "");
    look(ledger, "disks", "b", "");
    look(ledger, "disks", "b", "new b;lasts b;");
}

static void test_twice_in_one_look_is_once(void **state)
{
    CLEANUP(ledger_freep) struct ledger *ledger = ledger_new();

    (void)state;
    look(ledger, "disks", "aa", "");
}

static void test_scopes_do_not_touch_each_other(void **state)
{
    CLEANUP(ledger_freep) struct ledger *ledger = ledger_new();

    (void)state;
    look(ledger, "node/a", "a", "");
    look(ledger, "node/b", "b", "");
    look(ledger, "node/b", "b", "new b;lasts b;");
    look(ledger, "node/a", "a", "new a;lasts a;");
    assert_string_equal(ledger_next_scope(ledger, NULL), "node/a");
    assert_string_equal(ledger_next_scope(ledger, "node/a"), "node/b");
    assert_null(ledger_next_scope(ledger, "node/b"));
    look(ledger, "node/a", "", "gone a;");
    assert_int_equal(ledger_count(ledger, DISK_WITHOUT_VOLUME), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once_is_doubtful_twice_is_told),
        cmocka_unit_test(test_what_comes_and_goes_is_never_told),
        cmocka_unit_test(test_twice_in_one_look_is_once),
        cmocka_unit_test(test_scopes_do_not_touch_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
