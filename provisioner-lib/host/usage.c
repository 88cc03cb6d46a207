#include "provisioner-lib/host/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/mount.h"
#include "provisioner-lib/host/partition.h"
#include "provisioner-lib/host/staging.h"
#include "provisioner-lib/host/sysfs.h"
#include "provisioner-lib/host/trouble.h"

/* A look on its way. */
struct look {
    const struct usage_request *request;
    struct mount_entry mount;
    struct device disk; /* at the LUN; fd -1: none */
    char *state, *name; /* of the device that is mounted, in sysfs */
    dev_t device;       /* that is mounted or bound */
    bool raw;
    struct volume_facts facts;
};

void usage_fini(struct volume_usage *usage)
{
    free(usage->trouble);
    *usage = (struct volume_usage){0};
}

static void look_fini(struct look *look)
{
    mount_entry_fini(&look->mount);
    device_close(&look->disk);
    free(look->state);
    free(look->name);
}

/* ---- what is at the path ---- */

/* A raw volume is the node of a device, so it is bound from within the file system that has it. */
static struct err *take_device(struct look *look)
{
    const char *target = look->mount.target;
    struct stat status;

    look->raw = strcmp(look->mount.root, "/") != 0;
    look->device = look->mount.device;
    if (!look->raw)
        return NULL;
    if (stat(target, &status) || !S_ISBLK(status.st_mode))
        return err_new(ERR_NOT_FOUND, "%s is not the volume: %s%s is mounted there", target,
                       look->mount.source, look->mount.root);
    look->device = status.st_rdev;
    return NULL;
}

static struct err *find_mount(struct look *look)
{
    const char *path = look->request->path;
    CLEANUP(freep) char *staged_device = staging_source(path, true);

    TRY(mount_table_look(path, &look->mount, &look->facts.for_writing));
    if (!look->mount.target)
        TRY(mount_table_look(staged_device, &look->mount, &look->facts.for_writing));
    if (!look->mount.target)
        return err_new(ERR_NOT_FOUND, "nothing is mounted at %s", path);
    return take_device(look);
}

/* ---- whose it is ---- */

static struct err *find_disk(struct look *look)
{
    struct err *err = device_find(&look->request->roots, look->request->lun, &look->disk);

    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return NULL;
    }
    return err;
}

static bool is_at_lun(const struct look *look)
{
    return partition_is_of(&look->request->roots, look->device, look->disk.number);
}

/* It is at the LUN, or was there when it was mounted. */
static bool is_proven(const struct look *look)
{
    return (look->disk.fd >= 0 && is_at_lun(look)) ||
           (look->request->known && look->device == look->request->known);
}

/* With nothing to go by, what is on a device that the kernel does not have any more is nobody
 * else's either. */
static struct err *check_owner(const struct look *look, bool kernel_has_it)
{
    const char *path = look->request->path, *source = look->mount.source;

    if (is_proven(look))
        return NULL;
    if (look->disk.fd >= 0)
        return err_new(ERR_NOT_FOUND, "%s is not the volume: %s is mounted there, not %s (LUN %u)",
                       path, source, look->disk.path, look->request->lun);
    if (kernel_has_it || major(look->device) == 0)
        return err_new(ERR_NOT_FOUND,
                       "%s may not be the volume: %s is mounted there, and no disk is at LUN %u",
                       path, source, look->request->lun);
    return NULL;
}

/* As the kernel calls it, or did. */
static char *device_name(const struct look *look, const char *folder)
{
    const char *root = look->mount.root;

    if (folder)
        return mem_printf("/dev/%s", strrchr(folder, '/') + 1);
    if (look->raw) /* "/sdc//deleted" */
        return mem_printf("/dev%.*s", (int)(strstr(root, "//") ? strstr(root, "//") - root : 64),
                          root);
    return mem_strdup(look->mount.source);
}

/* In bytes; the kernel counts in sectors, whatever the disk's are. */
static uint64_t partition_size(const char *folder)
{
    CLEANUP(freep) char *sectors = sysfs_read(folder, "size");

    return sectors ? strtoull(sectors, NULL, 10) * 512 : 0;
}

static struct err *find_owner(struct look *look)
{
    struct volume_facts *facts = &look->facts;

    TRY(find_disk(look));
    CLEANUP(freep) char *folder = sysfs_folder(&look->request->roots, look->device);
    TRY(check_owner(look, folder != NULL));
    if (folder)
        look->state = sysfs_read(folder, "device/state");
    if (folder && !look->state) /* a partition is below its disk */
        look->state = sysfs_read(folder, "../device/state");
    facts->device = look->name = device_name(look, folder);
    facts->disk_state = look->state;
    facts->lun = look->request->lun;
    if (look->disk.fd < 0)
        return NULL;
    facts->disk_now = look->disk.path;
    facts->replaced = !is_at_lun(look);
    if (look->device == look->disk.number || facts->replaced)
        return block_size(look->disk.fd, &facts->size);
    facts->size = partition_size(folder);
    return NULL;
}

/* ---- a file system ---- */

static uint64_t recorded_errors(const struct look *look)
{
    const char *slash = strrchr(look->name, '/');
    CLEANUP(freep)
    char *folder =
        mem_printf("%s/fs/ext4/%s", look->request->roots.sys, slash ? slash + 1 : look->name);
    CLEANUP(freep) char *text = sysfs_read(folder, "errors_count");

    return text ? strtoull(text, NULL, 10) : 0;
}

static void take_amounts(const struct statvfs *found, struct volume_usage *usage)
{
    usage->has_amounts = true;
    usage->bytes = (struct usage_amount){
        .total = found->f_blocks * found->f_frsize,
        .used = (found->f_blocks - found->f_bfree) * found->f_frsize,
        .available = found->f_bavail * found->f_frsize,
    };
    usage->inodes = (struct usage_amount){
        .total = found->f_files,
        .used = found->f_files - found->f_ffree,
        .available = found->f_favail,
    };
}

/* Where the mount was meanwhile taken away there is the folder below it, which is another's. */
static struct err *open_filesystem(const struct look *look, int *ret_tree, int *ret_failure)
{
    const char *target = look->mount.target;
    CLEANUP(closep) int tree = mount_clone(target);
    int failure = tree < 0 ? errno : 0;
    struct stat status = {.st_dev = look->device};

    if (!failure && fstat(tree, &status))
        failure = errno;
    if (failure == ENOENT || status.st_dev != look->device)
        return err_new(ERR_NOT_FOUND, "nothing is mounted at %s any more", target);
    *ret_failure = failure;
    *ret_tree = tree;
    tree = -1;
    return NULL;
}

/* A file system that has been shut down may still say how full it is, but lets nobody in. */
static int ask_filesystem(int tree, struct volume_usage *usage)
{
    CLEANUP(closep) int root = -1;
    struct statvfs found;

    if (fstatvfs(tree, &found))
        return errno;
    take_amounts(&found, usage);
    root = openat(tree, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return root < 0 ? errno : 0;
}

/* Through a mount of its own, which shows nowhere. */
static struct err *look_at_filesystem(struct look *look, struct volume_usage *usage)
{
    struct volume_facts *facts = &look->facts;
    CLEANUP(closep) int tree = -1;
    int failure;

    TRY(open_filesystem(look, &tree, &facts->failure));
    failure = tree < 0 ? 0 : ask_filesystem(tree, usage);
    if (!facts->failure)
        facts->failure = failure;
    facts->type = look->mount.type;
    facts->options = look->mount.filesystem_options;
    facts->errors = recorded_errors(look);
    return NULL;
}

/* ---- the whole of it ---- */

static struct err *look_at(struct look *look, struct volume_usage *usage)
{
    TRY(find_mount(look));
    TRY(find_owner(look));
    usage->device = is_proven(look) ? look->device : 0;
    usage->raw = look->raw;
    if (look->raw) {
        usage->has_amounts = look->facts.size > 0 && !look->facts.replaced;
        usage->bytes.total = usage->has_amounts ? look->facts.size : 0;
    } else if (is_proven(look)) {
        TRY(look_at_filesystem(look, usage));
    }
    usage->trouble = trouble_describe(&look->facts);
    return NULL;
}

struct err *usage_look(const struct usage_request *request, struct volume_usage *ret)
{
    CLEANUP(look_fini) struct look look = {.request = request, .disk = DEVICE_NONE};

    *ret = (struct volume_usage){0};
    return look_at(&look, ret);
}
