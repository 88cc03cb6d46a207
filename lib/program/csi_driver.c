#include "lib/program/csi_driver.h"

#include "lib/base/alloc.h"

struct csi_identity csi_driver_identity(const char *driver_name, bool (*is_ready)(void *ctx),
                                        void *ctx)
{
    static const struct csi_capability capabilities[] = {
        CSI_SERVICE(CONTROLLER_SERVICE),
        CSI_SERVICE(VOLUME_ACCESSIBILITY_CONSTRAINTS),
        CSI_EXPANSION(ONLINE),
    };

    return (struct csi_identity){
        .driver_name = driver_name,
        .capabilities = capabilities,
        .n_capabilities = COUNT_OF(capabilities),
        .is_ready = is_ready,
        .ctx = ctx,
    };
}
