#include "provisioner-lib/host/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <libmount/libmount.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/block.h"

enum { REASON_SIZE = 512 };

/* Options that are the mount's, not the file system's; what is in no row goes to the file system.
 * Access times are one setting with several values. */
static const struct {
    const char *name;
    unsigned set, clear;
} attributes[] = {
    {"ro", MOUNT_ATTR_RDONLY, 0},
    {"rw", 0, 0},
    {"nosuid", MOUNT_ATTR_NOSUID, 0},
    {"suid", 0, MOUNT_ATTR_NOSUID},
    {"nodev", MOUNT_ATTR_NODEV, 0},
    {"dev", 0, MOUNT_ATTR_NODEV},
    {"noexec", MOUNT_ATTR_NOEXEC, 0},
    {"exec", 0, MOUNT_ATTR_NOEXEC},
    {"noatime", MOUNT_ATTR_NOATIME, MOUNT_ATTR__ATIME},
    {"relatime", MOUNT_ATTR_RELATIME, MOUNT_ATTR__ATIME},
    {"strictatime", MOUNT_ATTR_STRICTATIME, MOUNT_ATTR__ATIME},
    {"nodiratime", MOUNT_ATTR_NODIRATIME, 0},
    {"diratime", 0, MOUNT_ATTR_NODIRATIME},
    {"nosymfollow", MOUNT_ATTR_NOSYMFOLLOW, 0},
    {"symfollow", 0, MOUNT_ATTR_NOSYMFOLLOW},
    {"defaults", 0, 0},
    {"_netdev", 0, 0}, /* words for mount(8), which mean nothing here */
    {"nofail", 0, 0},
};

/* ---- a file system ---- */

/* A mount in the making. */
struct making {
    const struct mount_request *request;
    int context; /* fsopen's */
    unsigned attributes;
    bool has_own_options; /* of the file system */
};

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

static bool take_attribute(struct making *making, const char *name)
{
    for (size_t i = 0; i < COUNT_OF(attributes); i++)
        if (strcmp(attributes[i].name, name) == 0) {
            making->attributes &= ~attributes[i].clear;
            making->attributes |= attributes[i].set;
            return true;
        }
    return false;
}

static struct err *set_option(struct making *making, const char *name, const char *value)
{
    char reason[REASON_SIZE];
    int command = value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;

    if (!value && take_attribute(making, name))
        return NULL;
    if (strcmp(name, "source") == 0)
        return err_new(ERR_INVALID,
                       "mount option \"source\" is not allowed: the source is always the volume");
    making->has_own_options = true;
    if (fsconfig(making->context, command, name, value, 0) == 0)
        return NULL;
    take_reason(making->context, reason, strerror(errno));
    return err_new(ERR_INVALID, "mount option \"%s%s%s\": %s", name, value ? "=" : "",
                   value ? value : "", reason);
}

static struct err *set_options(struct making *making, const char *options)
{
    CLEANUP(freep) char *text = mem_strdup(options);
    char *rest = text, *name, *value;
    size_t name_length, value_length;

    while (mnt_optstr_next_option(&rest, &name, &name_length, &value, &value_length) == 0) {
        CLEANUP(freep) char *own_name = mem_strndup(name, name_length);
        CLEANUP(freep) char *own_value = value ? mem_strndup(value, value_length) : NULL;

        TRY(set_option(making, own_name, own_value));
    }
    return NULL;
}

static struct err *configure(struct making *making)
{
    const struct mount_request *request = making->request;

    if (fsconfig(making->context, FSCONFIG_SET_STRING, "source", request->device, 0))
        return err_new(ERR_INTERNAL, "fsconfig source: %s", strerror(errno));
    for (size_t i = 0; i < request->n_options; i++)
        TRY(set_options(making, request->options[i]));
    if (request->read_only)
        making->attributes |= MOUNT_ATTR_RDONLY;
    if (making->attributes & MOUNT_ATTR_RDONLY &&
        fsconfig(making->context, FSCONFIG_SET_FLAG, "ro", NULL, 0))
        return err_new(ERR_INTERNAL, "fsconfig ro: %s", strerror(errno));
    if (request->no_replay && fsconfig(making->context, FSCONFIG_SET_FLAG, "norecovery", NULL, 0))
        return err_new(ERR_INTERNAL, "fsconfig norecovery: %s", strerror(errno));
    return NULL;
}

/* Some options are refused only when the file system is put together, without saying which. */
static struct err *create(const struct making *making)
{
    char reason[REASON_SIZE];

    if (fsconfig(making->context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        return NULL;
    int number = errno;
    take_reason(making->context, reason, strerror(number));
    if (number == EINVAL && making->has_own_options)
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

static struct err *make_mount(struct making *making)
{
    CLEANUP(closep) int tree = -1;

    TRY(configure(making));
    TRY(create(making));
    tree = fsmount(making->context, FSMOUNT_CLOEXEC, making->attributes);
    if (tree < 0)
        return err_new(ERR_INTERNAL, "fsmount: %s", strerror(errno));
    return show(tree, making->request->target);
}

struct err *mount_filesystem(const struct mount_request *request)
{
    CLEANUP(closep) int context = fsopen(request->type, FSOPEN_CLOEXEC);
    struct making making = {.request = request, .context = context};

    if (context < 0)
        return err_new(ERR_INTERNAL, "the kernel does not support %s: %s", request->type,
                       strerror(errno));
    struct err *err = make_mount(&making);
    return err ? err_wrap(err, "mounting %s at %s", request->device, request->target) : NULL;
}

/* The file system goes with its context, before close returns. */
struct err *mount_replay(const struct mount_request *request)
{
    CLEANUP(closep) int context = fsopen(request->type, FSOPEN_CLOEXEC);
    struct making making = {.request = request, .context = context};

    if (context < 0)
        return err_new(ERR_INTERNAL, "the kernel does not support %s: %s", request->type,
                       strerror(errno));
    TRY(configure(&making));
    struct err *err = create(&making);
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

bool mount_options_read_only(const char *const *options, size_t n_options)
{
    bool read_only = false;

    for (size_t i = 0; i < n_options; i++)
        if (mnt_optstr_get_option(options[i], "ro", NULL, NULL) == 0)
            read_only = true;
    return read_only;
}

/* ---- bind mounts ---- */

static struct err *bind_tree(const char *source, const char *target, bool read_only)
{
    CLEANUP(closep) int tree = open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};

    if (tree < 0)
        return err_new(ERR_INTERNAL, "open_tree: %s", strerror(errno));
    if (read_only && mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof attr))
        return err_new(ERR_INTERNAL, "mount_setattr: %s", strerror(errno));
    return show(tree, target);
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
