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

/* The same again fits to the byte, pieces of more than a block, too; and it outlives the arena. */
static void test_just_what_is_needed(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        CLEANUP(arena_freep) struct arena *draft = arena_new();

        make_some(draft, seed);
        CLEANUP(freep) char *memory = mem_alloc(arena_used(draft));
        struct arena *given = arena_new_in(memory, arena_used(draft));
        make_some(given, seed);
        assert_int_equal(arena_bytes(given), 0);
        assert_int_equal(arena_used(given), arena_used(draft));
        char *first = arena_strdup(given, "beside it");
        assert_true(arena_bytes(given) > 0);
        assert_string_equal(first, "beside it");
        arena_free(given);
        memset(memory, 2, arena_used(draft));
    }
}

/* A text is put in once, also if it is the end of another. */
static void test_shared_text(void **state)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    char letters[ARENA_SHARES];

    (void)state;
    memset(letters, 'x', sizeof letters - 1);
    letters[sizeof letters - 1] = '\0';
    char *key = arena_share_text(arena, "namespace/rather-a-long-name", 28);
    assert_string_equal(key, "namespace/rather-a-long-name");
    size_t used = arena_used(arena);
    assert_ptr_equal(arena_share_text(arena, "namespace/rather-a-long-name", 28), key);
    assert_ptr_equal(arena_share_text(arena, "rather-a-long-name", 18), key + 10);
    assert_int_equal(arena_used(arena), used);
    assert_string_equal(arena_share_text(arena, "namespace/rather-a-long", 23),
                        "namespace/rather-a-long");
    assert_string_equal(arena_share_text(arena, "name", 4), "name");
    assert_int_equal(arena_used(arena), used + 24 + 5);
    assert_memory_equal(arena_share_text(arena, "a\0b", 3), "a\0b", 4);
    assert_string_equal(arena_share_text(arena, "", 0), "");
    assert_ptr_equal(arena_share_text(arena, "rather-a-long-name", 18), key + 10);
    assert_string_equal(arena_share_text(arena, letters, sizeof letters - 1), letters);
    assert_ptr_not_equal(arena_share_text(arena, "rather-a-long-name", 18), key + 10);
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

static void test_known_text(void **state)
{
    static const struct known_text known[] = {{"a", 1}, {"b", 1}, {"name", 4}};
    CLEANUP(arena_freep) struct arena *arena = arena_new();

    (void)state;
    arena_know(arena, known, COUNT_OF(known));
    for (size_t i = 0; i < COUNT_OF(known); i++)
        assert_ptr_equal(arena_share_text(arena, known[i].text, known[i].length), known[i].text);
    assert_int_equal(arena_used(arena), 0);
    assert_memory_equal(arena_share_text(arena, "b\0c", 3), "b\0c", 4);
    assert_string_equal(arena_share_text(arena, "names", 5), "names");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_never_overlap),
        cmocka_unit_test(test_large_requests_waste_nothing),
        cmocka_unit_test(test_just_what_is_needed),
        cmocka_unit_test(test_shared_text),
        cmocka_unit_test(test_known_text),
        cmocka_unit_test(test_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
