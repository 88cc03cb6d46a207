#include "provisioner-lib/host/old_mount.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "provisioner-lib/host/mount_point.h"

#define HIDDEN "/tmp/azdisk-mount-XXXXXX"

enum { MOST_TEXT = 4095 }; /* that mount(2) takes on all machines */

/* ---- what mount(2) is told ---- */

/* The other attributes have the numbers that they have in mount(2). */
static const struct {
    unsigned attribute;
    unsigned long flag;
} moved[] = {
    {MOUNT_ATTR_NOATIME, MS_NOATIME},
    {MOUNT_ATTR_STRICTATIME, MS_STRICTATIME},
    {MOUNT_ATTR_NODIRATIME, MS_NODIRATIME},
};

/* Options that all file systems share, which mount(2) takes as flags. */
static const struct {
    const char *name;
    unsigned long set, clear;
} shared[] = {
    {"sync", MS_SYNCHRONOUS, 0},    {"async", 0, MS_SYNCHRONOUS}, {"dirsync", MS_DIRSYNC, 0},
    {"mand", MS_MANDLOCK, 0},       {"nomand", 0, MS_MANDLOCK},   {"lazytime", MS_LAZYTIME, 0},
    {"nolazytime", 0, MS_LAZYTIME},
};

static unsigned long flags_of(unsigned attributes)
{
    unsigned long flags =
        attributes & (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);

    for (size_t i = 0; i < COUNT_OF(moved); i++)
        if (attributes & moved[i].attribute)
            flags |= moved[i].flag;
    return flags;
}

static bool take_shared(const struct mount_option *option, unsigned long *flags)
{
    for (size_t i = 0; i < COUNT_OF(shared); i++)
        if (strcmp(shared[i].name, option->name) == 0) {
            *flags &= ~shared[i].clear;
            *flags |= shared[i].set;
            return true;
        }
    return false;
}

/* Longer ones would be cut off by the kernel without a word. It takes commas in quotes only. */
static struct err *add(struct buffer *text, const char *name, const char *value)
{
    const char *quote = value && strchr(value, ',') ? "\"" : "";
    CLEANUP(freep)
    char *word = mem_printf("%s%s%s%s%s%s", text->length ? "," : "", name, value ? "=" : "", quote,
                            value ? value : "", quote);

    if (!buffer_append(text, word, strlen(word)))
        return err_new(ERR_INVALID, "the mount options are longer than %zu bytes", text->limit);
    return NULL;
}

/* What mount(2) is to be told. */
struct words {
    unsigned long flags;
    struct buffer text; /* what the file system gets */
};

static void words_fini(struct words *words)
{
    buffer_fini(&words->text);
}

/* A flag that it does not know, mount(2) ignores. */
static struct err *put(const struct mount_request *request, const struct mount_options *options,
                       struct words *words)
{
    if (options->attributes & MOUNT_ATTR_NOSYMFOLLOW)
        return err_new(ERR_INVALID, "mount option \"nosymfollow\": the node's kernel does not know "
                                    "it, Linux 5.10 and later do");
    words->flags = flags_of(options->attributes);
    for (size_t i = 0; i < options->n_own; i++)
        if (!take_shared(&options->own[i], &words->flags))
            TRY(add(&words->text, options->own[i].name, options->own[i].value));
    return request->no_replay ? add(&words->text, "norecovery", NULL) : NULL;
}

/* ---- file systems ---- */

static struct err *refused(const struct mount_request *request, const struct mount_options *options,
                           int number)
{
    if (number == ENODEV)
        return err_new(ERR_INTERNAL, "the kernel does not support %s: %s", request->type,
                       strerror(number));
    if (number == EINVAL && options->n_own > 0)
        return err_new(ERR_INVALID,
                       "the file system rejects its mount options: %s; the log of the node's "
                       "kernel says which",
                       strerror(number));
    struct err *err =
        err_new(number == EBUSY ? ERR_PRECONDITION : ERR_INTERNAL, "%s", strerror(number));
    return strerrorname_np(number) ? err_with_code(err, strerrorname_np(number)) : err;
}

static struct err *mount_at(const struct mount_request *request,
                            const struct mount_options *options, const char *target)
{
    CLEANUP(words_fini) struct words words = {.text.limit = MOST_TEXT};

    TRY(put(request, options, &words));
    if (mount(request->device, target, request->type, words.flags, words.text.data))
        return refused(request, options, errno);
    return NULL;
}

struct err *old_mount_bind(const char *source, const char *target)
{
    if (mount(source, target, NULL, MS_BIND, NULL))
        return err_new(ERR_INTERNAL, "%s", strerror(errno));
    return NULL;
}

struct err *old_mount_filesystem(const struct mount_request *request,
                                 const struct mount_options *options)
{
    return mount_at(request, options, request->target);
}

/* ---- where nobody sees it ---- */

/* A folder that nothing else knows, and in it what is to be mounted on. */
struct hidden {
    char folder[sizeof HIDDEN];
    char *place;
};

static void hidden_remove(struct hidden *hidden)
{
    if (hidden->place && rmdir(hidden->place) && errno == ENOTDIR)
        unlink(hidden->place);
    free(hidden->place);
    rmdir(hidden->folder);
}

static struct err *hidden_make(bool is_folder, struct hidden *ret)
{
    memcpy(ret->folder, HIDDEN, sizeof HIDDEN);
    if (!mkdtemp(ret->folder))
        return err_new(ERR_INTERNAL, "making %s: %s", HIDDEN, strerror(errno));
    ret->place = mem_printf("%s/mount", ret->folder);
    return is_folder ? mount_point_make_folder(ret->place) : mount_point_make_file(ret->place);
}

struct err *old_mount_replay(const struct mount_request *request,
                             const struct mount_options *options)
{
    CLEANUP(hidden_remove) struct hidden hidden = {0};

    TRY(hidden_make(true, &hidden));
    TRY(mount_at(request, options, hidden.place));
    return mount_remove(hidden.place);
}

/* What kind of access times there is, stays without being said. */
static struct err *make_read_only(const char *place)
{
    const unsigned long kept = ST_NOSUID | ST_NODEV | ST_NOEXEC;
    struct statvfs found;

    if (statvfs(place, &found) ||
        mount(NULL, place, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | (found.f_flag & kept), NULL))
        return err_new(ERR_INTERNAL, "making the mount read-only: %s", strerror(errno));
    return NULL;
}

static struct err *bind_hidden(const char *place, const char *target)
{
    TRY(make_read_only(place));
    return old_mount_bind(place, target);
}

struct err *old_mount_bind_read_only(const char *source, const char *target)
{
    CLEANUP(hidden_remove) struct hidden hidden = {0};
    struct stat status;

    if (stat(source, &status))
        return err_new(ERR_INTERNAL, "%s: %s", source, strerror(errno));
    TRY(hidden_make(S_ISDIR(status.st_mode), &hidden));
    TRY(old_mount_bind(source, hidden.place));
    CLEANUP(err_freep) struct err *err = bind_hidden(hidden.place, target);
    TRY(mount_remove(hidden.place));
    return TAKE_PTR(err);
}
