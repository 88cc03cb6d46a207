/* Another UUID for real file systems, next to their origins, and cut off in between. */
#include "provisioner-lib/host/filesystem_uuid.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/mount.h"
#include "provisioner-lib/host/probe.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"

#define ORIGIN "617a646b-1111-8111-8111-111111111111"
#define OWN "617a646b-6e85-804c-ba1a-e367f410918d"
#define THIRD "617a646b-3333-8333-8333-333333333333"

enum { SECTOR = 512 };

typedef struct err *set_uuid(int fd, const char *uuid);

static const struct kind {
    const char *what, *type;
    set_uuid *set;
    uint64_t size;
    const char *make[12];
} kinds[] = {
    {"ext4", "ext4", ext4_uuid_set, SMALLEST_EXT4, {"mkfs.ext4", "-q", "-U", ORIGIN}},
    {"ext4 of several groups",
     "ext4",
     ext4_uuid_set,
     SMALLEST_XFS,
     {"mkfs.ext4", "-q", "-b", "4096", "-g", "8192", "-U", ORIGIN}},
    {"ext4 with two copies of the superblock",
     "ext4",
     ext4_uuid_set,
     4 * SMALLEST_EXT4,
     {"mkfs.ext4", "-q", "-O", "sparse_super2", "-U", ORIGIN}},
    {"ext4 with its seed in the superblock",
     "ext4",
     ext4_uuid_set,
     SMALLEST_EXT4,
     {"mkfs.ext4", "-q", "-O", "metadata_csum_seed", "-U", ORIGIN}},
    {"ext3", "ext3", ext4_uuid_set, SMALLEST_EXT4, {"mkfs.ext4", "-t", "ext3", "-q", "-U", ORIGIN}},
    {"ext2", "ext2", ext4_uuid_set, SMALLEST_EXT4, {"mkfs.ext4", "-t", "ext2", "-q", "-U", ORIGIN}},
    {"xfs", "xfs", xfs_uuid_set, SMALLEST_XFS, {"mkfs.xfs", "-q", "-m", "uuid=" ORIGIN}},
    {"xfs of large sectors",
     "xfs",
     xfs_uuid_set,
     SMALLEST_XFS,
     {"mkfs.xfs", "-q", "-s", "size=4096", "-m", "uuid=" ORIGIN}},
    {"xfs with a striped log",
     "xfs",
     xfs_uuid_set,
     SMALLEST_XFS,
     {"mkfs.xfs", "-q", "-l", "su=256k", "-m", "uuid=" ORIGIN}},
};

/* ---- file systems ---- */

static void make(const struct kind *kind, const struct disk *disk)
{
    const char *argv[COUNT_OF(kind->make) + 2];
    size_t n = 0;

    while (kind->make[n]) {
        argv[n] = kind->make[n];
        n++;
    }
    argv[n++] = disk->path;
    argv[n] = NULL;
    run_program(argv);
}

static struct mount_request request_of(const struct kind *kind, const struct disk *disk,
                                       const char *target)
{
    static const char *const nouuid[] = {"nouuid"};

    return (struct mount_request){.device = disk->path,
                                  .target = target,
                                  .type = kind->type,
                                  .options = nouuid,
                                  .n_options = strcmp(kind->type, "xfs") == 0};
}

static void replay(const struct kind *kind, const struct disk *disk)
{
    struct mount_request request = request_of(kind, disk, NULL);

    assert_ok(mount_replay(&request));
    assert_ok(block_drop_caches(disk->fd));
}

/* What it holds, after a mount at which everything is looked at that mounting looks at. */
static void assert_holds(const struct kind *kind, const struct disk *disk, const char *text)
{
    const char *target = in_workplace("holds"), *file = below(target, "file");
    struct mount_request request = request_of(kind, disk, target);

    make_folder(target);
    assert_ok(mount_filesystem(&request));
    CLEANUP(freep) char *found = read_text(file);
    assert_string_equal(found, text);
    assert_ok(mount_remove(target));
}

static void assert_uuid(const struct disk *disk, const char *uuid)
{
    struct disk_observation found;

    assert_ok(block_drop_caches(disk->fd));
    assert_ok(probe_device(disk->fd, &found));
    assert_int_equal(found.content, DISK_FILESYSTEM);
    assert_string_equal(found.uuid, uuid);
}

static void assert_sound(const struct kind *kind, const struct disk *disk)
{
    if (kind->set == xfs_uuid_set)
        RUN("xfs_repair", "-n", disk->path);
    else
        RUN("e2fsck", "-f", "-n", disk->path);
}

/* One that was used, and whose node lost power. */
static struct disk *used(const struct kind *kind)
{
    struct disk *disk = disk_new(kind->size);

    make(kind, disk);
    disk_use_and_cut_off(disk, kind->type);
    return disk;
}

#define WRITTEN "written before the power cut"

/* ---- tests ---- */

static void test_copy_next_to_its_origin(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const struct kind *kind = &kinds[i];
        CLEANUP(disk_freep) struct disk *origin = used(kind);
        CLEANUP(disk_freep) struct disk *copy = disk_copy(origin);
        const char *target = in_workplace("origin");
        struct mount_request request = request_of(kind, origin, target);

        print_message("%s\n", kind->what);
        make_folder(target);
        request.n_options = 0;
        assert_ok(mount_filesystem(&request));
        replay(kind, copy);
        assert_ok(kind->set(copy->fd, OWN));
        assert_uuid(copy, OWN);
        assert_sound(kind, copy);
        assert_holds(kind, copy, WRITTEN);
        assert_sound(kind, copy);

        /* Once more, and back: what the checksums began with is still known. */
        assert_ok(kind->set(copy->fd, THIRD));
        assert_ok(kind->set(copy->fd, ORIGIN));
        assert_uuid(copy, ORIGIN);
        assert_sound(kind, copy);
        assert_ok(kind->set(copy->fd, OWN));
        disk_use_and_cut_off(copy, kind->type);
        assert_holds(kind, copy, WRITTEN);
        assert_uuid(copy, OWN);
        assert_sound(kind, copy);
        assert_ok(mount_remove(target));
        assert_uuid(origin, ORIGIN);
    }
}

/* What has not been replayed is not touched. */
static void test_journal_to_replay(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (strcmp(kinds[i].type, "ext2") == 0)
            continue;
        CLEANUP(disk_freep) struct disk *disk = used(&kinds[i]);
        assert_ok(block_drop_caches(disk->fd));
        uint64_t before = disk_checksum(disk);

        print_message("%s\n", kinds[i].what);
        assert_fails(kinds[i].set(disk->fd, OWN), ERR_INTERNAL,
                     kinds[i].set == xfs_uuid_set
                         ? "the file system's log has not been replayed"
                         : "the file system's journal has not been replayed");
        assert_int_equal(disk_checksum(disk), before);
    }
}

/* The sectors that are another's in `changed`, one after the other but the first superblock. */
static bool next_change(const struct disk *before, const struct disk *changed, uint64_t *at)
{
    char a[SECTOR], b[SECTOR];

    for (*at += SECTOR; *at < before->size; *at += SECTOR) {
        assert_int_equal(pread(before->image, a, SECTOR, (off_t)*at), SECTOR);
        assert_int_equal(pread(changed->image, b, SECTOR, (off_t)*at), SECTOR);
        if (*at >= 4096 && memcmp(a, b, SECTOR) != 0)
            return true;
    }
    return false;
}

/* A power cut after any of the writes: it is mounted with its former UUID, and can be changed. */
static void test_cut_off(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const struct kind *kind = &kinds[i];
        CLEANUP(disk_freep) struct disk *origin = used(kind);
        replay(kind, origin);
        CLEANUP(disk_freep) struct disk *changed = disk_copy(origin);
        CLEANUP(disk_freep) struct disk *partly = disk_copy(origin);
        size_t n = 0;

        assert_ok(kind->set(changed->fd, OWN));
        assert_int_equal(fsync(changed->fd), 0);
        for (uint64_t at = 0; next_change(origin, changed, &at); n++) {
            char sector[SECTOR];

            assert_int_equal(pread(changed->image, sector, SECTOR, (off_t)at), SECTOR);
            assert_int_equal(pwrite(partly->image, sector, SECTOR, (off_t)at), SECTOR);
            CLEANUP(disk_freep) struct disk *cut = disk_copy(partly);
            assert_uuid(cut, ORIGIN);
            assert_holds(kind, cut, WRITTEN);
            assert_ok(block_drop_caches(cut->fd));
            assert_ok(kind->set(cut->fd, OWN));
            assert_uuid(cut, OWN);
            assert_sound(kind, cut);
        }
        print_message("%s: after %zu writes\n", kind->what, n);
        assert_true(n > 0 || kind->size == SMALLEST_EXT4);
    }
}

/* The first superblock is written when all else has been: of the image, which is a file, no
 * more than the beginning can be written at first. */
static void test_first_superblock_last(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_XFS);
    const struct rlimit little = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
    const struct rlimit all = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

    (void)state;
    make(&kinds[6], disk);
    replay(&kinds[6], disk);
    assert_int_equal(fsync(disk->fd), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    struct err *err = xfs_uuid_set(disk->image, OWN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
    assert_fails(err, ERR_INTERNAL, "writing the device: File too large");
    assert_uuid(disk, ORIGIN);
    assert_ok(xfs_uuid_set(disk->image, OWN));
    assert_uuid(disk, OWN);
}

/* Records of a striped log are large: the log is written round once and a half. */
static void test_log_that_went_round(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_XFS);
    const struct kind *striped = &kinds[COUNT_OF(kinds) - 1];

    (void)state;
    make(striped, disk);
    for (int i = 0; i < 200; i++) {
        replay(striped, disk);
        assert_ok(xfs_uuid_set(disk->fd, i % 2 == 0 ? OWN : THIRD));
    }
    assert_sound(striped, disk);
}

/* Checksums of group descriptors alone: e2fsck puts them right, as the node has it do. */
static void test_group_checksums(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_EXT4);
    struct mount_request request = request_of(&kinds[0], disk, NULL);

    (void)state;
    RUN("mkfs.ext4", "-q", "-O", "^metadata_csum,uninit_bg", "-U", ORIGIN, disk->path);
    disk_use_and_cut_off(disk, "ext4");
    replay(&kinds[0], disk);
    assert_ok(ext4_uuid_set(disk->fd, OWN));
    struct err *err = mount_replay(&request);
    assert_true(mount_shows_damage(err));
    err_free(err);
    pid_t child = fork();
    if (child == 0) {
        execlp("e2fsck", "e2fsck", "-f", "-p", disk->path, NULL);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1); /* errors corrected */
    assert_holds(&kinds[0], disk, WRITTEN);
    assert_uuid(disk, OWN);
}

static void assert_refused(const struct disk *disk, set_uuid *set, const char *why)
{
    assert_ok(block_drop_caches(disk->fd));
    uint64_t before = disk_checksum(disk);

    assert_fails(set(disk->fd, OWN), ERR_INTERNAL, why);
    assert_int_equal(disk_checksum(disk), before);
}

static void test_refused(void **state)
{
    CLEANUP(disk_freep) struct disk *ext4 = disk_new(SMALLEST_EXT4);
    CLEANUP(disk_freep) struct disk *xfs = disk_new(SMALLEST_XFS);

    (void)state;
    assert_refused(ext4, ext4_uuid_set, "the device has no valid ext4 superblock");
    assert_refused(xfs, xfs_uuid_set, "the device has no valid xfs superblock at byte 0");
    assert_fails(ext4_uuid_set(ext4->fd, "x"), ERR_INVALID, "\"x\" is not a UUID");
    assert_fails(xfs_uuid_set(xfs->fd, "x"), ERR_INVALID, "\"x\" is not a UUID");

    RUN("mkfs.ext4", "-q", "-O", "stable_inodes", ext4->path);
    assert_refused(ext4, ext4_uuid_set,
                   "the file system's UUID cannot change: it has the feature stable_inodes");
    RUN("mkfs.ext4", "-q", "-F", "-O", "^metadata_csum,ea_inode", ext4->path);
    assert_refused(ext4, ext4_uuid_set,
                   "the file system's UUID cannot change: it has the feature ea_inode without "
                   "metadata_csum");
    RUN("mkfs.ext4", "-q", "-F", ext4->path);
    disk_write(ext4, 1024 + 0x200, "damage");
    assert_refused(ext4, ext4_uuid_set, "the device has no valid ext4 superblock");

    RUN("mkfs.xfs", "-q", "-m", "uuid=" ORIGIN, xfs->path);
    replay(&kinds[6], xfs);
    disk_write(xfs, xfs->size / 4 + 480, "damage"); /* the second of four groups */
    assert_refused(xfs, xfs_uuid_set, "the device has no valid xfs superblock at byte 78643200");
}

/* As xfs_admin leaves it when it is cut off: it has written the log, but no superblock yet. */
static void test_log_of_another(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_XFS);
    char sector[SECTOR];

    (void)state;
    make(&kinds[6], disk);
    replay(&kinds[6], disk);
    assert_int_equal(pread(disk->fd, sector, SECTOR, 0), SECTOR);
    assert_ok(xfs_uuid_set(disk->fd, OWN));
    replay(&kinds[6], disk);
    assert_int_equal(pwrite(disk->fd, sector, SECTOR, 0), SECTOR);
    assert_refused(disk, xfs_uuid_set, "the last record of the file system's log is damaged");
}

/* A log whose last record was changed. */
static void test_damaged_log(void **state)
{
    static const char *const damages[] = {"log of another", "checksum"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(damages); i++) {
        CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_XFS);
        CLEANUP(disk_freep) struct disk *other = NULL;
        uint64_t at = 0;

        make(&kinds[6], disk);
        replay(&kinds[6], disk);
        other = disk_copy(disk);
        assert_ok(xfs_uuid_set(other->fd, OWN));
        assert_int_equal(fsync(other->fd), 0);
        do
            assert_true(next_change(disk, other, &at));
        while (at % (SMALLEST_XFS / 4) == 0);                 /* superblocks */
        disk_write(disk, at + (i == 0 ? 304 : 24), "damage"); /* its UUID; another member */
        assert_refused(disk, xfs_uuid_set, "the last record of the file system's log is damaged");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_next_to_its_origin),
        cmocka_unit_test(test_journal_to_replay),
        cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_first_superblock_last),
        cmocka_unit_test(test_log_that_went_round),
        cmocka_unit_test(test_group_checksums),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_log_of_another),
        cmocka_unit_test(test_damaged_log),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
