#include "provisioner-lib/host/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/mount_options.h"
#include "provisioner-lib/host/old_mount.h"

enum { REASON_SIZE = 512, MOST_FILESYSTEMS = 64 << 10 };

/* ---- a file system ---- */

/* What the kernel has to say about the last call, or `fallback`. */
static void take_reason(int context, char reason[REASON_SIZE], const char *fallback)
{
    ssize_t n = read(context, reason, REASON_SIZE - 1);

    if (n <= 2) {
        strncpy(reason, fallback, REASON_SIZE - 1);
        reason[REASON_SIZE - 1] = '\0';
        return;
    }
    reason[n] = '\0';
    reason[strcspn(reason, "\n")] = '\0';
    memmove(reason, reason + 2, (size_t)n - 1); /* "e " for error */
}

static struct err *set_option(int context, const struct mount_option *option)
{
    const char *value = option->value;
    char reason[REASON_SIZE];
    int command = value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;

    if (fsconfig(context, command, option->name, value, 0) == 0)
        return NULL;
    take_reason(context, reason, strerror(errno));
    return err_new(ERR_INVALID, "mount option \"%s%s%s\": %s", option->name, value ? "=" : "",
                   value ? value : "", reason);
}

static struct err *set_flag(int context, const char *name)
{
    if (fsconfig(context, FSCONFIG_SET_FLAG, name, NULL, 0))
        return err_new(ERR_INTERNAL, "fsconfig %s: %s", name, strerror(errno));
    return NULL;
}

static struct err *configure(int context, const struct mount_request *request,
                             const struct mount_options *options)
{
    if (fsconfig(context, FSCONFIG_SET_STRING, "source", request->device, 0))
        return err_new(ERR_INTERNAL, "fsconfig source: %s", strerror(errno));
    for (size_t i = 0; i < options->n_own; i++)
        TRY(set_option(context, &options->own[i]));
    if (options->attributes & MOUNT_ATTR_RDONLY)
        TRY(set_flag(context, "ro"));
    return request->no_replay ? set_flag(context, "norecovery") : NULL;
}

/* Some options are refused only when the file system is put together, without saying which. */
static struct err *create(int context, const struct mount_options *options)
{
    char reason[REASON_SIZE];

    if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        return NULL;
    int number = errno;
    take_reason(context, reason, strerror(number));
    if (number == EINVAL && options->n_own > 0)
        return err_new(ERR_INVALID, "the file system rejects its mount options: %s", reason);
    struct err *err = err_new(number == EBUSY ? ERR_PRECONDITION : ERR_INTERNAL, "%s", reason);
    return strerrorname_np(number) ? err_with_code(err, strerrorname_np(number)) : err;
}

static struct err *show(int tree, const char *target)
{
    if (move_mount(tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH))
        return err_new(ERR_INTERNAL, "move_mount: %s", strerror(errno));
    return NULL;
}

/* One that the kernel does not know has no mount options to speak of, either. */
static struct err *open_type(const char *type, int *ret)
{
    *ret = fsopen(type, FSOPEN_CLOEXEC);
    if (*ret < 0 && errno != ENOSYS)
        return err_new(ERR_INTERNAL, "the kernel does not support %s: %s", type, strerror(errno));
    return NULL;
}

static struct err *make_mount(const struct mount_request *request,
                              const struct mount_options *options)
{
    CLEANUP(closep) int context = -1;
    CLEANUP(closep) int tree = -1;

    TRY(open_type(request->type, &context));
    if (context < 0)
        return old_mount_filesystem(request, options);
    TRY(configure(context, request, options));
    TRY(create(context, options));
    tree = fsmount(context, FSMOUNT_CLOEXEC, options->attributes);
    if (tree < 0)
        return err_new(ERR_INTERNAL, "fsmount: %s", strerror(errno));
    return show(tree, request->target);
}

/* The file system goes with its context, before close returns. */
static struct err *replay(const struct mount_request *request, const struct mount_options *options)
{
    CLEANUP(closep) int context = -1;

    TRY(open_type(request->type, &context));
    if (context < 0)
        return old_mount_replay(request, options);
    TRY(configure(context, request, options));
    return create(context, options);
}

/* Only then does the kernel list the file system through which policies are loaded. */
static struct err *selinux_is_on(bool *ret)
{
    CLEANUP(freep) char *known = NULL;

    TRY(file_read("/proc/filesystems", MOST_FILESYSTEMS, &known, NULL));
    *ret = strstr(known, "\tselinuxfs\n");
    return NULL;
}

static struct err *drop_labels_without_selinux(struct mount_options *options)
{
    bool is_on;

    if (!mount_options_have_labels(options))
        return NULL;
    TRY(selinux_is_on(&is_on));
    if (!is_on)
        mount_options_drop_labels(options);
    return NULL;
}

static struct err *parse(const struct mount_request *request, struct mount_options *ret)
{
    TRY(mount_options_parse(request->options, request->n_options, ret));
    TRY(drop_labels_without_selinux(ret));
    if (request->read_only)
        ret->attributes |= MOUNT_ATTR_RDONLY;
    return NULL;
}

struct err *mount_filesystem(const struct mount_request *request)
{
    CLEANUP(mount_options_fini) struct mount_options options = {0};
    struct err *err = parse(request, &options);

    if (!err)
        err = make_mount(request, &options);
    return err ? err_wrap(err, "mounting %s at %s", request->device, request->target) : NULL;
}

struct err *mount_replay(const struct mount_request *request)
{
    CLEANUP(mount_options_fini) struct mount_options options = {0};
    struct err *err = parse(request, &options);

    if (!err)
        err = replay(request, &options);
    return err ? err_wrap(err, "replaying the journal of %s", request->device) : NULL;
}

/* The kernel's words for it: ext4 and the journal say EUCLEAN or EBADMSG (a checksum), and EINVAL
 * for a journal or for sizes that make no sense. */
bool mount_shows_damage(const struct err *err)
{
    static const char *const words[] = {"EUCLEAN", "EBADMSG", "EINVAL"};

    for (size_t i = 0; err_code(err) && i < COUNT_OF(words); i++)
        if (strcmp(err_code(err), words[i]) == 0)
            return true;
    return false;
}

/* ---- bind mounts ---- */

int mount_clone(const char *path)
{
    int tree = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

    return tree < 0 && errno == ENOSYS ? open(path, O_PATH | O_CLOEXEC) : tree;
}

static struct err *bind_tree(const char *source, const char *target, bool read_only)
{
    CLEANUP(closep) int tree = open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
    bool made = tree >= 0;

    if (made && read_only)
        made = mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof attr) == 0;
    if (made)
        return show(tree, target);
    if (errno == ENOSYS)
        return read_only ? old_mount_bind_read_only(source, target)
                         : old_mount_bind(source, target);
    return err_new(ERR_INTERNAL, "%s: %s", tree < 0 ? "open_tree" : "mount_setattr",
                   strerror(errno));
}

struct err *mount_bind(const char *source, const char *target, bool read_only)
{
    struct err *err = bind_tree(source, target, read_only);

    return err ? err_wrap(err, "binding %s to %s", source, target) : NULL;
}

struct err *mount_remove(const char *target)
{
    if (umount2(target, UMOUNT_NOFOLLOW) == 0)
        return NULL;
    if (errno == EBUSY)
        return err_new(ERR_PRECONDITION, "%s is in use", target);
    return err_new(ERR_INTERNAL, "unmounting %s: %s", target, strerror(errno));
}
