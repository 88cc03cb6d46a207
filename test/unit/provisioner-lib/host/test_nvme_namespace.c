/* What a namespace says of its disk; test/guest/test_nvme_names.py has one that says it to a
 * kernel. */
#include "provisioner-lib/host/nvme_namespace.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/block.h"
#include "test/unit/expect.h"

#define LONGEST                                                                                    \
    "d234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901"  \
    "234567890123456789012345678901234567"

static const struct {
    const char *text;
    bool not_data;
    int lun;
    const char *name;
} rows[] = {
    {"type=data,lun=4,name=data-db", false, 4, "data-db"},
    {"type=data,lun=0,name=a", false, 0, "a"},
    {"name=a,lun=63,type=data", false, 63, "a"},
    {"type=os", true, NVME_NO_LUN, ""},
    {"type=local,index=1,name=nvme-110G-1", true, NVME_NO_LUN, "nvme-110G-1"},
    {"type=data,type=os,lun=1", true, 1, ""},
    {"lun=1,lun=2,name=a,name=b", false, 1, "a"},
    {"", false, NVME_NO_LUN, ""},
    {",,=,=3,lun,name", false, NVME_NO_LUN, ""},
    {"lun=", false, NVME_NO_LUN, ""},
    {"lun=-1", false, NVME_NO_LUN, ""},
    {"lun= 1", false, NVME_NO_LUN, ""},
    {"lun=1x", false, NVME_NO_LUN, ""},
    {"lun=256", false, NVME_NO_LUN, ""},
    {"lun=18446744073709551617", false, NVME_NO_LUN, ""},
    {"name=" LONGEST, false, NVME_NO_LUN, LONGEST},
    {"name=" LONGEST "7", false, NVME_NO_LUN, ""},
    {"Type=os,LUN=1", false, NVME_NO_LUN, ""},
};

static void test_table(void **state)
{
    (void)state;
    assert_int_equal(strlen(LONGEST), NVME_DISK_NAME_SIZE - 1);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct nvme_namespace found;

        nvme_namespace_parse(rows[i].text, (unsigned)strlen(rows[i].text), &found);
        if (found.not_data != rows[i].not_data || found.lun != rows[i].lun ||
            strcmp(found.name, rows[i].name) != 0)
            fail_msg("row %zu, \"%s\": %d, %d, \"%s\"", i, rows[i].text, found.not_data, found.lun,
                     found.name);
    }
}

/* It need not end in a NUL, and what is behind one is nobody's word. */
static void test_its_end(void **state)
{
    static const char text[] = "lun=42\0,name=a";
    struct nvme_namespace found;

    (void)state;
    nvme_namespace_parse(text, 5, &found);
    assert_int_equal(found.lun, 4);
    nvme_namespace_parse(text, sizeof text, &found);
    assert_int_equal(found.lun, 42);
    assert_string_equal(found.name, "");
}

static void test_what_is_no_namespace_says_nothing(void **state)
{
    static const char *const paths[] = {"/dev/null", "/", "/no/such/device"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        CLEANUP(closep) int fd = open(paths[i], O_RDONLY | O_CLOEXEC);
        struct nvme_namespace found = {.not_data = true, .lun = 3, .name = "a"};

        nvme_namespace_read(fd, &found);
        assert_false(found.not_data);
        assert_int_equal(found.lun, NVME_NO_LUN);
        assert_string_equal(found.name, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_its_end),
        cmocka_unit_test(test_what_is_no_namespace_says_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
