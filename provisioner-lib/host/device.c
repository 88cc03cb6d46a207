#include "provisioner-lib/host/device.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/rt/thread_pool.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/nvme_namespace.h"
#include "provisioner-lib/host/sysfs.h"

#define REMOTE_NVME_DISKS "MSFT NVMe Accelerator v1.0"

enum { NVME_FIRST_DATA_DISK = 2, SIZE_LOOKS = 20, SIZE_LOOK_MS = 10 };

/* Hyper-V's class of the controllers for data disks; the one before them, f8b3781a, is the
 * operating system's. */
static const char *const DATA_CONTROLLERS[] = {"{f8b3781b-1e82-4818-a1c3-63d806ec15bb}",
                                               "{f8b3781c-1e82-4818-a1c3-63d806ec15bb}",
                                               "{f8b3781d-1e82-4818-a1c3-63d806ec15bb}"};

static void closedirp(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

/* ---- what a disk says of its LUN ---- */

static bool attribute_is(const char *folder, const char *name, const char *wanted)
{
    CLEANUP(freep) char *text = sysfs_read(folder, name);

    return text && strcasecmp(text, wanted) == 0;
}

static bool is_scsi_address(const char *name, unsigned *ret_lun)
{
    unsigned host, channel, target;
    char rest;

    return sscanf(name, "%u:%u:%u:%u%c", &host, &channel, &target, ret_lun, &rest) == 4;
}

/* Of an NVMe disk: by what it says itself, and if it says nothing, by its number. */
static bool is_of_lun(const char *device, const char *path, unsigned lun)
{
    CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    CLEANUP(freep) char *number = mem_printf("%u", lun + NVME_FIRST_DATA_DISK);
    struct nvme_namespace says;

    nvme_namespace_read(fd, &says);
    if (says.not_data || says.lun != NVME_NO_LUN)
        return !says.not_data && says.lun == (int)lun;
    return attribute_is(device, "nsid", number);
}

/* ---- candidates ---- */

/* What was found so far; all ways have to lead to the same device. */
struct search {
    const struct device_roots *roots;
    unsigned lun;
    struct device found; /* fd -1: none */
    struct err *err;
};

/* Devices of kinds that have no LUN are not. */
static bool is_at_another_lun(const struct search *search, const char *path, dev_t number)
{
    CLEANUP(freep) char *folder = sysfs_folder(search->roots, number);
    CLEANUP(freep) char *link = mem_printf("%s/device", folder ? folder : "");
    CLEANUP(freep) char *device = folder ? realpath(link, NULL) : NULL;
    unsigned lun;

    if (!device)
        return false;
    if (is_scsi_address(strrchr(device, '/') + 1, &lun))
        return lun != search->lun;
    return attribute_is(device, "model", REMOTE_NVME_DISKS) &&
           !is_of_lun(folder, path, search->lun);
}

/* A block device by its name below /dev, or by a link. Names that lead nowhere, or to a disk at
 * another LUN, are no candidates: links outlive their disks, and the next disk gets the name. */
static void consider(struct search *search, const char *name)
{
    CLEANUP(freep) char *path = realpath(name, NULL);
    CLEANUP(closep) int fd = -1;
    struct stat status;

    if (search->err || !path)
        return;
    struct err *err = block_open(path, &fd);
    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return;
    }
    if (err) {
        search->err = err;
        return;
    }
    fstat(fd, &status);
    if (is_at_another_lun(search, path, status.st_rdev))
        return;
    if (search->found.fd >= 0) {
        if (search->found.number != status.st_rdev)
            search->err = err_new(ERR_PRECONDITION, "LUN %u refers to both %s and %s (by %s)",
                                  search->lun, search->found.path, path, name);
        return;
    }
    search->found.number = status.st_rdev;
    search->found.fd = fd;
    fd = -1;
    search->found.path = TAKE_PTR(path);
}

/* ---- SCSI ---- */

/* The class of the controller above a device; NULL where controllers have none. */
static char *controller_of(const char *device)
{
    CLEANUP(freep) char *folder = realpath(device, NULL);
    char *slash, *text = NULL;

    while (folder && !text && (slash = strrchr(folder, '/')) && slash != folder) {
        *slash = '\0';
        text = sysfs_read(folder, "device_id");
    }
    return text;
}

static bool is_for_data(const char *device)
{
    CLEANUP(freep) char *controller = controller_of(device);

    if (!controller)
        return true;
    for (size_t i = 0; i < COUNT_OF(DATA_CONTROLLERS); i++)
        if (strcasecmp(controller, DATA_CONTROLLERS[i]) == 0)
            return true;
    return false;
}

/* Whether a link says that the disk, or a partition of it, is the VM's own: udev's rules know
 * machines whose controllers do not tell. */
static bool is_linked_as(const struct search *search, const char *folder, const char *prefix,
                         const char *disk)
{
    CLEANUP(freep) char *links = mem_printf("%s/disk/azure%s", search->roots->dev, folder);
    CLEANUP(closedirp) DIR *dir = opendir(links);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        CLEANUP(freep) char *link = mem_printf("%s/%s", links, entry->d_name);
        CLEANUP(freep) char *target = realpath(link, NULL);
        const char *name = target ? strrchr(target, '/') + 1 : "";

        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            strncmp(name, disk, strlen(disk)) == 0 &&
            strspn(name + strlen(disk), "0123456789") == strlen(name + strlen(disk)))
            return true;
    }
    return false;
}

static bool is_system_disk(const struct search *search, const char *disk)
{
    return is_linked_as(search, "", "root", disk) || is_linked_as(search, "", "os", disk) ||
           is_linked_as(search, "", "resource", disk) ||
           is_linked_as(search, "/scsi0", "lun", disk);
}

static void consider_scsi(struct search *search, const char *device)
{
    CLEANUP(freep) char *block = mem_printf("%s/block", device);
    CLEANUP(closedirp) DIR *dir = NULL;
    struct dirent *entry;

    if (!attribute_is(device, "vendor", "Msft") || !attribute_is(device, "model", "Virtual Disk") ||
        !is_for_data(device))
        return;
    dir = opendir(block);
    while (dir && (entry = readdir(dir))) {
        CLEANUP(freep) char *path = mem_printf("%s/%s", search->roots->dev, entry->d_name);

        if (entry->d_name[0] != '.' && !is_system_disk(search, entry->d_name))
            consider(search, path);
    }
}

static void search_scsi(struct search *search)
{
    CLEANUP(freep) char *folder = mem_printf("%s/bus/scsi/devices", search->roots->sys);
    CLEANUP(closedirp) DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        unsigned lun;

        if (!is_scsi_address(entry->d_name, &lun) || lun != search->lun)
            continue;
        CLEANUP(freep) char *device = mem_printf("%s/%s", folder, entry->d_name);
        consider_scsi(search, device);
    }
}

/* ---- NVMe and links ---- */

static void search_nvme(struct search *search)
{
    CLEANUP(freep) char *folder = mem_printf("%s/block", search->roots->sys);
    CLEANUP(closedirp) DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        CLEANUP(freep) char *device = mem_printf("%s/%s", folder, entry->d_name);
        CLEANUP(freep) char *path = mem_printf("%s/%s", search->roots->dev, entry->d_name);

        if (strncmp(entry->d_name, "nvme", 4) == 0 &&
            attribute_is(device, "device/model", REMOTE_NVME_DISKS) &&
            is_of_lun(device, path, search->lun))
            consider(search, path);
    }
}

static void search_links(struct search *search)
{
    CLEANUP(freep)
    char *scsi = mem_printf("%s/disk/azure/scsi1/lun%u", search->roots->dev, search->lun);
    CLEANUP(freep)
    char *data = mem_printf("%s/disk/azure/data/by-lun/%u", search->roots->dev, search->lun);

    consider(search, scsi);
    consider(search, data);
}

struct err *device_find(const struct device_roots *roots, unsigned lun, struct device *ret)
{
    struct search search = {.roots = roots, .lun = lun, .found = DEVICE_NONE};

    search_scsi(&search);
    search_nvme(&search);
    search_links(&search);
    if (search.err) {
        device_close(&search.found);
        return search.err;
    }
    if (search.found.fd < 0)
        return err_new(ERR_NOT_FOUND, "no disk at LUN %u", lun);
    *ret = search.found;
    return NULL;
}

void device_close(struct device *device)
{
    closep(&device->fd);
    free(device->path);
    *device = DEVICE_NONE;
}

/* ---- asking the kernel to look again; it is only asked, so failures say nothing ---- */

/* Whether there is such an attribute. */
static bool write_attribute(const char *folder, const char *name, const char *text)
{
    CLEANUP(freep) char *path = mem_printf("%s/%s", folder, name);
    CLEANUP(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd >= 0)
        (void)!write(fd, text, strlen(text));
    return fd >= 0;
}

void device_rescan_controllers(const struct device_roots *roots)
{
    static const struct {
        const char *folder, *model, *attribute, *text;
    } kinds[] = {
        {"class/scsi_host", NULL, "scan", "- - -"},
        {"class/nvme", REMOTE_NVME_DISKS, "rescan_controller", "1"},
    };

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        CLEANUP(freep) char *folder = mem_printf("%s/%s", roots->sys, kinds[i].folder);
        CLEANUP(closedirp) DIR *dir = opendir(folder);
        struct dirent *entry;

        while (dir && (entry = readdir(dir))) {
            CLEANUP(freep) char *controller = mem_printf("%s/%s", folder, entry->d_name);

            if (entry->d_name[0] != '.' &&
                (!kinds[i].model || attribute_is(controller, "model", kinds[i].model)))
                write_attribute(controller, kinds[i].attribute, kinds[i].text);
        }
    }
}

/* Where a namespace may have several controllers, it is below a subsystem that they are below,
 * too. */
static bool rescan_nvme(const char *above)
{
    bool asked = write_attribute(above, "rescan_controller", "1");
    CLEANUP(closedirp) DIR *dir = opendir(above);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        CLEANUP(freep) char *controller = mem_printf("%s/%s", above, entry->d_name);

        if (strncmp(entry->d_name, "nvme", strlen("nvme")) == 0)
            asked |= write_attribute(controller, "rescan_controller", "1");
    }
    return asked;
}

/* The kernel looks at NVMe namespaces in the background. */
static void await_another_size(const struct device *device, uint64_t before)
{
    uint64_t size = before;

    for (int i = 0; i < SIZE_LOOKS && size == before; i++) {
        thread_pool_pause(SIZE_LOOK_MS);
        err_free(block_size(device->fd, &size));
    }
}

void device_rescan(const struct device_roots *roots, const struct device *device)
{
    CLEANUP(freep)
    char *above = mem_printf("%s/dev/block/%u:%u/device", roots->sys, major(device->number),
                             minor(device->number));
    uint64_t before = 0;

    err_free(block_size(device->fd, &before));
    if (!write_attribute(above, "rescan", "1") && rescan_nvme(above))
        await_another_size(device, before);
}
