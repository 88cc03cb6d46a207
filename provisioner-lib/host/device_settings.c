#include "provisioner-lib/host/device_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/host.h"
#include "provisioner-lib/host/host_worker.h"

static struct err *refused(const struct device *device, const struct device_setting *setting,
                           int error)
{
    if (error == ENOENT || error == ENOTDIR || error == EISDIR)
        return err_new(ERR_INVALID, "parameter device-setting/%s: %s has no such setting",
                       setting->path, device->path);
    if (error == EXDEV || error == ELOOP)
        return err_new(ERR_INVALID,
                       "parameter device-setting/%s leads out of the folder of %s in sysfs",
                       setting->path, device->path);
    return err_new(ERR_INVALID, "parameter device-setting/%s: the kernel refused \"%s\" for %s: %s",
                   setting->path, setting->value, device->path, strerror(error));
}

/* -1, with errno. */
static int open_part(int folder, const char *part, int access)
{
    struct stat status;

    if (strcmp(part, "..") == 0) {
        errno = EXDEV;
        return -1;
    }
    if (fstatat(folder, part, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode)) {
        errno = ELOOP;
        return -1;
    }
    return openat(folder, part, access | O_NOFOLLOW | O_CLOEXEC);
}

/* The file of that path, which neither a link nor ".." leads out of the folder: a part at a time,
 * for openat2(2) came with Linux 5.6. -1, with errno. */
static int open_below(int folder, const char *path)
{
    CLEANUP(freep) char *copy = mem_strdup(path);
    char *rest = NULL, *part = strtok_r(copy, "/", &rest), *next;
    int at = path[0] == '/' ? -1 : folder;

    errno = path[0] == '/' ? EXDEV : ENOENT;
    for (; part && at >= 0; part = next) {
        next = strtok_r(NULL, "/", &rest);
        int below = open_part(at, part, next ? O_PATH : O_WRONLY);
        int error = errno;

        if (at != folder)
            close(at);
        errno = error;
        at = below;
    }
    return at == folder ? -1 : at;
}

/* The examples of Microsoft's documentation have it; it begins with a link, to the disk itself. */
static int open_setting(int folder, const char *path)
{
    return strcmp(path, "device/queue_depth") == 0 ? openat(folder, path, O_WRONLY | O_CLOEXEC)
                                                   : open_below(folder, path);
}

static struct err *apply(int folder, const struct device *device,
                         const struct device_setting *setting)
{
    CLEANUP(closep) int fd = open_setting(folder, setting->path);
    size_t length = strlen(setting->value);

    if (fd < 0)
        return refused(device, setting, errno);
    ssize_t written = write(fd, setting->value, length);
    if (written < 0)
        return refused(device, setting, errno);
    return (size_t)written == length ? NULL : refused(device, setting, EINVAL);
}

struct err *device_settings_apply(const struct device_roots *roots, const struct device *device,
                                  const struct device_setting *settings, size_t n)
{
    CLEANUP(freep)
    char *path =
        mem_printf("%s/dev/block/%u:%u", roots->sys, major(device->number), minor(device->number));
    CLEANUP(closep) int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (folder < 0)
        return err_new(ERR_INTERNAL, "%s: %s", path, strerror(errno));
    for (size_t i = 0; i < n; i++)
        TRY(apply(folder, device, &settings[i]));
    return NULL;
}

struct err *device_settings_queue_depth(const struct device_roots *roots,
                                        const struct device *device, unsigned depth)
{
    CLEANUP(freep)
    char *path = mem_printf("%s/dev/block/%u:%u/device/queue_depth", roots->sys,
                            major(device->number), minor(device->number));
    CLEANUP(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);
    CLEANUP(freep) char *value = mem_printf("%u", depth);

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return NULL;
    if (fd < 0 || write(fd, value, strlen(value)) < 0)
        return err_new(ERR_INVALID, "the kernel refused a queue depth of %u for %s: %s", depth,
                       device->path, strerror(errno));
    return NULL;
}

/* ---- on a worker ---- */

struct call {
    struct host *host;
    const struct device *device;
    const struct device_setting *settings;
    size_t n;
    unsigned depth;
};

static struct err *set_depth_blocking(void *arg)
{
    const struct call *call = arg;

    return device_settings_queue_depth(host_device_roots(call->host), call->device, call->depth);
}

struct err *host_set_queue_depth(struct task *self, struct host *host, const struct device *device,
                                 unsigned depth)
{
    struct call call = {.host = host, .device = device, .depth = depth};

    return host_on_worker(self, host, set_depth_blocking, &call);
}

static struct err *apply_blocking(void *arg)
{
    const struct call *call = arg;

    return device_settings_apply(host_device_roots(call->host), call->device, call->settings,
                                 call->n);
}

struct err *host_apply_settings(struct task *self, struct host *host, const struct device *device,
                                const struct device_setting *settings, size_t n)
{
    struct call call = {.host = host, .device = device, .settings = settings, .n = n};

    return n ? host_on_worker(self, host, apply_blocking, &call) : NULL;
}
