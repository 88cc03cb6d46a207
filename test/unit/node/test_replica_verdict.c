/* What makes a replica's disk unfit, and how that is put on record, row by row. */
#include "node/replica_verdict.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { SIZE = 4096, LARGER = 8192, DEVICE = 7, OTHER = 8 };

static const struct {
    struct replica_sight sight;
    enum err_kind kind; /* 0: the look succeeded */
    const char *fault;  /* NULL: it is ready */
} sights[] = {
    {{.held = DEVICE, .seen = {DEVICE, SIZE}}, 0, NULL},
    {{.held = DEVICE, .seen = {DEVICE, LARGER}, .grown = LARGER}, 0, NULL},
    {{.held = DEVICE, .seen = {DEVICE, SIZE}, .grown = LARGER}, 0, NULL},
    {{.held = DEVICE, .seen = {DEVICE, LARGER}},
     0,
     "the disk at LUN 3 has 8192 bytes instead of 4096"},
    {{.held = DEVICE, .seen = {DEVICE, SIZE - 512}, .grown = LARGER},
     0,
     "the disk at LUN 3 has 3584 bytes instead of 4096"},
    {{.held = DEVICE, .seen = {DEVICE, 0}}, 0, "the disk at LUN 3 has 0 bytes instead of 4096"},
    {{.held = 0}, ERR_NOT_FOUND, "why"},
    {{.held = DEVICE, .seen = {DEVICE, 0}}, ERR_INTERNAL, "why"},
    {{.held = DEVICE, .seen = {DEVICE, SIZE}}, ERR_INTERNAL, "why"},
    {{.held = DEVICE, .seen = {DEVICE, LARGER}},
     ERR_INTERNAL,
     "the disk at LUN 3 has 8192 bytes instead of 4096"},
    {{.held = DEVICE, .hangs = true}, 0, "the disk at LUN 3 does not answer"},
    {{.held = DEVICE, .hangs = true, .seen = {DEVICE, SIZE}},
     0,
     "the disk at LUN 3 does not answer"},
    {{.held = 0, .seen = {DEVICE, SIZE}}, 0, "the disk at LUN 3 is not held by the plug-in"},
    {{.held = OTHER, .seen = {DEVICE, SIZE}}, 0, "the disk at LUN 3 is not held by the plug-in"},
    {{.held = 0, .in_use = true, .seen = {DEVICE, SIZE}},
     0,
     "somebody else on the node has claimed the disk at LUN 3"},
    {{.held = 0}, 0, "no disk was found"},
};

static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sights); i++) {
        CLEANUP(err_freep)
        struct err *err = sights[i].kind ? err_new(sights[i].kind, "why") : NULL;
        struct replica_sight sight = sights[i].sight;

        sight.lun = 3;
        sight.size = SIZE;
        sight.err = err;
        CLEANUP(freep) char *fault = replica_fault(&sight);
        if (!fault != !sights[i].fault || (fault && strcmp(fault, sights[i].fault) != 0))
            fail_msg("row %zu: \"%s\"", i, fault ? fault : "ready");
    }
}

#define THEN "2026-01-01T00:00:00Z"
#define NOW "2026-01-01T01:00:00Z"
static const int64_t NOW_US = (1767225600 + 3600) * 1000000LL;

static const struct {
    const char *known, *fault;
    const char *note; /* NULL: what is on record stays */
} notes[] = {
    {NULL, NULL, "true " NOW},
    {NULL, "why", "false " NOW " why"},
    {"true " THEN, NULL, NULL},
    {"true " THEN, "why", "false " NOW " why"},
    {"false " THEN " why", "why", NULL},
    {"false " THEN " why", NULL, "true " NOW},
    /* Since when it is not ready, whatever the reason is by now. */
    {"false " THEN " why", "another", "false " THEN " another"},
    /* What nobody has written like that. */
    {"", NULL, "true " NOW},
    {"true", NULL, "true " NOW},
    {"true since long", NULL, "true " NOW},
    {"trueish " THEN, NULL, "true " NOW},
    {"false", "why", "false " NOW " why"},
    {"true " THEN " and more", NULL, "true " THEN},
    {NULL, "\xff\n", "false " NOW " ?\n"},
};

static void test_notes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(notes); i++) {
        CLEANUP(freep) char *note = replica_note(notes[i].known, notes[i].fault, NOW_US);

        if (!note != !notes[i].note || (note && strcmp(note, notes[i].note) != 0))
            fail_msg("row %zu: \"%s\"", i, note ? note : "nothing");
    }
}

static void test_a_note_is_a_line(void **state)
{
    char fault[1001];

    (void)state;
    memset(fault, 'x', sizeof fault - 1);
    fault[sizeof fault - 1] = '\0';
    CLEANUP(freep) char *note = replica_note(NULL, fault, NOW_US);
    assert_int_equal(strlen(note), strlen("false " NOW " ") + 200);
    assert_null(replica_note(note, fault, NOW_US + 1000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_a_note_is_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
