#include "node/volume_access.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/host/identity.h"
#include "provisioner-lib/host/mount_options.h"
#include "provisioner-lib/host/partition.h"
#include "provisioner-lib/parameters.h"
#include "provisioner-lib/records/access_mode.h"

#define ACCESS(name) CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_##name
#define DEFAULT_FILESYSTEM "ext4"
#define DEFAULT_SKU "StandardSSD_LRS"

/* Names of parameters do not differ by case. */
static const char *find(context_entry *const *context, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(context[i]->key, key) == 0)
            return context[i]->value;
    return "";
}

static struct err *choose_filesystem(const Csi__V1__VolumeCapability__MountVolume *mount,
                                     const char *of_volume, const struct filesystem **ret)
{
    const char *wanted = mount->fs_type[0] ? mount->fs_type
                         : of_volume[0]    ? of_volume
                                           : DEFAULT_FILESYSTEM;
    CLEANUP(freep) char *name = mem_lower(wanted);
    const struct filesystem *type = filesystem_find(name);

    if (!type)
        return err_new(
            ERR_INVALID,
            "volume_capability.mount.fs_type \"%s\" is not supported: it must be one of %s", wanted,
            FILESYSTEM_NAMES);
    *ret = type;
    return NULL;
}

static void take_options(const Csi__V1__VolumeCapability__MountVolume *mount, struct arena *arena,
                         struct volume_access *access)
{
    const char **options = arena_alloc(arena, (mount->n_mount_flags + 1) * sizeof *options);

    for (size_t i = 0; i < mount->n_mount_flags; i++)
        options[access->n_options++] = mount->mount_flags[i];
    if (access->filesystem->mount_option)
        options[access->n_options++] = access->filesystem->mount_option;
    access->options = options;
}

/* As it was asked for when the disk was made; it may be another by now. */
static const char *sku_asked_for(context_entry *const *context, size_t n)
{
    const char *name = find(context, n, "skuname");
    const char *old_name = find(context, n, "storageaccounttype");

    return name[0] ? name : old_name[0] ? old_name : DEFAULT_SKU;
}

static void take_settings(context_entry *const *context, size_t n, struct arena *arena,
                          struct volume_access *access)
{
    static const char prefix[] = "device-setting/";
    struct device_setting *settings = arena_alloc(arena, (n + 1) * sizeof *settings);

    if (strcasecmp(find(context, n, "perfprofile"), "advanced") != 0)
        return;
    for (size_t i = 0; i < n; i++)
        if (strncasecmp(context[i]->key, prefix, strlen(prefix)) == 0 && context[i]->value[0])
            settings[access->n_settings++] =
                (struct device_setting){context[i]->key + strlen(prefix), context[i]->value};
    access->settings = settings;
}

/* Whoever wants a partition must not get the disk. */
static struct err *read_partition(const char *text, unsigned *ret)
{
    unsigned long number = strtoul(text, NULL, 10);

    if (*text &&
        (strspn(text, "0123456789") != strlen(text) || number < 1 || number > PARTITION_MOST))
        return err_new(ERR_INVALID,
                       "volume attribute partition \"%s\" is not the number of a partition, from "
                       "1 to %d",
                       text, PARTITION_MOST);
    *ret = (unsigned)number;
    return NULL;
}

static struct err *read_accepted(const char *text, const char **ret)
{
    if (*text && !identity_is_uuid(text))
        return err_new(ERR_INVALID, "volume attribute %s \"%s\" is not the UUID of a file system",
                       ANNOTATION_ACCEPT_FILESYSTEM, text);
    *ret = *text ? text : NULL;
    return NULL;
}

struct err *volume_access_read(const Csi__V1__VolumeCapability *capability,
                               context_entry *const *context, size_t n_context, struct arena *arena,
                               struct volume_access *ret)
{
    struct volume_access access = {0};

    if (!capability)
        return err_new(ERR_INVALID, "volume_capability is missing");
    /* A PersistentVolume of an existing disk need not say it: the controller has read the disk, and
     * would not have published it otherwise. */
    const char *shares = find(context, n_context, "maxshares");
    TRY(capability_check(capability, *shares ? (int)strtol(shares, NULL, 10) : MAX_SHARES_LIMIT));
    TRY(read_partition(find(context, n_context, "partition"), &access.partition));
    TRY(read_accepted(find(context, n_context, ANNOTATION_ACCEPT_FILESYSTEM), &access.accepted));

    take_settings(context, n_context, arena, &access);
    access.sku = sku_asked_for(context, n_context);
    access.basic_profile = strcasecmp(find(context, n_context, "perfprofile"), "basic") == 0;
    access.raw = capability->access_type_case == ACCESS(BLOCK);
    access.read_only = access_mode_is_read_only((int)capability->access_mode->mode);
    access.may_grow = strcasecmp(find(context, n_context, "resizerequired"), "true") == 0;
    if (!access.raw) {
        TRY(choose_filesystem(capability->mount, find(context, n_context, "fstype"),
                              &access.filesystem));
        take_options(capability->mount, arena, &access);
        access.read_only |= mount_options_read_only(access.options, access.n_options);
    }
    *ret = access;
    return NULL;
}

bool volume_access_may_write(const struct volume_access *access, bool published_read_only)
{
    bool only_read = access->raw && access->read_only;

    return !published_read_only && !only_read;
}

struct err *volume_path_check(const char *name, const char *path)
{
    if (!path[0])
        return err_new(ERR_INVALID, "%s is missing", name);
    if (path[0] != '/' || strspn(path, "/") == strlen(path))
        return err_new(ERR_INVALID, "%s \"%s\" is not an absolute path", name, path);
    return NULL;
}
