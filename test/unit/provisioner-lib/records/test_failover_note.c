/* What the controller writes about a failover, azdiskctl reads. */
#include "provisioner-lib/records/failover_note.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define NOON INT64_C(1772366400000000) /* 2026-03-01T12:00:00Z */
#define NOTE                                                                                       \
    "Nothing has been heard of node n.example since 2026-03-01T12:00:00.000000Z . Its disks were " \
    "being fenced from 2026-03-01T12:00:08.100000Z on, and all refused its writes at "             \
    "2026-03-01T12:00:08.250001Z ; then it was given up, and Kubernetes moves its pods"

static const struct failover_times times = {NOON, NOON + 8100000, NOON + 8250001};

static void test_what_is_written_is_read(void **state)
{
    CLEANUP(freep) char *note = failover_note_text("n.example", &times);
    CLEANUP(freep) char *node = NULL;
    struct failover_times found;

    (void)state;
    assert_string_equal(note, NOTE);
    assert_true(failover_note_parse(note, &node, &found));
    assert_string_equal(node, "n.example");
    assert_memory_equal(&found, &times, sizeof times);
}

static void test_other_notes(void **state)
{
    static const char *const notes[] = {
        "",
        "Nothing has been heard of node n since 2026-03-01T12:00:00Z . Its disks refuse its writes",
        "Nothing has been heard of node n since noon . Its disks were being fenced from "
        "2026-03-01T12:00:08Z on, and all refused its writes at 2026-03-01T12:00:09Z",
        "Nothing has been heard of node ",
        "since 2026-03-01T12:00:00Z being fenced from 2026-03-01T12:00:00Z its writes at "
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
