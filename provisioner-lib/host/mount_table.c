#include "provisioner-lib/host/mount_table.h"

#include <libmount/libmount.h>
#include <string.h>

#include "lib/base/alloc.h"

typedef bool match_fn(struct libmnt_fs *fs, const void *wanted);

static void mnt_unref_tablep(struct libmnt_table **table)
{
    mnt_unref_table(*table);
}

static void mnt_free_iterp(struct libmnt_iter **iter)
{
    mnt_free_iter(*iter);
}

void mount_entry_fini(struct mount_entry *entry)
{
    free(entry->source);
    free(entry->root);
    free(entry->type);
    free(entry->target);
    free(entry->filesystem_options);
    *entry = (struct mount_entry){0};
}

bool mount_table_has_option(const char *options, const char *name)
{
    return options && mnt_optstr_get_option(options, name, NULL, NULL) == 0;
}

static struct mount_entry entry_of(struct libmnt_fs *fs)
{
    return (struct mount_entry){
        .device = mnt_fs_get_devno(fs),
        .source = mem_strdup(mnt_fs_get_source(fs)),
        .root = mem_strdup(mnt_fs_get_root(fs)),
        .type = mem_strdup(mnt_fs_get_fstype(fs)),
        .target = mem_strdup(mnt_fs_get_target(fs)),
        .filesystem_options = mem_strdup(mnt_fs_get_fs_options(fs)),
        .read_only = mount_table_has_option(mnt_fs_get_vfs_options(fs), "ro") ||
                     mount_table_has_option(mnt_fs_get_fs_options(fs), "ro"),
    };
}

static struct err *read_table(struct libmnt_table *table)
{
    if (!table || mnt_table_parse_file(table, "/proc/self/mountinfo"))
        return err_new(ERR_INTERNAL, "the mount table cannot be read");
    return NULL;
}

/* The newest mount that matches; NULL if none does. */
static struct libmnt_fs *find_in(struct libmnt_table *table, match_fn *matches, const void *wanted)
{
    CLEANUP(mnt_free_iterp) struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_BACKWARD);
    struct libmnt_fs *fs;

    while (mnt_table_next_fs(table, iter, &fs) == 0)
        if (matches(fs, wanted))
            return fs;
    return NULL;
}

static struct err *find(match_fn *matches, const void *wanted, struct mount_entry *ret)
{
    CLEANUP(mnt_unref_tablep) struct libmnt_table *table = mnt_new_table();

    TRY(read_table(table));
    struct libmnt_fs *fs = find_in(table, matches, wanted);
    *ret = fs ? entry_of(fs) : (struct mount_entry){0};
    return NULL;
}

static bool is_at(struct libmnt_fs *fs, const void *path)
{
    return strcmp(mnt_fs_get_target(fs), path) == 0;
}

/* The table has paths without links. Only the way to the mount is looked at, not the mount. */
static char *without_links(const char *path)
{
    CLEANUP(freep) char *folder = mem_strdup(path);
    char *slash = strrchr(folder, '/');

    while (slash && slash != folder && !slash[1]) {
        *slash = '\0';
        slash = strrchr(folder, '/');
    }
    if (!slash || slash == folder)
        return TAKE_PTR(folder);
    *slash = '\0';
    CLEANUP(freep) char *real = realpath(folder, NULL);
    return mem_printf("%s/%s", real ? real : folder, slash + 1);
}

struct err *mount_table_at(const char *path, struct mount_entry *ret)
{
    CLEANUP(freep) char *target = without_links(path);

    return find(is_at, target, ret);
}

static bool is_for_writing(struct libmnt_fs *fs, const void *device)
{
    return mnt_fs_get_devno(fs) == *(const dev_t *)device &&
           !mount_table_has_option(mnt_fs_get_vfs_options(fs), "ro");
}

struct err *mount_table_look(const char *path, struct mount_entry *ret, bool *ret_for_writing)
{
    CLEANUP(freep) char *target = without_links(path);
    CLEANUP(mnt_unref_tablep) struct libmnt_table *table = mnt_new_table();

    TRY(read_table(table));
    struct libmnt_fs *fs = find_in(table, is_at, target);
    *ret = fs ? entry_of(fs) : (struct mount_entry){0};
    *ret_for_writing = fs && find_in(table, is_for_writing, &ret->device);
    return NULL;
}

static bool is_another(struct libmnt_fs *fs, const void *wanted)
{
    const struct mount_entry *entry = wanted;

    return mnt_fs_get_devno(fs) == entry->device &&
           strcmp(mnt_fs_get_target(fs), entry->target) != 0 &&
           (strcmp(entry->root, "/") == 0 || strcmp(mnt_fs_get_root(fs), entry->root) == 0);
}

struct err *mount_table_other(const struct mount_entry *entry, struct mount_entry *ret)
{
    return find(is_another, entry, ret);
}

static bool is_twin(struct libmnt_fs *fs, const void *wanted)
{
    const struct mount_entry *entry = wanted;

    return is_another(fs, entry) && strcmp(mnt_fs_get_root(fs), entry->root) == 0;
}

struct err *mount_table_twin(const struct mount_entry *entry, struct mount_entry *ret)
{
    return find(is_twin, entry, ret);
}

struct device_question {
    bool (*is_one)(dev_t device, const void *ctx);
    const void *ctx;
};

static bool is_of_one(struct libmnt_fs *fs, const void *wanted)
{
    const struct device_question *question = wanted;

    return question->is_one(mnt_fs_get_devno(fs), question->ctx);
}

struct err *mount_table_find(bool (*is_one)(dev_t device, const void *ctx), const void *ctx,
                             struct mount_entry *ret)
{
    return find(is_of_one, &(struct device_question){is_one, ctx}, ret);
}

static bool is_it(dev_t device, const void *wanted)
{
    return device == *(const dev_t *)wanted;
}

struct err *mount_table_has(dev_t device, bool *ret_mounted)
{
    CLEANUP(mount_entry_fini) struct mount_entry entry = {0};

    TRY(mount_table_find(is_it, &device, &entry));
    *ret_mounted = entry.target != NULL;
    return NULL;
}
