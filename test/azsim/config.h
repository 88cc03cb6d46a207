/* config.h - the configuration file: which subscription is simulated, and what is in it at first.
 *
 *     {"tenantId": "...", "subscriptionId": "...", "location": "eastus",
 *      "resourceGroup": "rg", "otherResourceGroups": ["disks"],
 *      "clients": [{"clientId": "...", "clientSecret": "..."}],
 *      "vms": [{"name": "node-a", "size": "Standard_D4s_v5", "zone": "1"}]}
 *
 * VMs are in "resourceGroup" and are described in model/vm_spec.h, clients and identities in
 * principals.h; otherResourceGroups and identities may be left out, everything else is needed.
 */
#pragma once

#include "test/azsim/model/vm_spec.h"
#include "test/azsim/principals.h"

enum { CONFIG_MAX_SIZE = 4 * 1024 * 1024 };

struct config {
    char *tenant_id, *subscription_id, *location;
    char **groups; /* the one of the VMs first */
    size_t n_groups;
    struct principals principals;
    struct vm_spec *vms;
    size_t n_vms;
};

/* An error names the file, the member's path in it, its value and what is allowed. */
struct err *config_read(const char *path, struct config *ret) __attribute__((warn_unused_result));
void config_fini(struct config *config);

static inline void config_finip(struct config *config)
{
    config_fini(config);
}
