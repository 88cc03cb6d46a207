/* csi_driver.h - what the programs that serve CSI say of the driver alike.
 */
#pragma once

#include "lib/rpc/csi_identity.h"

/* With the capabilities of the driver as a whole: another program may be the one that has them. */
struct csi_identity csi_driver_identity(const char *driver_name, bool (*is_ready)(void *ctx),
                                        void *ctx);
