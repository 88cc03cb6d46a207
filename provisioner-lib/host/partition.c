#include "provisioner-lib/host/partition.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/host.h"
#include "provisioner-lib/host/host_worker.h"
#include "provisioner-lib/host/staging.h"
#include "provisioner-lib/host/sysfs.h"

static void closedirp(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

/* 0 for what is no partition. */
static unsigned long number_of(const char *folder)
{
    CLEANUP(freep) char *text = sysfs_read(folder, "partition");

    return text ? strtoul(text, NULL, 10) : 0;
}

/* ---- from the disk to its partition ---- */

/* Its name below /dev; NULL if there is none. */
static char *find_name(const struct device_roots *roots, const struct device *disk, unsigned number)
{
    CLEANUP(freep) char *folder = sysfs_folder(roots, disk->number);
    CLEANUP(closedirp) DIR *dir = folder ? opendir(folder) : NULL;
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        CLEANUP(freep) char *inner = mem_printf("%s/%s", folder, entry->d_name);

        if (entry->d_name[0] != '.' && number_of(inner) == number)
            return mem_strdup(entry->d_name);
    }
    return NULL;
}

/* Another disk may have come to the name since. */
static struct err *check_disk(const struct device_roots *roots, const struct device *partition,
                              const struct device *disk)
{
    return partition_is_of(roots, partition->number, disk->number)
               ? NULL
               : err_new(ERR_BUSY, "%s is no partition of %s any more", partition->path,
                         disk->path);
}

struct err *partition_find(const struct device_roots *roots, const struct device *disk,
                           unsigned number, struct device *ret)
{
    struct device partition = DEVICE_NONE;
    struct stat status;
    char *name = find_name(roots, disk, number);

    if (!name) { /* it may have been made on another node */
        block_read_partitions(disk->fd);
        name = find_name(roots, disk, number);
    }
    if (!name)
        return err_new(ERR_PRECONDITION,
                       "%s has no partition %u, which volume attribute partition names", disk->path,
                       number);
    partition.path = mem_printf("%s/%s", roots->dev, name);
    free(name);
    struct err *err = block_open(partition.path, &partition.fd);
    if (!err) {
        fstat(partition.fd, &status);
        partition.number = status.st_rdev;
        err = check_disk(roots, &partition, disk);
    }
    if (err) {
        device_close(&partition);
        return err;
    }
    *ret = partition;
    return NULL;
}

static struct err *visit_partition(const char *path, struct err *(*visit)(int fd, void *ctx),
                                   void *ctx)
{
    CLEANUP(closep) int fd = -1;

    TRY(block_open(path, &fd));
    return visit(fd, ctx);
}

struct err *partition_visit(const struct device_roots *roots, const struct device *disk,
                            struct err *(*visit)(int fd, void *ctx), void *ctx)
{
    CLEANUP(freep) char *folder = sysfs_folder(roots, disk->number);
    CLEANUP(closedirp) DIR *dir = folder ? opendir(folder) : NULL;
    struct dirent *entry;

    TRY(visit(disk->fd, ctx));
    while (dir && (entry = readdir(dir))) {
        CLEANUP(freep) char *inner = mem_printf("%s/%s", folder, entry->d_name);
        CLEANUP(freep) char *path = mem_printf("%s/%s", roots->dev, entry->d_name);

        if (entry->d_name[0] != '.' && number_of(inner) != 0)
            TRY(visit_partition(path, visit, ctx));
    }
    return NULL;
}

/* ---- and back ---- */

bool partition_is_of(const struct device_roots *roots, dev_t device, dev_t disk)
{
    if (device == disk)
        return true;

    CLEANUP(freep) char *folder = sysfs_folder(roots, device);
    CLEANUP(freep) char *above = sysfs_folder(roots, disk);
    if (!folder || !above || number_of(folder) == 0)
        return false;
    *strrchr(folder, '/') = '\0';
    return strcmp(folder, above) == 0;
}

static char *name_of(unsigned long number)
{
    return number ? mem_printf("partition %lu of the disk", number) : mem_strdup("the whole disk");
}

struct err *partition_check_staged(const struct device_roots *roots, const char *path, bool raw,
                                   unsigned number)
{
    dev_t device;

    TRY(staging_device(path, raw, &device));
    CLEANUP(freep) char *folder = device ? sysfs_folder(roots, device) : NULL;
    unsigned long staged = folder ? number_of(folder) : number;

    if (staged == number)
        return NULL;
    CLEANUP(freep) char *wanted = name_of(number), *found = name_of(staged);
    return err_new(ERR_PRECONDITION,
                   "%s is wanted, but %s is staged at %s: two PersistentVolumes that differ in "
                   "volume attribute partition must not have one volumeHandle on one node",
                   wanted, found, path);
}

struct disk_look {
    const struct device_roots *roots;
    dev_t disk;
};

static bool is_of(dev_t device, const void *ctx)
{
    const struct disk_look *look = ctx;

    return partition_is_of(look->roots, device, look->disk);
}

struct err *partition_find_mount(const struct device_roots *roots, dev_t disk,
                                 struct mount_entry *ret)
{
    return mount_table_find(is_of, &(struct disk_look){roots, disk}, ret);
}

struct err *partition_any_mounted(const struct device_roots *roots, dev_t disk, bool *ret_mounted)
{
    CLEANUP(mount_entry_fini) struct mount_entry entry = {0};

    TRY(partition_find_mount(roots, disk, &entry));
    *ret_mounted = entry.target != NULL;
    return NULL;
}

/* ---- on a worker ---- */

struct call {
    const struct device_roots *roots;
    const struct device *disk;
    unsigned number;
    struct device *ret;
    const char *path;
    bool raw;
};

static struct err *find_blocking(void *arg)
{
    const struct call *call = arg;

    return partition_find(call->roots, call->disk, call->number, call->ret);
}

struct err *host_find_partition(struct task *self, struct host *host, const struct device *disk,
                                unsigned number, struct device *ret)
{
    struct call call = {
        .roots = host_device_roots(host), .disk = disk, .number = number, .ret = ret};

    return host_on_worker(self, host, find_blocking, &call);
}

static struct err *check_staged_blocking(void *arg)
{
    const struct call *call = arg;

    return partition_check_staged(call->roots, call->path, call->raw, call->number);
}

struct err *host_check_partition(struct task *self, struct host *host, const char *path, bool raw,
                                 unsigned number)
{
    struct call call = {
        .roots = host_device_roots(host), .path = path, .raw = raw, .number = number};

    return host_on_worker(self, host, check_staged_blocking, &call);
}
