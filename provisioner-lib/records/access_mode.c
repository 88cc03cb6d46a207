#include "provisioner-lib/records/access_mode.h"

#include "lib/base/alloc.h"

#define MODE(name) CSI__V1__VOLUME_CAPABILITY__ACCESS_MODE__MODE__##name

static const struct {
    const char *name;
    bool multi_node, read_only;
} modes[] = {
    [MODE(SINGLE_NODE_WRITER)] = {"SINGLE_NODE_WRITER", false, false},
    [MODE(SINGLE_NODE_READER_ONLY)] = {"SINGLE_NODE_READER_ONLY", false, true},
    [MODE(MULTI_NODE_READER_ONLY)] = {"MULTI_NODE_READER_ONLY", true, true},
    [MODE(MULTI_NODE_SINGLE_WRITER)] = {"MULTI_NODE_SINGLE_WRITER", true, false},
    [MODE(MULTI_NODE_MULTI_WRITER)] = {"MULTI_NODE_MULTI_WRITER", true, false},
    [MODE(SINGLE_NODE_SINGLE_WRITER)] = {"SINGLE_NODE_SINGLE_WRITER", false, false},
    [MODE(SINGLE_NODE_MULTI_WRITER)] = {"SINGLE_NODE_MULTI_WRITER", false, false},
};

static bool is_known(int mode)
{
    return mode >= 0 && (size_t)mode < COUNT_OF(modes) && modes[mode].name;
}

bool access_mode_is_multi_node(int mode)
{
    return is_known(mode) && modes[mode].multi_node;
}

bool access_mode_is_read_only(int mode)
{
    return is_known(mode) && modes[mode].read_only;
}

struct err *capability_check(const Csi__V1__VolumeCapability *capability, int max_shares)
{
    int mode = capability->access_mode ? (int)capability->access_mode->mode : 0;
    bool block = capability->access_type_case == CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_BLOCK;
    bool mount = capability->access_type_case == CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_MOUNT;

    if (!block && !mount)
        return err_new(ERR_INVALID,
                       "volume_capability.access_type is missing: it must be block or mount");
    if (!is_known(mode))
        return err_new(ERR_INVALID, "volume_capability.access_mode %d is unknown", mode);
    if (!modes[mode].multi_node)
        return NULL;
    if (mount)
        return err_new(ERR_INVALID,
                       "volume_capability.access_mode %s: a file system on a disk can "
                       "be mounted on one node only; use volumeMode Block",
                       modes[mode].name);
    if (max_shares < 2)
        return err_new(
            ERR_INVALID,
            "volume_capability.access_mode %s requires parameter maxShares to be 2 or more",
            modes[mode].name);
    return NULL;
}

struct err *capabilities_check(Csi__V1__VolumeCapability *const *capabilities, size_t n,
                               int max_shares)
{
    if (n == 0)
        return err_new(ERR_INVALID, "volume_capabilities is missing");
    for (size_t i = 0; i < n; i++)
        TRY(capability_check(capabilities[i], max_shares));
    return NULL;
}

bool capabilities_are_multi_node(Csi__V1__VolumeCapability *const *capabilities, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (capabilities[i]->access_mode &&
            access_mode_is_multi_node((int)capabilities[i]->access_mode->mode))
            return true;
    return false;
}
