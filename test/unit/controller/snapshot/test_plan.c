/* Each row is what is known of an AzSnapshot, and its next step. */
#include "controller/snapshot/plan.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define F .has_finalizer = true
#define LOCAL F, .creating = true, .local = true
#define TAKEN LOCAL, .taken = true
#define ANNOUNCED F, .created = true, .local = true, .taken = true
#define COPYING ANNOUNCED, .whole = true, .copying = true

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

    /* ---- in another region than its disk ---- */
    {"the local one may have been taken", {LOCAL}, SNAPSHOT_TAKE_LOCAL},
    {"it is there", {TAKEN, .whole = true}, SNAPSHOT_COPY},
    {"its data comes later", {TAKEN}, SNAPSHOT_ANNOUNCE},
    {"another one of the disk is copied", {TAKEN, .whole = true, .waits = true}, SNAPSHOT_ANNOUNCE},
    {"its data comes later, as CreateSnapshot has said", {ANNOUNCED}, SNAPSHOT_NONE},
    {"another one is copied, as CreateSnapshot has said",
     {ANNOUNCED, .whole = true, .waits = true},
     SNAPSHOT_NONE},
    {"its data has come", {ANNOUNCED, .whole = true}, SNAPSHOT_COPY},
    {"Azure copies it", {COPYING}, SNAPSHOT_NONE},
    {"Azure copies it, and an earlier one has come up", {COPYING, .waits = true}, SNAPSHOT_NONE},
    {"Azure has copied it", {COPYING, .over = true}, SNAPSHOT_DELETE_LOCAL},
    {"it could not be copied", {ANNOUNCED, .over = true}, SNAPSHOT_DELETE_LOCAL},
    {"the local one is gone",
     {F, .created = true, .taken = true, .copying = true, .over = true},
     SNAPSHOT_NONE},
    {"it cannot be created, and the local one may be there",
     {F, .failed = true, .goes = true, .local = true},
     SNAPSHOT_DELETE_LOCAL},
    {"it could not be created long ago, and the local one may be there",
     {F, .failed = true, .goes = true, .goes_now = true, .local = true},
     SNAPSHOT_DELETE_LOCAL},
    {"somebody asks again", {F, .local = true, .taken = true}, SNAPSHOT_DELETE_LOCAL},
    {"by DeleteSnapshot, while Azure copies it",
     {COPYING, .deleting = true, .delete_requested = true},
     SNAPSHOT_DELETE},
    {"by DeleteSnapshot, and the copy is gone",
     {COPYING, .deleting = true, .delete_requested = true, .gone = true},
     SNAPSHOT_DELETE_LOCAL},
    {"by DeleteSnapshot, before anything was taken",
     {LOCAL, .deleting = true, .delete_requested = true, .gone = true},
     SNAPSHOT_DELETE_LOCAL},
    {"by DeleteSnapshot, and both are gone",
     {F, .created = true, .taken = true, .deleting = true, .delete_requested = true, .gone = true},
     SNAPSHOT_REMOVE_FINALIZER},
    {"by hand, before anything was taken", {LOCAL, .deleting = true}, SNAPSHOT_DELETE_LOCAL},
    {"by hand, before it is copied", {ANNOUNCED, .whole = true, .deleting = true}, SNAPSHOT_COPY},
    {"by hand, while Azure copies it", {COPYING, .deleting = true}, SNAPSHOT_NONE},
    {"by hand, and Azure has copied it",
     {COPYING, .deleting = true, .over = true},
     SNAPSHOT_DELETE_LOCAL},
    {"by hand, and the local one is gone",
     {F, .created = true, .taken = true, .copying = true, .over = true, .deleting = true},
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
