/* How a call wants to use a volume: what is taken from its fields, and what is refused. */
#include "node/volume_access.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define UUID "617a646b-6e85-804c-BA1A-E367F410918D"
#define MODE(name) CSI__V1__VOLUME_CAPABILITY__ACCESS_MODE__MODE__##name

enum type { NONE, BLOCK, MOUNT };

/* A request, in the words of the table. */
struct wish {
    enum type type;
    int mode; /* -1: there is no access mode */
    const char *fs_type;
    const char *flags[3];
    const char *context[4]; /* keys and values */
};

#define WISH(access, access_mode, ...)                                                             \
    {                                                                                              \
        .type = access, .mode = MODE(access_mode), __VA_ARGS__                                     \
    }
#define WRITER(...) WISH(MOUNT, SINGLE_NODE_WRITER, __VA_ARGS__)

/* The messages that make the capability; they live as long as the struct. */
struct message {
    Csi__V1__VolumeCapability capability;
    Csi__V1__VolumeCapability__BlockVolume block;
    Csi__V1__VolumeCapability__MountVolume mount;
    Csi__V1__VolumeCapability__AccessMode mode;
    context_entry entries[2];
    context_entry *context[2];
    size_t n_context;
};

static void build(const struct wish *wish, struct message *m)
{
    csi__v1__volume_capability__init(&m->capability);
    csi__v1__volume_capability__block_volume__init(&m->block);
    csi__v1__volume_capability__mount_volume__init(&m->mount);
    csi__v1__volume_capability__access_mode__init(&m->mode);
    if (wish->mode >= 0) {
        m->mode.mode = (Csi__V1__VolumeCapability__AccessMode__Mode)wish->mode;
        m->capability.access_mode = &m->mode;
    }
    if (wish->type == BLOCK) {
        m->capability.access_type_case = CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_BLOCK;
        m->capability.block = &m->block;
    } else if (wish->type == MOUNT) {
        m->capability.access_type_case = CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_MOUNT;
        m->capability.mount = &m->mount;
    }
    if (wish->fs_type)
        m->mount.fs_type = (char *)(uintptr_t)wish->fs_type;
    m->mount.mount_flags = (char **)(uintptr_t)wish->flags;
    while (wish->flags[m->mount.n_mount_flags])
        m->mount.n_mount_flags++;
    for (m->n_context = 0; m->n_context < 2 && wish->context[2 * m->n_context]; m->n_context++) {
        m->entries[m->n_context] =
            (context_entry){.key = (char *)(uintptr_t)wish->context[2 * m->n_context],
                            .value = (char *)(uintptr_t)wish->context[2 * m->n_context + 1]};
        m->context[m->n_context] = &m->entries[m->n_context];
    }
}

static struct err *read_wish(const struct wish *wish, struct arena *arena,
                             struct volume_access *ret)
{
    struct message message;

    build(wish, &message);
    return volume_access_read(&message.capability, message.context, message.n_context, arena, ret);
}

static const struct {
    struct wish wish;
    bool raw, read_only, may_grow;
    unsigned partition;
    const char *filesystem;
    const char *accepted_uuid;
    const char *options; /* all of them, each followed by a space */
} accepted[] = {
    {.wish = WRITER(), .filesystem = "ext4", .options = ""},
    {.wish = WRITER(.fs_type = "xfs"), .filesystem = "xfs", .options = "nouuid "},
    {.wish =
         WISH(MOUNT, SINGLE_NODE_MULTI_WRITER, .fs_type = "EXT4", .flags = {"noatime", "commit=5"}),
     .filesystem = "ext4",
     .options = "noatime commit=5 "},
    {.wish = WISH(MOUNT, SINGLE_NODE_SINGLE_WRITER, .context = {"FsType", "XFS"}),
     .filesystem = "xfs",
     .options = "nouuid "},
    {.wish = WRITER(.fs_type = "ext4", .context = {"fstype", "xfs"}),
     .filesystem = "ext4",
     .options = ""},
    {.wish = WISH(MOUNT, SINGLE_NODE_READER_ONLY),
     .read_only = true,
     .filesystem = "ext4",
     .options = ""},
    {.wish = WRITER(.flags = {"noatime,ro"}),
     .read_only = true,
     .filesystem = "ext4",
     .options = "noatime,ro "},
    {.wish = WRITER(.context = {"resizeRequired", "true"}),
     .may_grow = true,
     .filesystem = "ext4",
     .options = ""},
    {.wish = WRITER(.context = {"resizeRequired", "false"}), .filesystem = "ext4", .options = ""},
    {.wish = WISH(BLOCK, SINGLE_NODE_WRITER), .raw = true},
    {.wish = WISH(BLOCK, MULTI_NODE_MULTI_WRITER, .context = {"maxShares", "2"}), .raw = true},
    {.wish = WISH(BLOCK, MULTI_NODE_MULTI_WRITER, .context = {"partition", ""}), .raw = true},
    {.wish = WISH(BLOCK, SINGLE_NODE_WRITER, .context = {"Partition", "256"}),
     .raw = true,
     .partition = 256},
    {.wish = WRITER(.context = {"partition", "1"}),
     .filesystem = "ext4",
     .options = "",
     .partition = 1},
    {.wish = WRITER(.context = {"Disk.CSI.azure.com/Accept-Filesystem", UUID}),
     .filesystem = "ext4",
     .options = "",
     .accepted_uuid = UUID},
    {.wish = WRITER(.context = {"disk.csi.azure.com/accept-filesystem", ""}),
     .filesystem = "ext4",
     .options = ""},
    {.wish = WISH(BLOCK, MULTI_NODE_READER_ONLY, .context = {"maxshares", "5"}),
     .raw = true,
     .read_only = true},
};

static void test_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(accepted); i++) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        CLEANUP(freep) char *options = mem_strdup("");
        struct volume_access access;

        assert_ok(read_wish(&accepted[i].wish, arena, &access));
        assert_int_equal(access.raw, accepted[i].raw);
        assert_int_equal(access.read_only, accepted[i].read_only);
        assert_int_equal(access.may_grow, accepted[i].may_grow);
        assert_int_equal(access.partition, accepted[i].partition);
        assert_string_equal(access.accepted ? access.accepted : "none",
                            accepted[i].accepted_uuid ? accepted[i].accepted_uuid : "none");
        if (access.raw)
            continue;
        assert_string_equal(access.filesystem->name, accepted[i].filesystem);
        for (size_t n = 0; n < access.n_options; n++) {
            char *longer = mem_printf("%s%s ", options, access.options[n]);
            free(options);
            options = longer;
        }
        assert_string_equal(options, accepted[i].options);
    }
}

static const struct {
    struct wish wish;
    bool published_read_only, may_write;
} writers[] = {
    {WRITER(), false, true},
    {WISH(BLOCK, SINGLE_NODE_WRITER), false, true},
    /* Its journal is replayed. */
    {WRITER(.flags = {"ro"}), false, true},
    {WISH(MOUNT, SINGLE_NODE_READER_ONLY), false, true},
    {WISH(BLOCK, SINGLE_NODE_READER_ONLY), false, false},
    {WISH(BLOCK, MULTI_NODE_READER_ONLY, .context = {"maxShares", "2"}), false, false},
    {WRITER(), true, false},
    {WRITER(.flags = {"ro"}), true, false},
    {WISH(BLOCK, SINGLE_NODE_WRITER), true, false},
};

static void test_who_may_write(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(writers); i++) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        struct volume_access access;

        assert_ok(read_wish(&writers[i].wish, arena, &access));
        assert_int_equal(volume_access_may_write(&access, writers[i].published_read_only),
                         writers[i].may_write);
    }
}

static const struct {
    struct wish wish;
    const char *sku;
    bool basic;
} profiles[] = {
    {WRITER(), "StandardSSD_LRS", false},
    {WRITER(.context = {"SkuName", "Premium_LRS", "PerfProfile", "Basic"}), "Premium_LRS", true},
    {WRITER(.context = {"storageAccountType", "Premium_ZRS", "perfProfile", "advanced"}),
     "Premium_ZRS", false},
};

static void test_profiles(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(profiles); i++) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        struct volume_access access;

        assert_ok(read_wish(&profiles[i].wish, arena, &access));
        assert_string_equal(access.sku, profiles[i].sku);
        assert_int_equal(access.basic_profile, profiles[i].basic);
    }
}

static void test_refused(void **state)
{
    static const struct {
        struct wish wish;
        const char *message;
    } rows[] = {
        {WISH(NONE, SINGLE_NODE_WRITER),
         "volume_capability.access_type is missing: it must be block or mount"},
        {{.type = MOUNT, .mode = -1}, "volume_capability.access_mode 0 is unknown"},
        {WISH(MOUNT, UNKNOWN), "volume_capability.access_mode 0 is unknown"},
        {{.type = BLOCK, .mode = 99}, "volume_capability.access_mode 99 is unknown"},
        {WISH(MOUNT, MULTI_NODE_MULTI_WRITER, .context = {"maxShares", "5"}),
         "volume_capability.access_mode MULTI_NODE_MULTI_WRITER: a file system on a disk can be "
         "mounted on one node only; use volumeMode Block"},
        {WISH(MOUNT, MULTI_NODE_READER_ONLY, .context = {"maxShares", "5"}),
         "volume_capability.access_mode MULTI_NODE_READER_ONLY: a file system on a disk can be "
         "mounted on one node only; use volumeMode Block"},
        {WISH(BLOCK, SINGLE_NODE_WRITER, .context = {"Partition", "0"}),
         "volume attribute partition \"0\" is not the number of a partition, from 1 to 256"},
        {WISH(BLOCK, SINGLE_NODE_WRITER, .context = {"partition", "257"}),
         "volume attribute partition \"257\" is not the number of a partition, from 1 to 256"},
        {WISH(BLOCK, SINGLE_NODE_WRITER, .context = {"partition", "1 "}),
         "volume attribute partition \"1 \" is not the number of a partition, from 1 to 256"},
        {WISH(BLOCK, SINGLE_NODE_WRITER, .context = {"partition", "sdc1"}),
         "volume attribute partition \"sdc1\" is not the number of a partition, from 1 to 256"},
        {WISH(BLOCK, MULTI_NODE_SINGLE_WRITER, .context = {"maxShares", "x"}),
         "volume_capability.access_mode MULTI_NODE_SINGLE_WRITER requires parameter maxShares to "
         "be 2 or more"},
        {WISH(BLOCK, MULTI_NODE_READER_ONLY, .context = {"maxShares", "1"}),
         "volume_capability.access_mode MULTI_NODE_READER_ONLY requires parameter maxShares to be "
         "2 or more"},
        {WRITER(.context = {"disk.csi.azure.com/accept-filesystem", "ext4 " UUID}),
         "volume attribute disk.csi.azure.com/accept-filesystem \"ext4 " UUID
         "\" is not the UUID of a file system"},
        {WRITER(.context = {"disk.csi.azure.com/accept-filesystem", "true"}),
         "volume attribute disk.csi.azure.com/accept-filesystem \"true\" is not the UUID of a file "
         "system"},
        {WRITER(.fs_type = "btrfs"), "volume_capability.mount.fs_type \"btrfs\" is not supported: "
                                     "it must be one of ext4, ext3, ext2, xfs"},
        {WRITER(.context = {"fstype", "NTFS"}),
         "volume_capability.mount.fs_type \"NTFS\" is not supported: it must be one of ext4, ext3, "
         "ext2, xfs"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        struct volume_access access;

        assert_fails(read_wish(&rows[i].wish, arena, &access), ERR_INVALID, rows[i].message);
    }
    assert_fails(volume_access_read(NULL, NULL, 0, NULL, NULL), ERR_INVALID,
                 "volume_capability is missing");
}

static void test_paths(void **state)
{
    (void)state;
    assert_ok(volume_path_check("target_path", "/var/lib/kubelet/pods/1/mount"));
    assert_fails(volume_path_check("target_path", ""), ERR_INVALID, "target_path is missing");
    assert_fails(volume_path_check("target_path", "mount"), ERR_INVALID,
                 "target_path \"mount\" is not an absolute path");
    assert_fails(volume_path_check("target_path", "//"), ERR_INVALID,
                 "target_path \"//\" is not an absolute path");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted), cmocka_unit_test(test_who_may_write),
        cmocka_unit_test(test_profiles), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
