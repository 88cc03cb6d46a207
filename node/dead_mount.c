#include "node/dead_mount.h"

#include <string.h>
#include <sys/sysmacros.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "node/csi_service.h"
#include "provisioner-lib/host/host_worker.h"
#include "provisioner-lib/host/staging.h"
#include "provisioner-lib/host/sysfs.h"

/* After the name of a file that is mounted, but is no longer in its folder. */
#define DELETED "//deleted"

struct look {
    const struct device_roots *roots;
    const struct dead_mount *mount;
    bool dead;
};

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

bool dead_mount_is(const struct mount_entry *staged, bool kernel_has_it)
{
    if (strcmp(staged->root, "/") != 0)
        return ends_in(staged->root, DELETED);
    return major(staged->device) != 0 && !kernel_has_it;
}

static struct err *look(void *arg)
{
    struct look *look = arg;
    const struct dead_mount *mount = look->mount;
    CLEANUP(mount_entry_fini) struct mount_entry filesystem = {0};
    CLEANUP(mount_entry_fini) struct mount_entry node = {0};
    CLEANUP(mount_entry_fini) struct mount_entry published = {0};

    TRY(staging_find(mount->staging, false, &filesystem));
    TRY(staging_find(mount->staging, true, &node));
    if (mount->target)
        TRY(mount_table_at(mount->target, &published));
    const struct mount_entry *staged = filesystem.target ? &filesystem : &node;
    if (!staged->target || published.target)
        return NULL;
    CLEANUP(freep) char *folder = sysfs_folder(look->roots, staged->device);
    look->dead = dead_mount_is(staged, folder != NULL);
    return NULL;
}

struct err *dead_mount_remove(struct task *self, struct node *node, const struct dead_mount *mount,
                              uint64_t deadline)
{
    struct look request = {.roots = host_device_roots(node->host), .mount = mount};

    TRY(host_on_worker(self, node->host, look, &request));
    if (!request.dead)
        return NULL;
    log_warning("volume %s: what is mounted at %s is of a device that is gone, and is unmounted",
                mount->volume_id, mount->staging);
    struct err *err = csi_unstage_at(self, node, mount->volume_id, mount->staging, deadline);
    return err ? err_wrap(err, "the device that is mounted here is gone; it is mounted anew when "
                               "no pod has it")
               : NULL;
}
