/* config.h - azure.json: which Azure, which subscription, and who we are in it.
 *
 * The file of the Azure cloud provider for Kubernetes. What is read here is checked here, so that a
 * wrong file is one clear line at start-up. Secrets stay inside and are never printed.
 */
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"

struct azure_config {
    char *tenant, *subscription, *resource_group, *location;
    bool managed_identity;
    char *client_id, *client_secret; /* of a service principal */
    char *identity;                  /* of a user-assigned identity: client id or resource id */
    char *user_agent;                /* NULL: the driver's own */

    char *resource_manager; /* "https://management.azure.com", no slash at the end */
    char *authority;        /* "https://login.microsoftonline.com", no slash at the end */
    char *audience;         /* what tokens are asked for */
    bool discover;          /* authority and audience are to be asked of resource_manager */
};

/* INVALID with the key, what is wrong with it and what is allowed. */
struct err *azure_config_parse(const char *text, size_t length, struct azure_config *ret)
    __attribute__((warn_unused_result));
void azure_config_fini(struct azure_config *config);
