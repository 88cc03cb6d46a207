/* The way to a fence, for all that a disk may have registered; devices that know no reservations.
 * Those that do are in test/guest. */
#include "provisioner-lib/host/fence.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"

#define OWN 0x0a0a0a0a00000001
#define FORMER 0x0a0a0a0a00000002
#define OLDER 0x0a0a0a0a00000003
#define FOREIGN 0x0b0b0b0b00000001

#define KEYS(...)                                                                                  \
    .keys = {__VA_ARGS__}, .n_keys = sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
#define HELD_BY(key) .held = true, .holder = (key), .type = RESERVATION_WRITE_EXCLUSIVE

static const struct {
    struct reservation seen;
    enum fence_step step;
    uint64_t other;
} table[] = {
    {{.n_keys = 0}, FENCE_REGISTER, 0},
    {{KEYS(FORMER), HELD_BY(FORMER)}, FENCE_REGISTER, 0},
    {{KEYS(FORMER, OWN), HELD_BY(FORMER)}, FENCE_PREEMPT, FORMER},
    {{KEYS(OLDER, FORMER, OWN), HELD_BY(FORMER)}, FENCE_PREEMPT, FORMER},
    {{KEYS(FORMER, OLDER, OWN), HELD_BY(FORMER)}, FENCE_PREEMPT, FORMER},
    {{KEYS(OWN)}, FENCE_RESERVE, 0},
    {{KEYS(OWN, OLDER)}, FENCE_RESERVE, 0},
    /* Whoever is registered may preempt. */
    {{KEYS(OWN, OLDER), HELD_BY(OWN)}, FENCE_PREEMPT, OLDER},
    {{KEYS(OWN), HELD_BY(OWN)}, FENCE_HELD, 0},
    /* The holder's registration was taken away, and the reservation not yet. */
    {{KEYS(OWN), HELD_BY(FORMER)}, FENCE_PREEMPT, FORMER},
    {{KEYS(FOREIGN)}, FENCE_REFUSED, FOREIGN},
    {{KEYS(FOREIGN), HELD_BY(FOREIGN)}, FENCE_REFUSED, FOREIGN},
    {{KEYS(OWN, FOREIGN)}, FENCE_REFUSED, FOREIGN},
    {{KEYS(FORMER, FOREIGN), HELD_BY(FORMER)}, FENCE_REFUSED, FOREIGN},
    {{KEYS(OWN, FORMER, FOREIGN), HELD_BY(OWN)}, FENCE_REFUSED, FOREIGN},
    {{KEYS(OWN), HELD_BY(FOREIGN)}, FENCE_REFUSED, FOREIGN},
    {{HELD_BY(FOREIGN)}, FENCE_REFUSED, FOREIGN},
};

static void test_the_next_step(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        uint64_t other = 0;

        assert_int_equal(fence_plan(&table[i].seen, OWN, &other), table[i].step);
        if (table[i].step == FENCE_PREEMPT || table[i].step == FENCE_REFUSED)
            assert_int_equal(other, table[i].other);
    }
}

/* In the place of FORMER, and of nobody else. */
static const struct {
    struct reservation seen;
    enum fence_step step;
    uint64_t other;
} successions[] = {
    {{KEYS(FORMER), HELD_BY(FORMER)}, FENCE_REGISTER, 0},
    {{KEYS(FORMER, OWN), HELD_BY(FORMER)}, FENCE_PREEMPT, FORMER},
    {{KEYS(OWN), HELD_BY(OWN)}, FENCE_HELD, 0},
    /* It is registered and may preempt, though it holds nothing. */
    {{KEYS(FORMER, OWN)}, FENCE_RESERVE, 0},
    {{KEYS(FORMER, OWN), HELD_BY(OWN)}, FENCE_PREEMPT, FORMER},
    /* It has given the fence up, or the disk has forgotten it. */
    {{.n_keys = 0}, FENCE_REGISTER, 0},
    {{KEYS(OWN)}, FENCE_RESERVE, 0},
    {{KEYS(OWN), HELD_BY(FORMER)}, FENCE_PREEMPT, FORMER},
    /* A third node of the volume: one that was promoted meanwhile has the fence, and keeps it; one
     * that has registered is left alone. */
    {{KEYS(OLDER), HELD_BY(OLDER)}, FENCE_PASSED, OLDER},
    {{KEYS(OWN, OLDER), HELD_BY(OLDER)}, FENCE_PASSED, OLDER},
    {{KEYS(OWN, FORMER, OLDER), HELD_BY(OLDER)}, FENCE_PASSED, OLDER},
    {{KEYS(OLDER, OWN), HELD_BY(OWN)}, FENCE_HELD, 0},
    {{KEYS(OLDER, OWN, FORMER), HELD_BY(OWN)}, FENCE_PREEMPT, FORMER},
    {{KEYS(OLDER, OWN, FORMER), HELD_BY(FORMER)}, FENCE_PREEMPT, FORMER},
    {{KEYS(FOREIGN), HELD_BY(FOREIGN)}, FENCE_REFUSED, FOREIGN},
    {{KEYS(OWN, FORMER, FOREIGN), HELD_BY(FORMER)}, FENCE_REFUSED, FOREIGN},
    {{KEYS(OWN, FOREIGN), HELD_BY(OWN)}, FENCE_REFUSED, FOREIGN},
};

static void test_the_next_step_of_a_succession(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(successions); i++) {
        enum fence_step step = successions[i].step;
        uint64_t other = 0;

        if (fence_succession_plan(&successions[i].seen, OWN, FORMER, &other) != step)
            fail_msg("row %zu", i);
        if (step == FENCE_PREEMPT || step == FENCE_REFUSED || step == FENCE_PASSED)
            assert_int_equal(other, successions[i].other);
    }
}

static void test_keys(void **state)
{
    uint64_t a = fence_key("driver cluster disk", "node-a boot uid");
    uint64_t b = fence_key("driver cluster disk", "node-b boot uid");
    uint64_t other = fence_key("driver cluster other", "node-a boot uid");

    (void)state;
    assert_int_not_equal(a, b);
    assert_int_equal(a >> 32, b >> 32);
    assert_int_not_equal(a >> 32, other >> 32);
    assert_true(fence_same_family(a, b));
    assert_false(fence_same_family(a, other));
    assert_int_equal(a, fence_key("driver cluster disk", "node-a boot uid"));
    assert_true((a >> 32) && (uint32_t)a);
}

/* As a loop device is, or a disk that is an NVMe namespace. */
static void test_a_device_without_reservations(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(MIB);
    struct reservation found = {.n_keys = 1};
    bool supported = true;

    (void)state;
    assert_ok(reservation_read(disk->fd, &supported, &found));
    assert_false(supported);
    assert_int_equal(found.n_keys, 0);
    assert_fails(reservation_register(disk->fd, OWN), ERR_UNIMPLEMENTED,
                 "the device refuses PERSISTENT RESERVE OUT with service action 6");
}

/* While nobody holds a reservation nobody's writes are refused, and a release is under way. */
static void test_when_it_is_lost(void **state)
{
    const uint64_t key = 0x0a0a0a0a00000001;

    (void)state;
    assert_true(fence_is_lost(&(struct reservation){.held = true, .holder = key + 1}, key));
    assert_false(fence_is_lost(&(struct reservation){.held = true, .holder = key}, key));
    assert_false(fence_is_lost(&(struct reservation){.held = false}, key));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_next_step),
        cmocka_unit_test(test_the_next_step_of_a_succession),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_a_device_without_reservations),
        cmocka_unit_test(test_when_it_is_lost),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
