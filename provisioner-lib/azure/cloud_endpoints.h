/* cloud_endpoints.h - where an Azure is: its Resource Manager, its Entra ID, and what its tokens
 * are for.
 *
 * Azure's own clouds are known by name. Another one, such as an Azure Stack Hub or a simulated one,
 * says it in a file or by its Resource Manager.
 */
#pragma once

#include <jansson.h>

#include "provisioner-lib/azure/config.h"

/* Fills in what config->cloud, config->resource_manager and the file, if there is one (NULL or ""
 * for none), say; what is set already stays. INVALID with the key or the file. */
struct err *cloud_endpoints_find(struct azure_config *config, const char *file)
    __attribute__((warn_unused_result));

/* The same with the answer to this request to Resource Manager; nothing is to be discovered
 * afterwards. */
#define CLOUD_ENDPOINTS_PATH "/metadata/endpoints?api-version=2019-05-01"
struct err *cloud_endpoints_take(struct azure_config *config, const json_t *json)
    __attribute__((warn_unused_result));
