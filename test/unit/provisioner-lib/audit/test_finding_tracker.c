/* What is told of findings that come, last and go. */
#include "provisioner-lib/audit/finding_tracker.h"

#include "lib/base/buffer.h"
#include "test/unit/expect.h"

struct told {
    struct buffer text;
};

static void note(struct told *told, const char *what, const struct finding *finding)
{
    buffer_printf(&told->text, "%s %s;", what, finding->subject);
}

static void appeared(void *ctx, const struct finding *finding)
{
    note(ctx, "new", finding);
}

static void lasts(void *ctx, const struct finding *finding)
{
    note(ctx, "lasts", finding);
}

static void went(void *ctx, const struct finding *finding)
{
    note(ctx, "gone", finding);
}

/* A scan of a scope that shows the disks of these one-letter names. */
static void scan(struct finding_tracker *tracker, const char *scope, const char *disks,
                 const char *expected)
{
    struct told told;
    struct findings seen = {0};

    buffer_init(&told.text, 4096);
    for (; *disks; disks++) {
        char name[] = {*disks, 0};

        findings_add_thing(&seen, DISK_WITHOUT_VOLUME, name, "x");
    }
    finding_tracker_update(tracker, scope, &seen,
                           &(struct finding_callbacks){appeared, lasts, went, &told});
    assert_null(seen.items);
    CLEANUP(freep) char *text = buffer_take(&told.text);
    assert_string_equal(text, expected);
}

static void test_once_is_doubtful_twice_is_told(void **state)
{
    CLEANUP(finding_tracker_freep) struct finding_tracker *tracker = finding_tracker_new();

    (void)state;
    assert_null(finding_tracker_unconfirmed(tracker));
    scan(tracker, "disks", "a", "");
    assert_string_equal(finding_tracker_unconfirmed(tracker), "disks");
    assert_int_equal(finding_tracker_count(tracker, DISK_WITHOUT_VOLUME), 0);
    scan(tracker, "disks", "a", "new a;lasts a;");
    assert_null(finding_tracker_unconfirmed(tracker));
    assert_int_equal(finding_tracker_count(tracker, DISK_WITHOUT_VOLUME), 1);
    assert_int_equal(finding_tracker_count(tracker, LUN_DIFFERS), 0);
    scan(tracker, "disks", "a", "lasts a;");
    scan(tracker, "disks", "", "gone a;");
    assert_int_equal(finding_tracker_count(tracker, DISK_WITHOUT_VOLUME), 0);
}

static void test_what_comes_and_goes_is_never_told(void **state)
{
    CLEANUP(finding_tracker_freep) struct finding_tracker *tracker = finding_tracker_new();

    (void)state;
    scan(tracker, "disks", "a", "");
    scan(tracker, "disks", "", "");
    scan(tracker, "disks", "a", "");
    scan(tracker, "disks", "b", "");
    scan(tracker, "disks", "b", "new b;lasts b;");
}

static void test_twice_in_one_scan_is_once(void **state)
{
    CLEANUP(finding_tracker_freep) struct finding_tracker *tracker = finding_tracker_new();

    (void)state;
    scan(tracker, "disks", "aa", "");
}

static void test_scopes_do_not_touch_each_other(void **state)
{
    CLEANUP(finding_tracker_freep) struct finding_tracker *tracker = finding_tracker_new();

    (void)state;
    scan(tracker, "node/a", "a", "");
    scan(tracker, "node/b", "b", "");
    scan(tracker, "node/b", "b", "new b;lasts b;");
    scan(tracker, "node/a", "a", "new a;lasts a;");
    assert_string_equal(finding_tracker_next_scope(tracker, NULL), "node/a");
    assert_string_equal(finding_tracker_next_scope(tracker, "node/a"), "node/b");
    assert_null(finding_tracker_next_scope(tracker, "node/b"));
    scan(tracker, "node/a", "", "gone a;");
    assert_int_equal(finding_tracker_count(tracker, DISK_WITHOUT_VOLUME), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once_is_doubtful_twice_is_told),
        cmocka_unit_test(test_what_comes_and_goes_is_never_told),
        cmocka_unit_test(test_twice_in_one_scan_is_once),
        cmocka_unit_test(test_scopes_do_not_touch_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
