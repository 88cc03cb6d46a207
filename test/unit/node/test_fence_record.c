/* What is on record of a fence, and when that is not true any more. */
#include "node/fence_record.h"

#include <inttypes.h>

#include "lib/base/alloc.h"
#include "node/fence_watch.h"
#include "provisioner-lib/host/reservation.h"
#include "provisioner-lib/records/attachment.h"
#include "test/unit/object.h"

#define KEY 0x0a0a0a0a00000001

static const struct {
    const char *note;
    uint64_t key, former;
    bool lost;
} notes[] = {
    {"held 0x0a0a0a0a00000001", KEY, 0, false},
    {"held 0x0a0a0a0a00000001 from 0x0a0a0a0a00000002", KEY, KEY + 1, false},
    {"held 0x0a0a0a0a00000001 from nobody", KEY, 0, false},
    {"lost 0x0a0a0a0a00000001", 0, 0, true},
    {"unsupported", 0, 0, false},
    {"held", 0, 0, false},
    {"held ", 0, 0, false},
    {"held 0x1", 0, 0, false},
    {"", 0, 0, false},
};

static void test_what_it_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(notes); i++) {
        CLEANUP(freep)
        char *text = mem_printf("{'metadata':{'name':'a'},'status':{'annotation':"
                                "{'disk.csi.azure.com/fence':'%s'}}}",
                                notes[i].note);
        CLEANUP(kube_object_unrefp)
        struct kube_object *object = object_of(&api__az_volume_attachment__descriptor, text);

        assert_int_equal(fence_record_key(as_attachment(object)), notes[i].key);
        assert_int_equal(fence_record_former(as_attachment(object)), notes[i].former);
        assert_int_equal(fence_record_is_lost(as_attachment(object)), notes[i].lost);
    }
}

static void test_what_is_written(void **state)
{
    CLEANUP(freep) char *held = fence_note_held(KEY, 0);
    CLEANUP(freep) char *taken = fence_note_held(KEY, 7);
    CLEANUP(freep) char *lost = fence_note_lost(1);

    (void)state;
    assert_string_equal(held, "held 0x0a0a0a0a00000001");
    assert_string_equal(taken, "held 0x0a0a0a0a00000001 from 0x0000000000000007");
    assert_string_equal(lost, "lost 0x0000000000000001");
}

/* While nobody holds a reservation nobody's writes are refused, and a release is under way. */
static void test_when_it_is_lost(void **state)
{
    (void)state;
    assert_true(fence_watch_is_lost(&(struct reservation){.held = true, .holder = KEY + 1}, KEY));
    assert_false(fence_watch_is_lost(&(struct reservation){.held = true, .holder = KEY}, KEY));
    assert_false(fence_watch_is_lost(&(struct reservation){.held = false}, KEY));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_it_says),
        cmocka_unit_test(test_what_is_written),
        cmocka_unit_test(test_when_it_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
