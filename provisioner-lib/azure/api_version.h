/* api_version.h - which version of Azure's API each kind of request is made in.
 */
#pragma once

#include <stdbool.h>

#include "provisioner-lib/azure/token_buckets.h"

/* `azure_stack`: an Azure Stack Hub, which is years behind. */
const char *api_version(enum arm_kind kind, bool azure_stack);
