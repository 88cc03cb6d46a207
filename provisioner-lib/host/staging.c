#include "provisioner-lib/host/staging.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/mount_point.h"

char *staging_source(const char *path, bool raw)
{
    return raw ? mem_printf("%s/device", path) : mem_strdup(path);
}

struct err *staging_find(const char *path, bool raw, struct mount_entry *ret)
{
    CLEANUP(freep) char *source = staging_source(path, raw);

    return mount_table_at(source, ret);
}

/* The device that a file is the node of; 0 if it is none. */
static dev_t node_of(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISBLK(status.st_mode) ? status.st_rdev : 0;
}

struct err *staging_device(const char *path, bool raw, dev_t *ret)
{
    CLEANUP(mount_entry_fini) struct mount_entry staged = {0};

    TRY(staging_find(path, raw, &staged));
    *ret = raw && staged.target ? node_of(staged.target) : staged.device;
    return NULL;
}

struct err *staging_is_used(const char *path, bool *ret)
{
    CLEANUP(mount_entry_fini) struct mount_entry filesystem = {0};
    CLEANUP(mount_entry_fini) struct mount_entry node = {0};

    TRY(staging_find(path, false, &filesystem));
    TRY(staging_find(path, true, &node));
    *ret = filesystem.target || node.target;
    return NULL;
}

/* ---- staging ---- */

struct err *staging_settle_access(const struct device *device, const char *path, bool raw,
                                  bool read_only, bool *ret_read_only)
{
    CLEANUP(mount_entry_fini) struct mount_entry staged = {0};
    bool mounted;

    TRY(staging_find(path, raw, &staged));
    *ret_read_only = read_only && (!staged.target || staged.read_only);
    if (staged.target)
        return NULL;
    TRY(mount_table_has(device->number, &mounted));
    return mounted ? NULL : block_set_read_only(device->fd, read_only);
}

static struct err *check_access(const struct mount_entry *staged, const char *path, bool read_only)
{
    if (staged->read_only == read_only)
        return NULL;
    return err_new(ERR_EXISTS, "the volume is already staged at %s, %s", path,
                   staged->read_only ? "read-only" : "for writing");
}

static struct err *check_staged(const struct mount_entry *staged, const struct device *device,
                                const struct mount_request *request)
{
    if (staged->device != device->number)
        return err_new(ERR_PRECONDITION, "%s is in use: %s is mounted there, not %s",
                       request->target, staged->source, device->path);
    return check_access(staged, request->target, request->read_only);
}

struct err *staging_mount(const struct device *device, const struct mount_request *request)
{
    CLEANUP(mount_entry_fini) struct mount_entry staged = {0};

    TRY(staging_find(request->target, false, &staged));
    if (staged.target)
        return check_staged(&staged, device, request);
    TRY(mount_point_make_folder(request->target));
    return mount_filesystem(request);
}

struct err *staging_bind(const struct device *device, const char *path, bool read_only)
{
    CLEANUP(freep) char *node = staging_source(path, true);
    CLEANUP(mount_entry_fini) struct mount_entry staged = {0};

    TRY(staging_find(path, true, &staged));
    if (staged.target && node_of(node) == device->number)
        return check_access(&staged, path, read_only);
    if (staged.target)
        return err_new(ERR_PRECONDITION, "%s is in use: it is not device %s", node, device->path);
    TRY(mount_point_make_folder(path));
    TRY(mount_point_make_file(node));
    return mount_bind(device->path, node, read_only);
}

/* ---- taking it away ---- */

static struct err *check_unpublished(const struct mount_entry *staged)
{
    CLEANUP(mount_entry_fini) struct mount_entry other = {0};

    TRY(mount_table_other(staged, &other));
    if (other.target)
        return err_new(ERR_PRECONDITION, "the volume is in use: it is still mounted at %s",
                       other.target);
    return NULL;
}

static struct err *sync_filesystem(const char *path)
{
    CLEANUP(closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || syncfs(fd))
        return err_new(ERR_INTERNAL, "data written to %s may be lost: %s", path, strerror(errno));
    return NULL;
}

/* Its pages, and that it was read-only. A device that is gone has no caches either. */
static struct err *forget_use(const char *device)
{
    CLEANUP(closep) int fd = -1;
    struct err *err = block_open(device, &fd);

    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return NULL;
    }
    TRY(err);
    TRY(block_set_read_only(fd, false));
    return block_drop_caches(fd);
}

static struct err *unmount(const struct mount_entry *staged)
{
    CLEANUP(err_freep) struct err *lost = NULL;

    TRY(check_unpublished(staged));
    lost = sync_filesystem(staged->target);
    TRY(mount_remove(staged->target));
    TRY(forget_use(staged->source));
    return TAKE_PTR(lost);
}

/* Its pages go while the node can still be reached by this name. */
static struct err *flush_node(const char *node)
{
    CLEANUP(closep) int fd = -1;

    TRY(block_open(node, &fd));
    if (fsync(fd))
        return err_new(ERR_INTERNAL, "data written to %s may be lost: %s", node, strerror(errno));
    TRY(block_set_read_only(fd, false));
    return block_drop_caches(fd);
}

static struct err *unbind(const struct mount_entry *staged)
{
    CLEANUP(err_freep) struct err *lost = NULL;

    TRY(check_unpublished(staged));
    lost = err_unless(flush_node(staged->target), ERR_NOT_FOUND);
    TRY(mount_remove(staged->target));
    return TAKE_PTR(lost);
}

struct err *staging_remove(const char *path)
{
    CLEANUP(freep) char *node_path = staging_source(path, true);
    CLEANUP(mount_entry_fini) struct mount_entry filesystem = {0};
    CLEANUP(mount_entry_fini) struct mount_entry node = {0};

    TRY(staging_find(path, false, &filesystem));
    if (filesystem.target)
        return unmount(&filesystem);
    TRY(staging_find(path, true, &node));
    if (node.target)
        TRY(unbind(&node));
    return mount_point_remove(node_path);
}
