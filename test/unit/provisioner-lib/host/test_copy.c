/* A copy of a disk as tasks prepare it: its journal is replayed, and it gets another UUID. */
#include "provisioner-lib/host/host.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/scene.h"

#define ORIGIN "617a646b-1111-8111-8111-111111111111"

static const struct filesystem_identity sources[] = {{"ext4", ORIGIN}, {"xfs", ORIGIN}};

static struct disk *used(const char *type)
{
    struct disk *disk = disk_new(SMALLEST_XFS);

    if (strcmp(type, "xfs") == 0)
        RUN("mkfs.xfs", "-q", "-m", "uuid=" ORIGIN, disk->path);
    else
        RUN("mkfs.ext4", "-q", "-U", ORIGIN, disk->path);
    disk_use_and_cut_off(disk, type);
    return disk;
}

/* What was read of the device before the replay is not what is on it then. */
static void takes_a_copy(struct task *self, struct scene *scene,
                         const struct filesystem_identity *source)
{
    const struct filesystem *type = filesystem_find(source->type);
    CLEANUP(disk_freep) struct disk *disk = used(type->name);
    struct mount_request request = {.device = disk->path, .type = type->name};
    struct disk_expectation expected = expect(disk);
    struct disk_verdict verdict;
    struct device device;

    expected.type = type->name;
    expected.source = source;
    find(self, scene, disk, &device);
    assert_ok(host_prove(self, scene->host, &device, &device, &expected, &verdict));
    assert_true(verdict.copy && verdict.record_due && !verdict.format);
    struct err *err = host_set_uuid(self, scene->host, &device, type, expected.uuid);
    assert_non_null(strstr(err_message(err), "has not been replayed"));
    err_free(err);

    assert_ok(host_replay(self, scene->host, &request));
    assert_ok(host_set_uuid(self, scene->host, &device, type, expected.uuid));
    assert_ok(host_prove(self, scene->host, &device, &device, &expected, &verdict));
    assert_true(!verdict.copy && verdict.record_due && !verdict.format);
    device_close(&device);
}

static void takes_ext4(struct task *self, struct scene *scene)
{
    takes_a_copy(self, scene, &sources[0]);
}

static void takes_xfs(struct task *self, struct scene *scene)
{
    takes_a_copy(self, scene, &sources[1]);
}

static void test_ext4(void **state)
{
    play(*state, takes_ext4);
}

static void test_xfs(void **state)
{
    play(*state, takes_xfs);
}

static void leaves_it_alone(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = used("ext4");
    const struct filesystem *type = filesystem_find("ext4");
    const char *target = in_workplace("in-use");
    struct mount_request request = {.device = disk->path, .target = target, .type = "ext4"};
    CLEANUP(freep)
    char *message = mem_printf("%s: %s: the device is in use", disk->path, disk->path);
    struct device device;

    find(self, scene, disk, &device);
    make_folder(target);
    assert_ok(mount_filesystem(&request));
    assert_fails(host_set_uuid(self, scene->host, &device, type, expect(disk).uuid),
                 ERR_PRECONDITION, message);
    assert_ok(mount_remove(target));
    device_close(&device);
}

static void test_in_use(void **state)
{
    play(*state, leaves_it_alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_ext4),
        SCENE(test_xfs),
        SCENE(test_in_use),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
