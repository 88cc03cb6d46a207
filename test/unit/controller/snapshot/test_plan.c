/* Each row is what is known of an AzSnapshot, and its next step. */
#include "controller/snapshot/plan.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define F .has_finalizer = true

static const struct {
    const char *what;
    struct snapshot_facts in;
    enum snapshot_step step;
} rows[] = {
    {"new", {0}, SNAPSHOT_ADD_FINALIZER},
    {"nothing has begun", {F}, SNAPSHOT_RECORD_CREATING},
    {"it may have begun", {F, .creating = true}, SNAPSHOT_CREATE},
    {"it exists", {F, .created = true, .creating = true}, SNAPSHOT_NONE},
    {"somebody else's, to be deleted", {F, .adopted = true}, SNAPSHOT_NONE},
    {"it failed, nobody asked yet", {F, .failed = true}, SNAPSHOT_NONE},
    {"it failed", {F, .failed = true, .goes = true}, SNAPSHOT_REQUEUE},
    {"it failed long ago", {F, .failed = true, .goes = true, .goes_now = true}, SNAPSHOT_FORGET},
    {"deleted, not ours to hold", {.deleting = true, .delete_requested = true}, SNAPSHOT_NONE},
    {"by hand", {F, .deleting = true, .created = true}, SNAPSHOT_REMOVE_FINALIZER},
    {"by hand, while it is created",
     {F, .deleting = true, .creating = true},
     SNAPSHOT_REMOVE_FINALIZER},
    {"by DeleteSnapshot",
     {F, .deleting = true, .created = true, .delete_requested = true},
     SNAPSHOT_DELETE},
    {"by DeleteSnapshot, somebody else's",
     {F, .deleting = true, .adopted = true, .delete_requested = true},
     SNAPSHOT_DELETE},
    {"it failed long ago, and goes",
     {F, .deleting = true, .failed = true, .delete_requested = true},
     SNAPSHOT_DELETE},
    {"it is gone",
     {F, .deleting = true, .created = true, .delete_requested = true, .gone = true},
     SNAPSHOT_REMOVE_FINALIZER},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (snapshot_next(&rows[i].in) != rows[i].step)
            fail_msg("%s: step %d, not %d", rows[i].what, snapshot_next(&rows[i].in), rows[i].step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
