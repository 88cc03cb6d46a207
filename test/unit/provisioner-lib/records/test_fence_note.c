/* What is on record of a fence, and of the wish to have one preempted. */
#include "provisioner-lib/records/fence_note.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/records/attachment.h"
#include "test/unit/object.h"

#define KEY 0x0a0a0a0a00000001
#define TEXT "0x0a0a0a0a00000001"
#define TIME "2026-01-01T00:00:00.000000Z"

static const struct {
    const char *note;
    uint64_t key, former, last;
    bool lost;
    uint32_t generation;
} notes[] = {
    {"held 0x0a0a0a0a00000001", KEY, 0, KEY, false, 0},
    {"held 0x0a0a0a0a00000001 generation 12", KEY, 0, KEY, false, 12},
    {"held 0x0a0a0a0a00000001 from 0x0a0a0a0a00000002", KEY, KEY + 1, KEY, false, 0},
    {"held 0x0a0a0a0a00000001 from 0x0a0a0a0a00000002 generation 4294967295", KEY, KEY + 1, KEY,
     false, UINT32_MAX},
    {"held 0x0a0a0a0a00000001 generation 4294967296", KEY, 0, KEY, false, 0},
    {"held 0x0a0a0a0a00000001 generation x", KEY, 0, KEY, false, 0},
    {"held 0x0a0a0a0a00000001 from nobody", KEY, 0, KEY, false, 0},
    {"lost 0x0a0a0a0a00000001", 0, 0, KEY, true, 0},
    {"lost 0x0a0a0a0a00000001 generation 12", 0, 0, KEY, true, 12},
    {"lost 0x1", 0, 0, 0, true, 0},
    {"unsupported", 0, 0, 0, false, 0},
    {"held", 0, 0, 0, false, 0},
    {"held ", 0, 0, 0, false, 0},
    {"held 0x1", 0, 0, 0, false, 0},
    {"held 0x1 generation 12", 0, 0, 0, false, 0},
    {"", 0, 0, 0, false, 0},
};

static struct kube_object *attachment_with(const char *note)
{
    CLEANUP(freep)
    char *text = mem_printf("{'metadata':{'name':'a'},'status':{'annotation':"
                            "{'disk.csi.azure.com/fence':'%s'}}}",
                            note);

    return object_of(&api__az_volume_attachment__descriptor, text);
}

static void test_what_it_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(notes); i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *object = attachment_with(notes[i].note);

        assert_int_equal(fence_note_key(as_attachment(object)), notes[i].key);
        assert_int_equal(fence_note_former(as_attachment(object)), notes[i].former);
        assert_int_equal(fence_note_last_key(as_attachment(object)), notes[i].last);
        assert_int_equal(fence_note_is_lost(as_attachment(object)), notes[i].lost);
        assert_int_equal(fence_note_generation(as_attachment(object)), notes[i].generation);
        assert_int_equal(fence_note_is_unsupported(as_attachment(object)),
                         strcmp(notes[i].note, "unsupported") == 0);
    }
}

static void test_what_is_written(void **state)
{
    CLEANUP(freep) char *held = fence_note_held(KEY, 0, 0);
    CLEANUP(freep) char *taken = fence_note_held(KEY, 7, 12);
    CLEANUP(freep) char *lost = fence_note_lost(1, 12);
    CLEANUP(freep) char *request = preempt_request_text(KEY, 0, TIME);
    CLEANUP(freep) char *later = preempt_request_text(KEY, 12, TIME);

    (void)state;
    assert_string_equal(held, "held 0x0a0a0a0a00000001");
    assert_string_equal(taken, "held 0x0a0a0a0a00000001 from 0x0000000000000007 generation 12");
    assert_string_equal(lost, "lost 0x0000000000000001 generation 12");
    assert_string_equal(request, TEXT " " TIME);
    assert_string_equal(later, TEXT " " TIME " generation 12");
}

static void test_from_whom_it_was_taken(void **state)
{
    static const struct {
        const char *why, *note;
        uint64_t former;
        const char *written;
    } rows[] = {
        {"nobody had it", "", 0, "held 0x0a0a0a0a00000001 generation 5"},
        {"another node had it", "", 7,
         "held 0x0a0a0a0a00000001 from 0x0000000000000007 generation 5"},
        {"it was taken before", "held 0x0a0a0a0a00000001 from 0x0a0a0a0a00000002", 0,
         "held 0x0a0a0a0a00000001 from 0x0a0a0a0a00000002 generation 5"},
        {"it was taken before the machine was started anew",
         "held 0x0a0a0a0a00000003 from 0x0a0a0a0a00000002", 0,
         "held 0x0a0a0a0a00000001 from 0x0a0a0a0a00000002 generation 5"},
        {"it was taken again", "held 0x0a0a0a0a00000001 from 0x0a0a0a0a00000002", 7,
         "held 0x0a0a0a0a00000001 from 0x0000000000000007 generation 5"},
        {"it was lost and is nobody's", "lost 0x0a0a0a0a00000001", 0,
         "held 0x0a0a0a0a00000001 generation 5"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *object = attachment_with(rows[i].note);
        CLEANUP(freep)
        char *written = fence_note_taken(as_attachment(object), KEY, rows[i].former, 5);

        if (strcmp(written, rows[i].written) != 0)
            fail_msg("%s: \"%s\"", rows[i].why, written);
    }
}

static void test_the_key(void **state)
{
    (void)state;
    assert_int_equal(preempt_request_key(TEXT " " TIME), 0x0a0a0a0a00000001);
    assert_int_equal(preempt_request_key(TEXT " " TIME " generation 12"), 0x0a0a0a0a00000001);
    assert_int_equal(preempt_request_key("0xffffffffffffffff x"), UINT64_MAX);
    const char *const wrong[] = {
        "",
        TEXT,
        TEXT " ",
        " " TIME,
        "held " TEXT " " TIME,
        TEXT "0 x",
        "0x1 x",
        "0x x",
        "0a0a0a0a00000001 x",
        "0x0a0a0a0a0000000g x",
        "0x0000000000000000 x",
        "0x-a0a0a0a00000001 x",
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        if (preempt_request_key(wrong[i]))
            fail_msg("\"%s\" has a key", wrong[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_it_says),
        cmocka_unit_test(test_what_is_written),
        cmocka_unit_test(test_from_whom_it_was_taken),
        cmocka_unit_test(test_the_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
