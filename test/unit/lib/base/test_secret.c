/* Texts that are kept, and what becomes of them. */
#include "lib/base/secret.h"

#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_left_out_of_cores),
        cmocka_unit_test(test_it_is_gone_when_dropped),
        cmocka_unit_test(test_nothing_is_kept_of_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
