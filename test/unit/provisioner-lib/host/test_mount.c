/* Mounts of real file systems: options, read-only, binds, the table; by the kernel's newer calls,
 * and once more by its older ones. */
#include "provisioner-lib/host/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/mount_options.h"
#include "provisioner-lib/host/mount_table.h"
#include "provisioner-lib/host/target_mount.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"
#include "test/unit/provisioner-lib/host/old_kernel.h"

#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct disk *ext4, *xfs;
static bool old; /* the kernel */

static int setup(void **state)
{
    workplace_setup(state);
    ext4 = disk_new(SMALLEST_EXT4);
    xfs = disk_new(SMALLEST_XFS);
    RUN("mkfs.ext4", "-q", ext4->path);
    RUN("mkfs.xfs", "-q", xfs->path);
    return 0;
}

static int teardown(void **state)
{
    disk_free(ext4);
    disk_free(xfs);
    return workplace_teardown(state);
}

static struct mount_request request_of(const struct disk *disk, const char *target,
                                       const char *const *options)
{
    struct mount_request request = {.device = disk->path,
                                    .target = target,
                                    .type = disk == ext4 ? "ext4" : "xfs",
                                    .options = options};

    while (options[request.n_options])
        request.n_options++;
    return request;
}

/* The options that the kernel shows for a mount, "," before and after each. */
static char *shown_options(const char *target)
{
    CLEANUP(freep) char *wanted = mem_printf(" %s ", target);
    FILE *table = fopen("/proc/self/mounts", "re");
    char *line = NULL, *options = NULL;
    size_t size = 0;

    assert_non_null(table);
    while (getline(&line, &size, table) >= 0) {
        char *type = strstr(line, wanted);
        char *begin = type ? strchr(type + strlen(wanted), ' ') : NULL;

        if (begin) {
            free(options);
            options = mem_printf(",%.*s,", (int)strcspn(begin + 1, " "), begin + 1);
        }
    }
    free(line);
    fclose(table);
    assert_non_null(options);
    return options;
}

/* What can be seen of options that are accepted. */
static void test_options(void **state)
{
    const struct {
        const char *const *options;
        bool read_only;
        const char *shown; /* among others */
        const char *hidden;
    } rows[] = {
        {OPTIONS(NULL), false, ",rw,", ",ro,"},
        {OPTIONS("defaults"), false, ",rw,relatime,", ",ro,"},
        {OPTIONS("noatime"), false, ",noatime,", ",relatime,"},
        {OPTIONS("noatime", "relatime"), false, ",relatime,", ",noatime,"},
        {OPTIONS("nosuid,nodev", "noexec,nodiratime"), false, ",nosuid,nodev,noexec,", ",ro,"},
        {OPTIONS("nosuid", "suid"), false, ",rw,", ",nosuid,"},
        {OPTIONS("ro"), false, ",ro,", ",rw,"},
        {OPTIONS(NULL), true, ",ro,", ",rw,"},
        {OPTIONS("sync", "lazytime"), false, ",sync,", ",ro,"},
        {OPTIONS("_netdev", "nofail", "rw"), false, ",rw,", ",ro,"},
        /* Here SELinux is off; where it is on is test/guest/test_selinux.py. */
        {OPTIONS("context=\"system_u:object_r:container_file_t:s0:c1,c2\",noatime"), false,
         ",noatime,", "context"},
        {OPTIONS("fscontext=a", "defcontext=b,rootcontext=c", "nosuid"), false, ",nosuid,",
         "context"},
    };
    const char *target = in_workplace("options");

    (void)state;
    make_folder(target);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct mount_request request = request_of(i % 2 ? xfs : ext4, target, rows[i].options);

        request.read_only = rows[i].read_only;
        assert_ok(mount_filesystem(&request));
        CLEANUP(freep) char *shown = shown_options(target);
        if (!strstr(shown, rows[i].shown) || strstr(shown, rows[i].hidden))
            fail_msg("row %zu: %s is not as %s, or has %s", i, shown, rows[i].shown,
                     rows[i].hidden);
        assert_ok(mount_remove(target));
    }
}

static void test_options_of_the_file_system(void **state)
{
    const char *target = in_workplace("own-options");
    struct mount_request request =
        request_of(ext4, target, OPTIONS("commit=\"17\",data=journal", "errors=remount-ro"));

    (void)state;
    make_folder(target);
    assert_ok(mount_filesystem(&request));
    CLEANUP(freep) char *shown = shown_options(target);
    assert_non_null(strstr(shown, ",commit=17,"));
    assert_non_null(strstr(shown, ",data=journal,"));
    assert_ok(mount_remove(target));
}

static void test_refused_options(void **state)
{
    static const char older[] = "the file system rejects its mount options: Invalid argument; the "
                                "log of the node's kernel says which";
    static const struct {
        bool xfs;
        const char *option, *reason, *old_reason;
    } rows[] = {
        {false, "nonsense", "mount option \"nonsense\": ext4: Unknown parameter 'nonsense'", older},
        {false, "commit=soon", "mount option \"commit=soon\": ext4: Bad value for 'commit'", older},
        {true, "data=journal", "mount option \"data=journal\": xfs: Unknown parameter 'data'",
         older},
        {false, "bind", "mount option \"bind\": ext4: Unknown parameter 'bind'", older},
        {false, "remount", "mount option \"remount\": ext4: Unknown parameter 'remount'", older},
        {false, "noatime=1", "mount option \"noatime=1\": ext4: Unknown parameter 'noatime'",
         older},
        {false, "source=/dev/sda",
         "mount option \"source\" is not allowed: the source is always the volume",
         "mount option \"source\" is not allowed: the source is always the volume"},
        {true, "logbufs=99", "the file system rejects its mount options: Invalid argument", older},
    };
    const char *target = in_workplace("refused");

    (void)state;
    make_folder(target);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct disk *disk = rows[i].xfs ? xfs : ext4;
        struct mount_request request = request_of(disk, target, OPTIONS("noatime", rows[i].option));
        CLEANUP(freep)
        char *message = mem_printf("mounting %s at %s: %s", disk->path, target,
                                   old ? rows[i].old_reason : rows[i].reason);
        struct mount_entry entry;

        assert_fails(mount_filesystem(&request), ERR_INVALID, message);
        assert_ok(mount_table_at(target, &entry));
        assert_null(entry.target);
    }
}

static void test_what_older_kernels_do_not_know(void **state)
{
    CLEANUP(freep) char *endless = mem_printf("commit=%05000d", 17);
    const char *target = in_workplace("unknown");
    const struct {
        const char *option, *reason;
    } rows[] = {
        {"nosymfollow", "mount option \"nosymfollow\": the node's kernel does not know it, Linux "
                        "5.10 and later do"},
        {endless, "the mount options are longer than 4095 bytes"},
    };

    (void)state;
    make_folder(target);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct mount_request request =
            request_of(ext4, target, OPTIONS("data=journal", rows[i].option));
        CLEANUP(freep)
        char *message = mem_printf("mounting %s at %s: %s", ext4->path, target, rows[i].reason);

        assert_fails(mount_filesystem(&request), ERR_INVALID, message);
    }
}

static void test_what_cannot_be_mounted(void **state)
{
    CLEANUP(disk_freep) struct disk *blank = disk_new(MIB);
    const char *target = in_workplace("cannot"), *missing = in_workplace("missing");
    struct mount_request request = request_of(ext4, missing, OPTIONS(NULL));

    (void)state;
    CLEANUP(freep)
    char *no_target = mem_printf("mounting %s at %s: %sNo such file or directory", ext4->path,
                                 missing, old ? "" : "move_mount: ");
    assert_fails(mount_filesystem(&request), ERR_INTERNAL, no_target);

    make_folder(target);
    request.device = blank->path;
    request.target = target;
    CLEANUP(freep)
    char *no_content = mem_printf("mounting %s at %s: Invalid argument", blank->path, target);
    assert_fails(mount_filesystem(&request), ERR_INTERNAL, no_content);

    request.type = "nosuchfs";
    CLEANUP(freep)
    char *no_type = mem_printf("mounting %s at %s: the kernel does not support nosuchfs: No such "
                               "device",
                               blank->path, target);
    assert_fails(mount_filesystem(&request), ERR_INTERNAL, no_type);
}

/* Mounted for writing, it cannot be mounted read-only as well. */
static void test_a_device_in_use(void **state)
{
    const char *first = in_workplace("use-1"), *second = in_workplace("use-2");
    struct mount_request request = request_of(ext4, first, OPTIONS(NULL));

    (void)state;
    make_folder(first);
    make_folder(second);
    assert_ok(mount_filesystem(&request));
    request.target = second;
    request.read_only = true;
    CLEANUP(freep)
    char *newer = mem_printf("mounting %s at %s: %s: Can't mount, would change RO state",
                             ext4->path, second, ext4->path + strlen("/dev/"));
    CLEANUP(freep)
    char *older = mem_printf("mounting %s at %s: Device or resource busy", ext4->path, second);
    assert_fails(mount_filesystem(&request), ERR_PRECONDITION, old ? older : newer);
    assert_ok(mount_remove(first));
}

/* A journal is replayed where nobody sees it, or not at all. */
static void test_replay(void **state)
{
    static const char *const types[] = {"ext4", "xfs"};
    const char *target = in_workplace("replayed");

    (void)state;
    make_folder(target);
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_XFS);
        CLEANUP(freep) char *mkfs = mem_printf("mkfs.%s", types[i]);
        struct mount_request request = {
            .device = disk->path, .target = target, .type = types[i], .read_only = true};
        struct mount_request replay = {.device = disk->path, .type = types[i]};
        bool mounted;

        RUN(mkfs, "-q", disk->path);
        disk_use_and_cut_off(disk, types[i]);
        assert_ok(block_drop_caches(disk->fd));
        uint64_t before = disk_checksum(disk);
        request.no_replay = true;
        assert_ok(mount_filesystem(&request));
        assert_ok(mount_remove(target));
        assert_ok(block_drop_caches(disk->fd));
        assert_int_equal(disk_checksum(disk), before);

        assert_ok(mount_replay(&replay));
        assert_ok(mount_table_has(disk->number, &mounted));
        assert_false(mounted);
        assert_ok(block_drop_caches(disk->fd));
        assert_int_not_equal(disk_checksum(disk), before);
        assert_ok(mount_filesystem(&request));
        CLEANUP(freep) char *text = read_text(below(target, "file"));
        assert_string_equal(text, "written before the power cut");
        CLEANUP(freep) char *busy = mem_printf("replaying the journal of %s: ", disk->path);
        struct err *err = mount_replay(&replay);
        assert_int_equal(err_kind(err), ERR_PRECONDITION);
        assert_memory_equal(err_message(err), busy, strlen(busy));
        err_free(err);
        assert_ok(mount_remove(target));
    }
}

static void test_read_only_among_options(void **state)
{
    (void)state;
    assert_true(mount_options_read_only(OPTIONS("noatime", "nosuid,ro"), 2));
    assert_false(mount_options_read_only(OPTIONS("noatime", "errors=ro,rodent"), 2));
    assert_false(mount_options_read_only(NULL, 0));
}

static void test_bind_and_table(void **state)
{
    const char *source = in_workplace("source"), *target = in_workplace("target");
    struct mount_request request = request_of(ext4, source, OPTIONS(NULL));
    CLEANUP(mount_entry_fini) struct mount_entry entry = {0};
    CLEANUP(mount_entry_fini) struct mount_entry other = {0};
    bool mounted;

    (void)state;
    make_folder(source);
    make_folder(target);
    assert_ok(mount_table_has(ext4->number, &mounted));
    assert_false(mounted);
    assert_ok(mount_filesystem(&request));
    assert_ok(mount_table_has(ext4->number, &mounted));
    assert_true(mounted);
    write_file(below(source, "file"), "content");

    assert_ok(mount_bind(source, target, true));
    CLEANUP(freep) char *text = read_text(below(target, "file"));
    assert_string_equal(text, "content");
    assert_int_equal(open(below(target, "new"), O_CREAT | O_WRONLY, 0600), -1);
    assert_int_equal(errno, EROFS);
    write_file(below(source, "file"), "still writable here");

    assert_ok(mount_table_at(target, &entry));
    assert_int_equal(entry.device, ext4->number);
    assert_string_equal(entry.source, ext4->path);
    assert_string_equal(entry.type, "ext4");
    assert_string_equal(entry.root, "/");
    assert_true(entry.read_only);
    assert_ok(mount_table_other(&entry, &other));
    assert_string_equal(other.target, source);
    assert_false(other.read_only);

    assert_ok(mount_remove(target));
    assert_ok(mount_remove(source));
    CLEANUP(freep) char *message = mem_printf("unmounting %s: Invalid argument", source);
    assert_fails(mount_remove(source), ERR_INTERNAL, message);
}

static void test_a_node_read_only(void **state)
{
    const char *target = in_workplace("node");
    CLEANUP(mount_entry_fini) struct mount_entry entry = {0};

    (void)state;
    write_file(target, "");
    assert_ok(mount_bind(ext4->path, target, true));
    assert_ok(mount_table_at(target, &entry));
    assert_true(entry.read_only);
    assert_ok(mount_remove(target));
}

/* Where it cannot be made read-only nothing is mounted, and nothing is left where nobody looks. */
static void test_read_only_or_not_at_all(void **state)
{
    const char *source = in_workplace("writable"), *target = in_workplace("read-only");
    struct mount_request request = request_of(ext4, source, OPTIONS(NULL));
    CLEANUP(mount_entry_fini) struct mount_entry entry = {0};
    CLEANUP(mount_entry_fini) struct mount_entry other = {0};
    CLEANUP(freep)
    char *message = mem_printf("binding %s to %s: making the mount read-only: Operation not "
                               "permitted",
                               source, target);

    (void)state;
    make_folder(source);
    make_folder(target);
    assert_ok(mount_filesystem(&request));
    old_kernel_refuse_remounts();
    assert_fails(mount_bind(source, target, true), ERR_INTERNAL, message);
    assert_ok(mount_table_at(source, &entry));
    assert_ok(mount_table_other(&entry, &other));
    assert_null(other.target);
    assert_ok(mount_remove(source));
}

/* The same volume at another path is another pod; a part of it is a container's subPath. */
static void test_a_volume_that_is_to_be_alone(void **state)
{
    const char *staging = in_workplace("staging"), *first = in_workplace("first"),
               *second = in_workplace("second"), *part = in_workplace("part");
    struct mount_request request = request_of(ext4, staging, OPTIONS(NULL));
    struct target_mount here = {.staging = staging, .target = first, .alone = true};
    struct target_mount there = {.staging = staging, .target = second, .alone = true};
    CLEANUP(freep)
    char *message = mem_printf("the volume is published at %s; with access mode "
                               "SINGLE_NODE_SINGLE_WRITER it must be unpublished "
                               "there first",
                               first);

    (void)state;
    make_folder(staging);
    make_folder(part);
    assert_ok(mount_filesystem(&request));
    assert_ok(target_mount_make(&here));
    assert_ok(target_mount_make(&here));
    assert_fails(target_mount_make(&there), ERR_PRECONDITION, message);
    there.alone = false;
    assert_ok(target_mount_make(&there));
    assert_ok(target_mount_remove(second));

    make_folder(below(staging, "sub"));
    assert_ok(mount_bind(below(staging, "sub"), part, false));
    assert_ok(target_mount_remove(first));
    assert_ok(target_mount_make(&here));
    assert_ok(target_mount_remove(first));
    assert_ok(mount_remove(part));
    assert_ok(mount_remove(staging));
}

/* Paths as callers write them: with links on the way, with a slash at the end. */
static void test_table_by_other_spellings(void **state)
{
    const char *target = in_workplace("spelling/mount"), *link = in_workplace("link");
    struct mount_request request = request_of(xfs, target, OPTIONS(NULL));
    const char *const spellings[] = {target, below(target, ""), below(link, "mount"),
                                     in_workplace("spelling/../spelling//mount")};

    (void)state;
    make_folder(target);
    assert_int_equal(symlink(in_workplace("spelling"), link), 0);
    assert_ok(mount_filesystem(&request));
    for (size_t i = 0; i < COUNT_OF(spellings); i++) {
        CLEANUP(mount_entry_fini) struct mount_entry entry = {0};

        assert_ok(mount_table_at(spellings[i], &entry));
        assert_non_null(entry.target);
        assert_string_equal(entry.target, target);
    }
    static const char *const none[] = {"/no/such/mount", "/no", "relative", ""};
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        CLEANUP(mount_entry_fini) struct mount_entry entry = {0};

        assert_ok(mount_table_at(none[i], &entry));
        assert_null(entry.target);
    }
    assert_ok(mount_remove(target));
}

static void test_a_busy_mount_stays(void **state)
{
    const char *target = in_workplace("busy");
    struct mount_request request = request_of(ext4, target, OPTIONS(NULL));
    CLEANUP(freep) char *message = mem_printf("%s is in use", target);

    (void)state;
    make_folder(target);
    assert_ok(mount_filesystem(&request));
    int file = open(below(target, "open"), O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0);
    assert_fails(mount_remove(target), ERR_PRECONDITION, message);
    close(file);
    assert_ok(mount_remove(target));
}

static int begin_older(void **state)
{
    (void)state;
    if (!old)
        old_kernel_begin();
    old = true;
    return 0;
}

#define ON_AN_OLDER_KERNEL(test)                                                                   \
    {                                                                                              \
#test "_on_an_older_kernel", test, begin_older, NULL, NULL                                 \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_options_of_the_file_system),
        cmocka_unit_test(test_refused_options),
        cmocka_unit_test(test_what_cannot_be_mounted),
        cmocka_unit_test(test_a_device_in_use),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_read_only_among_options),
        cmocka_unit_test(test_bind_and_table),
        cmocka_unit_test(test_a_node_read_only),
        cmocka_unit_test(test_a_volume_that_is_to_be_alone),
        cmocka_unit_test(test_table_by_other_spellings),
        cmocka_unit_test(test_a_busy_mount_stays),

        ON_AN_OLDER_KERNEL(test_options),
        ON_AN_OLDER_KERNEL(test_options_of_the_file_system),
        ON_AN_OLDER_KERNEL(test_refused_options),
        ON_AN_OLDER_KERNEL(test_what_older_kernels_do_not_know),
        ON_AN_OLDER_KERNEL(test_what_cannot_be_mounted),
        ON_AN_OLDER_KERNEL(test_a_device_in_use),
        ON_AN_OLDER_KERNEL(test_replay),
        ON_AN_OLDER_KERNEL(test_bind_and_table),
        ON_AN_OLDER_KERNEL(test_a_node_read_only),
        ON_AN_OLDER_KERNEL(test_a_volume_that_is_to_be_alone),
        ON_AN_OLDER_KERNEL(test_a_busy_mount_stays),
        ON_AN_OLDER_KERNEL(test_read_only_or_not_at_all),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
