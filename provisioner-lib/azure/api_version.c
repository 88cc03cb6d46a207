#include "provisioner-lib/azure/api_version.h"

/* Operations are followed by the URL that Azure gave, which names a version. */
static const struct {
    const char *azure, *stack;
} versions[ARM_KINDS] = {
    [ARM_SKU_READ] = {"2021-07-01", "2019-04-01"},
    [ARM_DISK_READ] = {"2025-01-02", "2019-07-01"},
    [ARM_DISK_WRITE] = {"2025-01-02", "2019-07-01"},
    [ARM_DISK_DELETE] = {"2025-01-02", "2019-07-01"},
    [ARM_VM_READ] = {"2025-04-01", "2017-12-01"},
    [ARM_VM_UPDATE] = {"2025-04-01", "2017-12-01"},
    [ARM_INSTANCE_READ] = {"2025-04-01", "2019-07-01"},
    [ARM_INSTANCE_UPDATE] = {"2025-04-01", "2019-07-01"},
};

const char *api_version(enum arm_kind kind, bool azure_stack)
{
    return azure_stack ? versions[kind].stack : versions[kind].azure;
}
