#include "test/azsim/loop_device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/base/alloc.h"

/* Others may take the free device that the kernel names. */
enum { ATTEMPTS = 20 };

static void closep(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static struct err *failed(const char *what)
{
    return err_new(ERR_INTERNAL, "%s: %s", what, strerror(errno));
}

/* ---- nodes ---- */

/* In a container /dev may lack what the kernel has just made. */
static struct err *make_node(unsigned number, const char *path)
{
    CLEANUP(freep) char *sysfs = mem_printf("/sys/block/loop%u/dev", number);
    unsigned device_major, device_minor;
    FILE *file;

    if (access(path, F_OK) == 0)
        return NULL;
    file = fopen(sysfs, "re");
    if (!file)
        return failed(sysfs);
    int read = fscanf(file, "%u:%u", &device_major, &device_minor);
    fclose(file);
    if (read != 2)
        return err_new(ERR_INTERNAL, "%s: not a device number", sysfs);
    if (mknod(path, S_IFBLK | 0660, makedev(device_major, device_minor)) < 0 && errno != EEXIST)
        return failed(path);
    return NULL;
}

static struct err *open_device(unsigned number, int *ret_fd)
{
    CLEANUP(freep) char *path = mem_printf("/dev/loop%u", number);

    TRY(make_node(number, path));
    *ret_fd = open(path, O_RDWR | O_CLOEXEC);
    return *ret_fd < 0 ? failed(path) : NULL;
}

/* ---- attach and detach ---- */

/* BUSY if somebody else was faster. */
static struct err *configure(int control, int file, const char *tag, unsigned *ret_number)
{
    struct loop_config config = {.fd = (unsigned)file};
    CLEANUP(closep) int device = -1;
    int number = ioctl(control, LOOP_CTL_GET_FREE);

    if (number < 0)
        return failed("no free loop device");
    TRY(open_device((unsigned)number, &device));
    snprintf((char *)config.info.lo_file_name, LOOP_TAG_SIZE, "%s", tag);
    if (ioctl(device, LOOP_CONFIGURE, &config) < 0)
        return errno == EBUSY ? err_new(ERR_BUSY, "/dev/loop%d is taken", number)
                              : failed("LOOP_CONFIGURE");
    *ret_number = (unsigned)number;
    return NULL;
}

struct err *loop_device_attach(const char *file, const char *tag, unsigned *ret_number)
{
    CLEANUP(closep) int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    CLEANUP(closep) int fd = open(file, O_RDWR | O_CLOEXEC);
    struct err *err = NULL;

    if (control < 0)
        return failed("/dev/loop-control");
    if (fd < 0)
        return failed(file);
    for (int i = 0; i < ATTEMPTS; i++) {
        err_free(err);
        err = configure(control, fd, tag, ret_number);
        if (!err || err_kind(err) != ERR_BUSY)
            return err;
    }
    return err;
}

/* The tag goes first: a device that lingers, because somebody has it open, is not ours any more. */
struct err *loop_device_detach(unsigned number)
{
    CLEANUP(closep) int device = -1;
    struct loop_info64 info;

    TRY(open_device(number, &device));
    if (ioctl(device, LOOP_GET_STATUS64, &info) < 0)
        return errno == ENXIO ? NULL : failed("LOOP_GET_STATUS64");
    memset(info.lo_file_name, 0, sizeof info.lo_file_name);
    info.lo_flags |= LO_FLAGS_AUTOCLEAR;
    if (ioctl(device, LOOP_SET_STATUS64, &info) < 0)
        return failed("LOOP_SET_STATUS64");
    if (ioctl(device, LOOP_CLR_FD) < 0 && errno != EBUSY && errno != ENXIO)
        return failed("LOOP_CLR_FD");
    return NULL;
}

struct err *loop_device_resize(unsigned number)
{
    CLEANUP(closep) int device = -1;

    TRY(open_device(number, &device));
    return ioctl(device, LOOP_SET_CAPACITY, 0) < 0 ? failed("LOOP_SET_CAPACITY") : NULL;
}

/* ---- finding ---- */

/* The file below a device, if it is in the folder; "(deleted)" may stand behind it. */
static char *file_in(const char *folder, unsigned number)
{
    CLEANUP(freep) char *sysfs = mem_printf("/sys/block/loop%u/loop/backing_file", number);
    CLEANUP(freep) char *path = NULL;
    size_t size = 0, length = strlen(folder);
    FILE *file = fopen(sysfs, "re");
    ssize_t read = file ? getline(&path, &size, file) : -1;

    if (file)
        fclose(file);
    if (read < 0 || strncmp(path, folder, length) != 0 || path[length] != '/')
        return NULL;
    path[strcspn(path, "\n")] = '\0';
    return TAKE_PTR(path);
}

static struct err *read_tag(unsigned number, char tag[LOOP_TAG_SIZE])
{
    CLEANUP(closep) int device = -1;
    struct loop_info64 info = {0};

    TRY(open_device(number, &device));
    if (ioctl(device, LOOP_GET_STATUS64, &info) < 0)
        return failed("LOOP_GET_STATUS64");
    snprintf(tag, LOOP_TAG_SIZE, "%.*s", LOOP_TAG_SIZE - 1, (const char *)info.lo_file_name);
    return NULL;
}

struct err *loop_devices_find(const char *folder, struct loop_device **ret_devices, size_t *ret_n)
{
    DIR *blocks = opendir("/sys/block");
    struct loop_device *devices = NULL;
    const struct dirent *entry;
    size_t n = 0;

    if (!blocks)
        return failed("/sys/block");
    while ((entry = readdir(blocks))) {
        struct loop_device device = {0};

        if (sscanf(entry->d_name, "loop%u", &device.number) != 1)
            continue;
        device.file = file_in(folder, device.number);
        if (!device.file)
            continue;
        /* A device that goes while we look is not one of ours any more. */
        struct err *err = read_tag(device.number, device.tag);
        if (err) {
            err_free(err);
            free(device.file);
            continue;
        }
        ARRAY_ADD(devices, n) = device;
    }
    closedir(blocks);
    *ret_devices = devices;
    *ret_n = n;
    return NULL;
}

void loop_devices_free(struct loop_device *devices, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(devices[i].file);
    free(devices);
}
