/* What becomes of a fence, look by look. */
#include "node/fence_watch.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { NOBODY, OWN, OTHER, ANOTHER };

static bool see(struct fence_loss *loss, uint64_t key, uint64_t holder)
{
    const struct reservation seen = {.held = holder != NOBODY, .holder = holder};

    return fence_loss_see(loss, &(struct fence_claim){.key = key}, &seen);
}

static void told_and_ended(struct fence_loss *loss)
{
    loss->told = loss->ended = true;
}

static void test_what_is_not_lost(void **state)
{
    struct fence_loss loss = {0};

    (void)state;
    assert_false(see(&loss, OWN, OWN));
    assert_false(see(&loss, OWN, NOBODY)); /* as that of a disk that was detached in between */
    assert_true(see(&loss, OWN, OTHER));
}

/* The machine may have stood still while another node took the fence and gave it up. */
static void test_what_was_taken_and_given_up_between_two_looks(void **state)
{
    static const struct {
        struct fence_claim claim;
        struct reservation seen;
        bool lost;
    } cases[] = {
        {{OWN, 5, true}, {.generation = 7}, true},
        {{OWN, 0, true}, {.generation = 1}, true},
        {{OWN, 5, true}, {.generation = 7, .keys = {OTHER}, .n_keys = 1}, true},
        {{OWN, 5, false}, {.generation = 7}, false}, /* nothing is written, or by an earlier boot */
        {{OWN, 5, true}, {.generation = 5}, false},
        {{OWN, 5, true}, {.generation = 0}, false}, /* the disk has forgotten everybody */
        {{OWN, 5, true}, {.generation = 7, .keys = {OWN}, .n_keys = 1}, false},
        {{OWN, 5, true},
         {.generation = 7, .keys = {OWN}, .n_keys = 1, .held = true, .holder = OWN},
         false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fence_loss loss = {0};

        if (fence_loss_see(&loss, &cases[i].claim, &cases[i].seen) != cases[i].lost)
            fail_msg("case %zu", i);
    }
}

/* The API server may be away as long as the other node has it. */
static void test_it_stays_lost_when_the_other_is_gone(void **state)
{
    struct fence_loss loss = {0};

    (void)state;
    assert_true(see(&loss, OWN, OTHER));
    told_and_ended(&loss);
    assert_true(see(&loss, OWN, NOBODY));
    assert_true(loss.told && loss.ended);
}

static void test_what_was_taken_back_is_lost_again(void **state)
{
    struct fence_loss loss = {0};

    (void)state;
    assert_true(see(&loss, OWN, OTHER));
    told_and_ended(&loss);
    assert_false(see(&loss, OWN, OWN));
    assert_true(see(&loss, OWN, OTHER));
    assert_false(loss.told || loss.ended); /* its use goes on, and is to be ended */
}

static void test_another_fence_has_lost_nothing(void **state)
{
    struct fence_loss loss = {0};

    (void)state;
    assert_true(see(&loss, OWN, OTHER));
    told_and_ended(&loss);
    assert_false(see(&loss, ANOTHER, NOBODY));
    assert_true(see(&loss, ANOTHER, OTHER));
    assert_false(loss.told || loss.ended);
}

/* That nobody could be kept from writing when it was lost. */
static void test_a_use_that_could_not_be_ended(void **state)
{
    struct fence_loss loss = {0};

    (void)state;
    assert_true(see(&loss, OWN, OTHER));
    loss.told = loss.in_use = true;
    assert_true(see(&loss, OWN, OWN));
    assert_true(see(&loss, OWN, NOBODY));
    assert_true(loss.in_use);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_not_lost),
        cmocka_unit_test(test_what_was_taken_and_given_up_between_two_looks),
        cmocka_unit_test(test_it_stays_lost_when_the_other_is_gone),
        cmocka_unit_test(test_what_was_taken_back_is_lost_again),
        cmocka_unit_test(test_another_fence_has_lost_nothing),
        cmocka_unit_test(test_a_use_that_could_not_be_ended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
