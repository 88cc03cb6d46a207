#include "lib/base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

struct piece {
    unsigned char *memory;
    size_t size;
    unsigned char mark;
};

/* Mostly small, as the members of an object are; sometimes near or beyond a block. */
static size_t random_size(unsigned *random)
{
    switch (rand_r(random) % 10) {
    case 0:
        return (size_t)rand_r(random) % (40 * 1024);
    case 1:
        return 16 * 1024 - 2 + (size_t)rand_r(random) % 5;
    case 2:
        return 0;
    default:
        return 1 + (size_t)rand_r(random) % 100;
    }
}

static unsigned char *random_piece(struct arena *arena, size_t size, unsigned *random)
{
    if (rand_r(random) % 2)
        return (unsigned char *)arena_alloc_text(arena, size);

    unsigned char *memory = arena_alloc(arena, size);

    assert_int_equal((uintptr_t)memory % sizeof(uint64_t), 0);
    return memory;
}

/* Against the model "every request is memory of its own": zeroed when it is handed out, aligned,
 * and still as it was written at the end. */
static void test_pieces_never_overlap(void **state)
{
    enum { PIECES = 600 };

    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        unsigned random = seed;
        struct piece pieces[PIECES];
        size_t asked = 0;

        for (int i = 0; i < PIECES; i++) {
            size_t size = random_size(&random);
            unsigned char *memory = random_piece(arena, size, &random);

            pieces[i] = (struct piece){memory, size, (unsigned char)rand_r(&random)};
            for (size_t n = 0; n < size; n++)
                assert_int_equal(memory[n], 0);
            memset(memory, pieces[i].mark, size);
            asked += size;
        }
        for (int i = 0; i < PIECES; i++)
            for (size_t n = 0; n < pieces[i].size; n++)
                if (pieces[i].memory[n] != pieces[i].mark)
                    fail_msg("seed %u: piece %d was overwritten", seed, i);
        assert_in_range(arena_bytes(arena), asked, 2 * asked + 64 * 1024);
    }
}

/* A large request leaves the rest of the current block in use. */
static void test_large_requests_waste_nothing(void **state)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    size_t asked = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        memset(arena_alloc(arena, 32), 1, 32);
        memset(arena_alloc(arena, 17 * 1024), 1, 17 * 1024);
        asked += 32 + 17 * 1024;
    }
    assert_in_range(arena_bytes(arena), asked, asked + 20 * 1024);
}

static void make_some(struct arena *arena, unsigned random)
{
    for (int i = 0; i < 200; i++) {
        size_t size = random_size(&random);

        memset(random_piece(arena, size, &random), 1, size);
    }
}

/* The same again fits to the byte, pieces of more than a block, too. */
static void test_just_what_is_needed(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        CLEANUP(arena_freep) struct arena *draft = arena_new();

        make_some(draft, seed);
        CLEANUP(arena_freep) struct arena *sized = arena_new_sized(arena_used(draft));
        size_t taken = arena_bytes(sized);
        assert_in_range(taken, arena_used(draft), arena_used(draft) + 16);
        make_some(sized, seed);
        assert_int_equal(arena_bytes(sized), taken);
        assert_int_equal(arena_used(sized), arena_used(draft));
        memset(arena_alloc(sized, 1), 1, 1);
        assert_true(arena_bytes(sized) > taken);
    }
}

static void test_text(void **state)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();

    (void)state;
    assert_int_equal(arena_bytes(arena), 0);
    assert_string_equal(arena_strdup(arena, "name"), "name");
    assert_string_equal(arena_strdup(arena, ""), "");
    assert_string_equal(arena_printf(arena, "%s/%d", "disk", 3), "disk/3");
    arena_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_never_overlap),
        cmocka_unit_test(test_large_requests_waste_nothing),
        cmocka_unit_test(test_just_what_is_needed),
        cmocka_unit_test(test_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
