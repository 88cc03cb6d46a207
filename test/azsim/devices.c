#include "test/azsim/devices.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "test/azsim/content.h"
#include "test/azsim/loop_device.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/snapshot.h"

/* A loop device of ours, by what it is for. */
struct device {
    unsigned number;
    UT_hash_handle hh;
    char tag[LOOP_TAG_SIZE];
};

struct devices {
    char *folder; /* of the disks' files, as the kernel names it */
    struct device *by_tag;
};

/* ---- names ---- */

/* What a device is for: the LUN of a VM, and the file it has to be over follows from the disk. */
static void make_tag(const struct vm *vm, unsigned lun, char tag[LOOP_TAG_SIZE])
{
    snprintf(tag, LOOP_TAG_SIZE, "%u@%s", lun, vm->vm_id);
}

static char *file_of(const struct devices *devices, const char *unique_id)
{
    return mem_printf("%s/%s", devices->folder, unique_id);
}

static char *links_of(const struct vm *vm)
{
    return mem_printf("%s/data/by-lun", vm->spec.device_directory);
}

static struct err *failed(const char *what)
{
    return err_new(ERR_INTERNAL, "%s: %s", what, strerror(errno));
}

/* ---- files and links ---- */

static struct err *make_folders(const char *path)
{
    CLEANUP(freep) char *part = mem_strdup(path);

    for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = '\0';
        if (mkdir(part, 0755) < 0 && errno != EEXIST)
            return failed(part);
        if (!slash)
            return NULL;
        *slash = '/';
    }
}

/* The link appears in one step, and never points to nothing. */
static struct err *make_link(const struct vm *vm, unsigned lun, unsigned number)
{
    CLEANUP(freep) char *folder = links_of(vm);
    CLEANUP(freep) char *path = mem_printf("%s/%u", folder, lun);
    CLEANUP(freep) char *new_path = mem_printf("%s/.%u", folder, lun);
    CLEANUP(freep) char *target = mem_printf("/dev/loop%u", number);

    TRY(make_folders(folder));
    unlink(new_path);
    if (symlink(target, new_path) < 0 || rename(new_path, path) < 0)
        return failed(path);
    return NULL;
}

static void remove_link(const struct vm *vm, unsigned lun)
{
    CLEANUP(freep) char *folder = links_of(vm);
    CLEANUP(freep) char *path = mem_printf("%s/%u", folder, lun);

    unlink(path);
}

/* ---- devices ---- */

static struct device *find_device(const struct devices *devices, const struct vm *vm, unsigned lun)
{
    char tag[LOOP_TAG_SIZE];
    struct device *device;

    make_tag(vm, lun, tag);
    HASH_FIND_STR(devices->by_tag, tag, device);
    return device;
}

static void add_device(struct devices *devices, unsigned number, const char *tag)
{
    struct device *device = mem_alloc(sizeof *device);

    device->number = number;
    snprintf(device->tag, sizeof device->tag, "%s", tag);
    HASH_ADD_STR(devices->by_tag, tag, device);
}

static void forget_device(struct devices *devices, struct device *device)
{
    HASH_DEL(devices->by_tag, device);
    free(device);
}

static struct err *remove_device(struct devices *devices, struct device *device)
{
    unsigned number = device->number;

    forget_device(devices, device);
    return loop_device_detach(number);
}

static struct err *attach(struct devices *devices, const struct vm *vm, unsigned lun,
                          const struct disk *disk)
{
    CLEANUP(freep) char *file = file_of(devices, disk->unique_id);
    char tag[LOOP_TAG_SIZE];
    unsigned number;

    TRY(content_make(file, disk->spec.size_gib << 30));
    make_tag(vm, lun, tag);
    TRY(loop_device_attach(file, tag, &number));
    add_device(devices, number, tag);
    struct err *err = make_link(vm, lun, number);
    if (err) /* its own failure would be the less interesting one */
        err_free(remove_device(devices, find_device(devices, vm, lun)));
    return err;
}

/* ---- what the model calls ---- */

static struct err *hook_attach(void *ctx, const struct vm *vm, unsigned lun,
                               const struct disk *disk)
{
    if (!vm->spec.device_directory)
        return NULL;
    struct err *err = attach(ctx, vm, lun, disk);
    if (err)
        log_error("disk %s at LUN %u of VM %s: %s", disk->name, lun, vm->spec.name,
                  err_message(err));
    return err;
}

static void hook_detach(void *ctx, const struct vm *vm, unsigned lun, const struct disk *disk)
{
    struct device *device = find_device(ctx, vm, lun);

    if (!device)
        return;
    remove_link(vm, lun);
    CLEANUP(err_freep) struct err *err = remove_device(ctx, device);
    if (err)
        log_error("disk %s at LUN %u of VM %s: %s", disk->name, lun, vm->spec.name,
                  err_message(err));
}

static void hook_resize(void *ctx, const struct disk *disk)
{
    struct devices *devices = ctx;
    CLEANUP(freep) char *file = file_of(devices, disk->unique_id);
    CLEANUP(err_freep) struct err *err = content_make(file, disk->spec.size_gib << 30);

    LIST_FOREACH(&disk->attachments, link) {
        const struct attachment *attachment = ATTACHMENT_OF_DISK(link);
        const struct device *device =
            attachment->attached ? find_device(devices, attachment->vm, attachment->lun) : NULL;

        if (!err && device)
            err = loop_device_resize(device->number);
    }
    if (err)
        log_error("resize of disk %s: %s", disk->name, err_message(err));
}

static struct err *hook_copy(void *ctx, const char *from, const char *to)
{
    CLEANUP(freep) char *source = file_of(ctx, from);
    CLEANUP(freep) char *file = file_of(ctx, to);

    return content_copy(source, file);
}

static void hook_remove(void *ctx, const char *unique_id)
{
    CLEANUP(freep) char *file = file_of(ctx, unique_id);

    unlink(file);
}

/* ---- after a restart ---- */

/* Whether the model has an attachment that a device with this tag and file is for. */
static bool is_wanted(const struct devices *devices, const struct model *model,
                      const struct loop_device *found)
{
    HASH_FOREACH(model->vms, vm) {
        LIST_FOREACH(&vm->attachments, link) {
            const struct attachment *attachment = ATTACHMENT_OF_VM(link);
            CLEANUP(freep) char *file = file_of(devices, attachment->disk->unique_id);
            char tag[LOOP_TAG_SIZE];

            make_tag(vm, attachment->lun, tag);
            if (attachment->attached && strcmp(tag, found->tag) == 0 &&
                strcmp(file, found->file) == 0)
                return true;
        }
    }
    return false;
}

static struct err *take_over(struct devices *devices, const struct model *model)
{
    struct loop_device *found;
    struct err *err = NULL;
    size_t n;

    TRY(loop_devices_find(devices->folder, &found, &n));
    for (size_t i = 0; i < n && !err; i++) {
        struct device *twin;

        HASH_FIND_STR(devices->by_tag, found[i].tag, twin);
        if (!twin && is_wanted(devices, model, &found[i]))
            add_device(devices, found[i].number, found[i].tag);
        else
            err = loop_device_detach(found[i].number);
    }
    loop_devices_free(found, n);
    return err;
}

/* Links to LUNs at which nothing is. */
static void remove_stray_links(const struct vm *vm)
{
    CLEANUP(freep) char *folder = links_of(vm);
    DIR *links = opendir(folder);
    const struct dirent *entry;
    unsigned lun;

    while (links && (entry = readdir(links))) {
        if (sscanf(entry->d_name, "%u", &lun) != 1)
            continue;
        const struct attachment *attachment = attachment_at(vm, lun);
        if (!attachment || !attachment->attached)
            remove_link(vm, lun);
    }
    if (links)
        closedir(links);
}

struct err *devices_link(struct devices *devices, const struct vm *vm)
{
    if (!vm->spec.device_directory)
        return NULL;
    LIST_FOREACH(&vm->attachments, link) {
        const struct attachment *attachment = ATTACHMENT_OF_VM(link);
        const struct device *device = find_device(devices, vm, attachment->lun);

        if (!attachment->attached)
            continue;
        if (device)
            TRY(make_link(vm, attachment->lun, device->number));
        else
            TRY(attach(devices, vm, attachment->lun, attachment->disk));
    }
    remove_stray_links(vm);
    return NULL;
}

static bool is_in_use(const struct model *model, const char *file)
{
    HASH_FOREACH(model->disks, disk) {
        if (strcmp(disk->unique_id, file) == 0)
            return true;
    }
    HASH_FOREACH(model->snapshots, snapshot) {
        if (strcmp(snapshot->unique_id, file) == 0)
            return true;
    }
    return false;
}

static void remove_stray_files(const struct devices *devices, const struct model *model)
{
    DIR *files = opendir(devices->folder);
    const struct dirent *entry;

    while (files && (entry = readdir(files))) {
        CLEANUP(freep) char *path = mem_printf("%s/%s", devices->folder, entry->d_name);

        if (entry->d_name[0] != '.' && !is_in_use(model, entry->d_name))
            unlink(path);
    }
    if (files)
        closedir(files);
}

struct err *devices_adopt(struct devices *devices, const struct model *model)
{
    TRY(take_over(devices, model));
    HASH_FOREACH(model->vms, vm) {
        TRY(devices_link(devices, vm));
    }
    remove_stray_files(devices, model);
    return NULL;
}

struct err *devices_remove_all(struct devices *devices)
{
    struct loop_device *found;
    struct err *err = NULL;
    size_t n;

    TRY(loop_devices_find(devices->folder, &found, &n));
    for (size_t i = 0; i < n && !err; i++)
        err = loop_device_detach(found[i].number);
    loop_devices_free(found, n);
    return err;
}

/* ---- what else the model calls ---- */

static void hook_start(void *ctx, const struct vm *vm)
{
    CLEANUP(err_freep) struct err *err = devices_link(ctx, vm);

    if (err)
        log_error("VM %s: %s", vm->spec.name, err_message(err));
}

const struct model_devices devices_hooks = {hook_attach, hook_detach, hook_start,
                                            hook_resize, hook_copy,   hook_remove};

/* ---- life ---- */

struct err *devices_new(const char *state_folder, struct devices **ret)
{
    CLEANUP(freep) char *path = mem_printf("%s/disks", state_folder);

    TRY(make_folders(path));
    CLEANUP(freep) char *folder = realpath(path, NULL);
    if (!folder)
        return failed(path);
    *ret = mem_alloc(sizeof **ret);
    (*ret)->folder = TAKE_PTR(folder);
    return NULL;
}

void devices_free(struct devices *devices)
{
    if (!devices)
        return;
    HASH_FOREACH(devices->by_tag, device) {
        forget_device(devices, device);
    }
    free(devices->folder);
    free(devices);
}
