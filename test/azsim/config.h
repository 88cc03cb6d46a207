/* config.h - the configuration file: which subscriptions are simulated, and what is in them at
 * first.
 *
 *     {"tenantId": "...", "subscriptionId": "...", "location": "eastus",
 *      "resourceGroup": "rg", "otherResourceGroups": ["disks"],
 *      "otherSubscriptions": [{"subscriptionId": "...", "resourceGroup": "rg"}],
 *      "clients": [{"clientId": "...", "clientSecret": "..."}],
 *      "vms": [{"name": "node-a", "size": "Standard_D4s_v5", "zone": "1"}]}
 *
 * VMs, and where they are, are described in model/vm_spec.h, clients and identities in
 * principals.h; what begins with "other", and identities, may be left out, everything else is
 * needed.
 */
#pragma once

#include "test/azsim/model/vm_spec.h"
#include "test/azsim/principals.h"

enum { CONFIG_MAX_SIZE = 4 * 1024 * 1024 };

struct config_subscription {
    char *id;
    char **groups; /* "resourceGroup" first */
    size_t n_groups;
};

struct config {
    char *tenant_id, *location;
    struct config_subscription *subscriptions; /* the one of the document itself first */
    size_t n_subscriptions;
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
