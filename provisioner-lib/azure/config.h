/* config.h - azure.json: which Azure, which subscription, and who we are in it.
 *
 * The file of the Azure cloud provider for Kubernetes, in JSON or YAML; docs/credentials.md says
 * which keys belong to which identity. Names of keys are read whatever their case, as the cloud
 * provider does. What is read here is checked here, so that a wrong file is one clear line at
 * start-up. Secrets stay inside, are never printed, and are cleared with the rest.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

/* How Azure comes to believe who we are. */
enum azure_identity {
    AZURE_CLIENT_SECRET,
    AZURE_CLIENT_CERTIFICATE,
    AZURE_WORKLOAD_IDENTITY, /* a token of Kubernetes, which Entra ID takes in exchange */
    AZURE_MANAGED_IDENTITY,  /* of the VM that we are on */
};

struct azure_config {
    char *tenant, *subscription, *resource_group, *location;
    char *vm_type;    /* "standard", "vmss", "vmssflex"; NULL: not said */
    char *user_agent; /* NULL: the driver's own */
    char *extended_location, *extended_location_type; /* where disks are; NULL: in the region */

    enum azure_identity identity;
    char *client_id; /* of the application */
    char *client_secret;
    char *certificate_file, *certificate_password; /* PKCS#12 or PEM; NULL: no password */
    char *token_file;                              /* of the workload */
    char *user_assigned; /* the VM's identity that is meant: client, object or resource id;
                            NULL: its own */

    char *cloud;            /* its name; NULL: the public one */
    bool azure_stack;       /* an Azure Stack Hub: an older API, no shared disks */
    char *resource_manager; /* "https://management.azure.com", no slash at the end */
    char *authority;        /* "https://login.microsoftonline.com", no slash at the end */
    char *audience;         /* what tokens are asked for */
    bool discover;          /* authority or audience is to be asked of resource_manager */

    char *identity_system;
    char *unknown_keys; /* of the file, "a, b"; NULL: none. They deserve a warning. */
    bool use_managed_identity, use_workload_identity, not_azure_stack; /* as the file has them */
};

/* INVALID with the key, what is wrong with it and what is allowed. Values of the environment go
 * before those of the file: AZURE_TENANT_ID, AZURE_CLIENT_ID, AZURE_CLIENT_SECRET,
 * AZURE_FEDERATED_TOKEN_FILE, AZURE_AUTHORITY_HOST, AZURE_ENVIRONMENT_FILEPATH. Needs a large
 * stack. */
struct err *azure_config_parse(const char *text, size_t length, struct azure_config *ret)
    __attribute__((warn_unused_result));
void azure_config_fini(struct azure_config *config);
