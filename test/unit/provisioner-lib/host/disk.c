#include "test/unit/provisioner-lib/host/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/blkpg.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "test/unit/expect.h"

#define EXT4_IOC_SHUTDOWN _IOR('X', 125, __u32) /* the kernel's, which has no header for it */

static char workplace[] = "/tmp/azuredisk-host-XXXXXX";
static char **paths;
static size_t n_paths;

/* ---- the folder ---- */

int workplace_setup(void **state)
{
    (void)state;
    assert_int_equal(geteuid(), 0); /* loop devices and mounts need root */
    assert_non_null(mkdtemp(workplace));
    assert_int_equal(unshare(CLONE_NEWNS), 0);
    assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    return 0;
}

int workplace_teardown(void **state)
{
    (void)state;
    while (n_paths > 0)
        free(paths[--n_paths]);
    free(paths);
    RUN("rm", "-rf", "--one-file-system", workplace);
    return 0;
}

const char *in_workplace(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    CLEANUP(freep) char *name = mem_vprintf(format, args);
    va_end(args);
    return below(workplace, name);
}

const char *below(const char *folder, const char *name)
{
    return ARRAY_ADD(paths, n_paths) = mem_printf("%s/%s", folder, name);
}

void make_folder(const char *path)
{
    RUN("mkdir", "-p", path);
}

/* ---- disks ---- */

static int attach(int control, int image, char **ret_path)
{
    struct loop_config config = {.fd = (__u32)image,
                                 .info = {.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_PARTSCAN}};

    for (;;) {
        char *path = mem_printf("/dev/loop%d", ioctl(control, LOOP_CTL_GET_FREE));
        int fd = open(path, O_RDWR | O_CLOEXEC);

        if (fd >= 0 && ioctl(fd, LOOP_CONFIGURE, &config) == 0) {
            *ret_path = path;
            return fd;
        }
        assert_true(fd < 0 || errno == EBUSY); /* somebody else was faster */
        if (fd >= 0)
            close(fd);
        free(path);
    }
}

struct disk *disk_new(uint64_t size)
{
    return disk_new_below(workplace, size);
}

struct disk *disk_new_below(const char *folder, uint64_t size)
{
    struct disk *disk = mem_alloc(sizeof *disk);
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    int image = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    struct stat status;

    assert_true(control >= 0 && image >= 0);
    assert_int_equal(ftruncate(image, (off_t)size), 0);
    disk->size = size;
    disk->fd = attach(control, image, &disk->path);
    ioctl(disk->fd, BLKROSET, &(int){0}); /* it survives the loop device's last use */
    fstat(disk->fd, &status);
    disk->number = status.st_rdev;
    disk->image = image;
    close(control);
    return disk;
}

void disk_free(struct disk *disk)
{
    if (!disk)
        return;
    close(disk->fd);
    close(disk->image);
    free(disk->path);
    free(disk);
}

const char *disk_add_partition(const struct disk *disk, int number, uint64_t start, uint64_t size)
{
    struct blkpg_partition partition = {
        .start = (long long)start, .length = (long long)size, .pno = number};
    struct blkpg_ioctl_arg change = {
        .op = BLKPG_ADD_PARTITION, .datalen = sizeof partition, .data = &partition};

    assert_int_equal(ioctl(disk->fd, BLKPG, &change), 0);
    return ARRAY_ADD(paths, n_paths) = mem_printf("%sp%d", strrchr(disk->path, '/') + 1, number);
}

void disk_node(const struct disk *disk, const char *path)
{
    assert_int_equal(mknod(path, S_IFBLK | 0600, disk->number), 0);
}

void disk_use_and_cut_off(const struct disk *disk, const char *type)
{
    const char *target = in_workplace("cut-off"), *file = below(target, "file");
    int log_what_is_written = 1;

    make_folder(target);
    const char *options = strcmp(type, "xfs") == 0 ? "nouuid" : NULL;
    assert_int_equal(mount(disk->path, target, type, 0, options), 0);
    write_file(file, "written before the power cut");
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    assert_int_equal(fsync(fd), 0);
    assert_int_equal(ioctl(fd, EXT4_IOC_SHUTDOWN, &log_what_is_written), 0);
    close(fd);
    assert_int_equal(umount(target), 0);
}

struct disk *disk_copy(const struct disk *disk)
{
    struct disk *copy = disk_new(disk->size);
    off_t at = 0, end;

    assert_int_equal(fsync(disk->fd), 0);
    while ((at = lseek(disk->image, at, SEEK_DATA)) >= 0) {
        end = lseek(disk->image, at, SEEK_HOLE);
        assert_int_equal(lseek(copy->image, at, SEEK_SET), at);
        while (at < end)
            assert_true(sendfile(copy->image, disk->image, &at, (size_t)(end - at)) > 0);
    }
    return copy;
}

void disk_write(const struct disk *disk, uint64_t offset, const char *text)
{
    ssize_t length = (ssize_t)strlen(text);

    assert_int_equal(pwrite(disk->fd, text, (size_t)length, (off_t)offset), length);
    assert_int_equal(fsync(disk->fd), 0);
}

uint64_t disk_checksum(const struct disk *disk)
{
    uint64_t piece[8192], sum = 0;
    ssize_t n;

    for (off_t at = 0; (n = pread(disk->fd, piece, sizeof piece, at)) > 0; at += n)
        for (size_t i = 0; i < (size_t)n / sizeof piece[0]; i++)
            sum = sum * 6364136223846793005u + piece[i];
    assert_int_equal(n, 0);
    return sum;
}

/* ---- programs and files ---- */

void run_program(const char *const argv[])
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        execvp(argv[0], (char **)(uintptr_t)argv);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        fail_msg("%s ended with status %x", argv[0], (unsigned)status);
}

void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

char *read_text(const char *path)
{
    char *text;

    assert_ok(file_read(path, 65536, &text, NULL));
    return text;
}

void write_below(const char *folder, const char *name, const char *text)
{
    const char *path = below(folder, name);
    CLEANUP(freep) char *parent = mem_strndup(path, (size_t)(strrchr(path, '/') - path));

    make_folder(parent);
    write_file(path, text);
}
