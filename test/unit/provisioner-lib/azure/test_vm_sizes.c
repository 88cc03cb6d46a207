/* The built-in table of VM sizes: every row of the file that it is made of, and what is not in it.
 */
#include "provisioner-lib/azure/vm_sizes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "test/unit/expect.h"

#define TABLE "provisioner-lib/azure/vm_sizes.txt"

/* Of the table from which the file was made, one line "standard_d2s_v3 4" for each size. */
enum { N_SIZES = 3133 };
static const uint64_t SUM_OF_HASHES = 0x7b3164172f6a7cef;

/* FNV-1a. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return hash;
}

struct seen {
    unsigned n;
    uint64_t sum;
};

static void check_size(const char *series, const char *number, int count, struct seen *seen)
{
    const char *star = strchr(series, '*');
    const char *prefix = strncmp(series, "basic_", 6) == 0 ? "" : "standard_";
    CLEANUP(freep)
    char *name = mem_printf("%s%.*s%s%s", prefix, (int)(star - series), series, number, star + 1);
    CLEANUP(freep) char *line = mem_printf("%s %d", name, count);
    int most = -1;

    if (!vm_sizes_built_in(name, &most) || most != count)
        fail_msg("%s: %d instead of %d", name, most, count);
    seen->n++;
    seen->sum += hash_of(line);
}

static void check_series(char *line, struct seen *seen)
{
    char *rest, *series = strtok_r(line, " ", &rest), *count;

    assert_non_null(strchr(series, '*'));
    while ((count = strtok_r(NULL, " ", &rest))) {
        char *colon = strchr(count, ':');

        assert_non_null(colon);
        *colon = '\0';
        check_size(series, count, (int)strtol(colon + 1, NULL, 10), seen);
    }
}

static void test_every_size(void **state)
{
    CLEANUP(freep) char *text = NULL;
    struct seen seen = {0};
    char *rest;

    (void)state;
    assert_ok(file_read(TABLE, 1 << 20, &text, NULL));
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (line[0] != '#')
            check_series(line, &seen);
    assert_int_equal(seen.n, N_SIZES);
    assert_int_equal(seen.sum, SUM_OF_HASHES);
}

static void test_the_file_is_sorted(void **state)
{
    CLEANUP(freep) char *text = NULL;
    const char *before = "";
    char *rest;

    (void)state;
    assert_ok(file_read(TABLE, 1 << 20, &text, NULL));
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] == '#')
            continue;
        *strchr(line, ' ') = '\0';
        if (strcmp(before, line) >= 0)
            fail_msg("%s comes after %s", line, before);
        before = line;
    }
}

static void test_some_sizes(void **state)
{
    static const struct {
        const char *name;
        int most; /* 0: not known */
    } sizes[] = {
        {"Standard_D4s_v5", 8},
        {"STANDARD_D64S_V5", 32},
        {"Standard_D2s_v3", 4},
        {"Standard_D16ds_v6", 48},
        {"Standard_E104is_v5", 64},
        {"Standard_E16-4ds_v5", 32},
        {"Standard_NC24ads_A100_v4", 8},
        {"Standard_M128s", 64},
        {"Standard_DS2_v2", 8},
        {"Standard_B1s", 2},
        {"Basic_A1", 2},
        {"Standard_D4s_v99", 0}, /* of a series that is not known */
        {"Standard_D3s_v5", 0},  /* a size that its series does not have */
        {"Standard_D4s_v5x", 0},
        {"Standard_D99999999999999999999999s_v5", 0},
        {"Standard_Basic_A1", 0},
        {"D4s_v5", 0},
        {"Standard_", 0},
        {"Standard_Dx", 0},
        {"", 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        int most = 0;

        if (vm_sizes_built_in(sizes[i].name, &most) != (sizes[i].most > 0) || most != sizes[i].most)
            fail_msg("%s: %d instead of %d", sizes[i].name, most, sizes[i].most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_the_file_is_sorted),
        cmocka_unit_test(test_some_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
