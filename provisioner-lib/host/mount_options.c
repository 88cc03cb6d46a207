#include "provisioner-lib/host/mount_options.h"

#include <libmount/libmount.h>
#include <string.h>
#include <sys/mount.h>

#include "lib/base/alloc.h"

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

static const char *const labels[] = {"context", "fscontext", "defcontext", "rootcontext"};

static bool take_attribute(struct mount_options *options, const char *name)
{
    for (size_t i = 0; i < COUNT_OF(attributes); i++)
        if (strcmp(attributes[i].name, name) == 0) {
            options->attributes &= ~attributes[i].clear;
            options->attributes |= attributes[i].set;
            return true;
        }
    return false;
}

static void option_fini(struct mount_option *option)
{
    free(option->name);
    free(option->value);
}

static void drop(struct mount_options *options, const char *name)
{
    size_t kept = 0;

    for (size_t i = 0; i < options->n_own; i++)
        if (strcmp(options->own[i].name, name) == 0)
            option_fini(&options->own[i]);
        else
            options->own[kept++] = options->own[i];
    options->n_own = kept;
}

static bool is_label(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(labels); i++)
        if (strcmp(labels[i], name) == 0)
            return true;
    return false;
}

static struct err *take_option(struct mount_options *options, const struct mount_option *option)
{
    if (!option->value && take_attribute(options, option->name))
        return NULL;
    if (strcmp(option->name, "source") == 0)
        return err_new(ERR_INVALID,
                       "mount option \"source\" is not allowed: the source is always the volume");
    if (is_label(option->name))
        drop(options, option->name);
    ARRAY_ADD(options->own, options->n_own) =
        (struct mount_option){.name = mem_strdup(option->name), .value = mem_strdup(option->value)};
    return NULL;
}

/* As kubelet writes a label: context="system_u:object_r:container_file_t:s0:c1,c2" */
static char *unquoted(const char *value, size_t length)
{
    bool quoted = length >= 2 && value[0] == '"' && value[length - 1] == '"';

    return quoted ? mem_strndup(value + 1, length - 2) : mem_strndup(value, length);
}

static struct err *take_text(struct mount_options *options, const char *text)
{
    CLEANUP(freep) char *copy = mem_strdup(text);
    char *rest = copy, *name, *value;
    size_t name_length, value_length;

    while (mnt_optstr_next_option(&rest, &name, &name_length, &value, &value_length) == 0) {
        CLEANUP(freep) char *own_name = mem_strndup(name, name_length);
        CLEANUP(freep) char *own_value = value ? unquoted(value, value_length) : NULL;

        TRY(take_option(options, &(struct mount_option){own_name, own_value}));
    }
    return NULL;
}

struct err *mount_options_parse(const char *const *texts, size_t n, struct mount_options *ret)
{
    for (size_t i = 0; i < n; i++)
        TRY(take_text(ret, texts[i]));
    return NULL;
}

bool mount_options_have_labels(const struct mount_options *options)
{
    for (size_t i = 0; i < options->n_own; i++)
        if (is_label(options->own[i].name))
            return true;
    return false;
}

void mount_options_drop_labels(struct mount_options *options)
{
    for (size_t i = 0; i < COUNT_OF(labels); i++)
        drop(options, labels[i]);
}

void mount_options_fini(struct mount_options *options)
{
    for (size_t i = 0; i < options->n_own; i++)
        option_fini(&options->own[i]);
    free(options->own);
    *options = (struct mount_options){0};
}

bool mount_options_read_only(const char *const *texts, size_t n)
{
    bool read_only = false;

    for (size_t i = 0; i < n; i++)
        if (mnt_optstr_get_option(texts[i], "ro", NULL, NULL) == 0)
            read_only = true;
    return read_only;
}
