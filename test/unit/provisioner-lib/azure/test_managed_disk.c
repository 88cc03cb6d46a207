/* What is read of a disk. */
#include "provisioner-lib/azure/managed_disk.h"

#include "lib/base/alloc.h"
#include "test/unit/provisioner-lib/azure/scripted_arm.h"

#define ID RESOURCES "disks/d"
#define DISK(properties) "{\"id\": \"" ID "\", \"properties\": {" properties "}}"

static const struct {
    const char *body;
    int64_t bytes;
} sizes[] = {
    {DISK("\"diskSizeGB\": 30, \"diskSizeBytes\": 32212254720"), 30 * GIB},
    {DISK("\"diskSizeGB\": 30, \"diskSizeBytes\": 32213303296"), 30 * GIB + (1 << 20)},
    {DISK("\"diskSizeGB\": 30"), 30 * GIB},
    {DISK("\"diskSizeGB\": 31, \"diskSizeBytes\": 32212254720"), 31 * GIB}, /* it grows */
    {DISK("\"diskSizeBytes\": 32212254720"), 0},
    {DISK("\"diskSizeGB\": -1"), 0},
};

struct reading {
    struct scripted_arm *scripted;
    struct cloud_disk disk;
    struct err *err;
};

static void read_disk(struct task *self, void *arg)
{
    struct reading *reading = arg;

    reading->err = managed_disk_get(self, reading->scripted->arm, ID, &reading->disk);
}

static void test_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        const struct line script[] = {{AUTHORITY}, {"disks/d", 0, 200, {NULL}, sizes[i].body}, {0}};
        struct reading reading = {.scripted = scripted_arm_new("", script)};

        loop_spawn(reading.scripted->loop, "read", read_disk, &reading);
        loop_advance(reading.scripted->loop, 1000);
        assert_ok(reading.err);
        if (reading.disk.size_bytes != sizes[i].bytes)
            fail_msg("%s: %lld", sizes[i].body, (long long)reading.disk.size_bytes);
        cloud_disk_fini(&reading.disk);
        scripted_arm_free(reading.scripted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
