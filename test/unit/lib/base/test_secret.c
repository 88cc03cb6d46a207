/* Texts that are kept, and what becomes of them. */
#include "lib/base/secret.h"

#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/file.h"
#include "test/unit/needle.h"

/* What the kernel says of the mapping at an address: "dd" is that no core has it. */
static bool is_left_out(const void *address)
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    unsigned long at = (unsigned long)address, from, to;
    bool here = false, left_out = false;
    char line[512];

    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            here = from <= at && at < to;
        if (here && strncmp(line, "VmFlags:", 8) == 0)
            left_out = strstr(line, " dd") != NULL;
    }
    fclose(maps);
    return left_out;
}

static void test_it_is_left_out_of_cores(void **state)
{
    char *heap = mem_strdup("secret"), *kept = secret_keep(heap);

    (void)state;
    assert_string_equal(kept, "secret");
    assert_true(is_left_out(kept));
    assert_false(is_left_out(heap));
    secret_drop(kept);
    secret_free(heap);
}

static void test_it_is_gone_when_dropped(void **state)
{
    char *kept = secret_keep("secret");
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *start = (void *)((uintptr_t)kept & ~(page - 1));
    unsigned char there;

    (void)state;
    assert_int_equal(mincore(start, page, &there), 0);
    secret_drop(kept);
    assert_int_equal(mincore(start, page, &there), -1); /* no such page */
}

static void test_nothing_is_kept_of_nothing(void **state)
{
    (void)state;
    assert_null(secret_keep(NULL));
    secret_drop(NULL);
    secret_free(NULL);
}

static void test_a_block_is_cleared_beyond_its_first_zero(void **state)
{
    struct needle needle = needle_new("block");
    struct buffer text = {.limit = 4096};

    (void)state;
    /* A sanitizer writes to the first bytes of what is freed. */
    assert_true(buffer_append(&text, (char[32]){0}, 32));
    needle_append(&text, &needle);
    assert_int_equal(needle_count(&needle), 1);
    secret_free_block(text.data);
    assert_int_equal(needle_count(&needle), 0);
    secret_free_block(NULL);
}

/* ---- what deals with secrets on its way ---- */

/* What is made of a text that is secret, for the caller to clear away. */
struct making {
    char *from, *made;
};

/* Where nothing that comes later writes over what was left on the stack. */
static void deep_down(void (*fn)(struct making *making), struct making *making)
{
    char room[64 * 1024];

    explicit_bzero(room, sizeof room);
    fn(making);
    explicit_bzero(room, sizeof room); /* so that it is not made when the call is over */
}

static void put_together(struct making *making)
{
    making->made = mem_printf("Bearer %s", making->from);
}

static void read_file(struct making *making)
{
    assert_ok(file_read(making->from, 4096, &making->made, NULL));
}

static void grow(struct making *making)
{
    struct buffer buffer = {.limit = 64 * 1024};

    for (int i = 0; i < 100; i++)
        assert_true(buffer_append(&buffer, making->from, strlen(making->from)));
    making->made = buffer_take(&buffer);
}

static void collect(struct making *making)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();

    (void)!arena_strdup(arena, making->from);
    (void)!arena_alloc(arena, 4096); /* in another block */
    (void)!arena_strdup(arena, making->from);
}

static unsigned left_by(void (*fn)(struct making *making), char *from, const struct needle *needle)
{
    struct making making = {.from = from};
    unsigned before = needle_count(needle);

    deep_down(fn, &making);
    secret_free(making.made);
    return needle_count(needle) - before;
}

static void test_nothing_stays_on_the_way(void **state)
{
    struct needle needle = needle_new("secret");
    struct buffer text = {.limit = 4096};
    char path[] = "/tmp/test_secret_XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    needle_append(&text, &needle);
    assert_int_equal(write(fd, text.data, text.length), text.length);
    close(fd);
    assert_int_equal(needle_count(&needle), 1);
    assert_int_equal(left_by(put_together, text.data, &needle), 0);
    assert_int_equal(left_by(read_file, path, &needle), 0);
    assert_int_equal(left_by(grow, text.data, &needle), 0);
    assert_int_equal(left_by(collect, text.data, &needle), 0);
    buffer_fini(&text);
    assert_int_equal(needle_count(&needle), 0);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_left_out_of_cores),
        cmocka_unit_test(test_it_is_gone_when_dropped),
        cmocka_unit_test(test_nothing_is_kept_of_nothing),
        cmocka_unit_test(test_a_block_is_cleared_beyond_its_first_zero),
        cmocka_unit_test(test_nothing_stays_on_the_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
