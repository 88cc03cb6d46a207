/* What the controller writes about a failover, azdiskctl reads. */
#include "provisioner-lib/records/failover_note.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define NOON INT64_C(1772366400000000) /* 2026-03-01T12:00:00Z */
#define PROOF                                                                                      \
    " . Whether it still writes was asked from 2026-03-01T12:00:08.100000Z on, and that it does "  \
    "not was proven at 2026-03-01T12:00:08.250001Z ; then it was given up, and Kubernetes moves "  \
    "its pods"

static const struct {
    struct failover_times times;
    const char *note;
} rows[] = {
    {{false, NOON, NOON + 8100000, NOON + 8250001},
     "Nothing has been heard of node n.example since 2026-03-01T12:00:00.000000Z" PROOF},
    {{true, NOON, NOON + 8100000, NOON + 8250001},
     "The Node of node n.example was deleted at 2026-03-01T12:00:00.000000Z" PROOF},
};

static void test_what_is_written_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *note = failover_note_text("n.example", &rows[i].times);
        CLEANUP(freep) char *node = NULL;
        struct failover_times found;

        assert_string_equal(note, rows[i].note);
        assert_true(failover_note_parse(note, &node, &found));
        assert_string_equal(node, "n.example");
        assert_int_equal(found.deleted, rows[i].times.deleted);
        assert_int_equal(found.lost_us, rows[i].times.lost_us);
        assert_int_equal(found.asked_us, rows[i].times.asked_us);
        assert_int_equal(found.proven_us, rows[i].times.proven_us);
    }
}

static void test_other_notes(void **state)
{
    static const char *const notes[] = {
        "",
        "Nothing has been heard of node n since 2026-03-01T12:00:00Z . It is off",
        "Nothing has been heard of node n since noon . Whether it still writes was asked from "
        "2026-03-01T12:00:08Z on, and that it does not was proven at 2026-03-01T12:00:09Z ;",
        "Nothing has been heard of node n since 2026-03-01T12:00:00Z . Whether it still writes was "
        "asked from 1013-03-01T12:00:08Z on, and that it does not was proven at "
        "2026-03-01T12:00:09Z ;",
        "The Node of node n since 2026-03-01T12:00:00Z . Whether it still writes was asked from "
        "2026-03-01T12:00:08Z on, and that it does not was proven at 2026-03-01T12:00:09Z ;",
        "Nothing has been heard of node ",
        "since 2026-03-01T12:00:00Z asked from 2026-03-01T12:00:00Z proven at "
        "2026-03-01T12:00:00Z",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(notes); i++) {
        struct failover_times found;
        char *node = NULL;

        if (failover_note_parse(notes[i], &node, &found))
            fail_msg("row %zu: %s", i, node);
        assert_null(node);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_other_notes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
