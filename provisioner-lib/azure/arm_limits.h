/* arm_limits.h - what answers of Azure say about the budget (budget.h): how many calls are left,
 * and which bucket a refused one found empty. For arm_client.c.
 */
#pragma once

#include "provisioner-lib/azure/arm_client.h"

/* The headers of any answer. */
void arm_limits_note(struct budget *budget, const struct arm_request *request,
                     const struct http_response *response, uint64_t now);

/* A refusal of kind THROTTLED with its document, NULL if it has none. */
void arm_limits_close(struct budget *budget, const struct arm_request *request,
                      const struct http_response *response, const struct err *err,
                      const json_t *json, uint64_t now);
