/* api_version.h - what the same resource is to clients of different age.
 *
 * Azure knows a member of a resource from some api-version on. An older client is neither told of
 * it, nor may it send it. The table in api_version.c is made from Microsoft's Go SDKs, whose models
 * of each api-version list the members that there were.
 */
#pragma once

#include "test/azsim/arm/exchange.h"

/* Since when VMs and scale sets have an etag. */
#define ETAG_SINCE "2023-09-01"

/* Refuses a member that the api-version of the request does not know; `type` as a resource says it,
 * such as "Microsoft.Compute/disks". */
struct refusal *api_version_check(const struct exchange *exchange, const char *type,
                                  const json_t *body) __attribute__((warn_unused_result));

/* An answer without what the api-version of the request does not know: of a resource, a list of
 * them, or the result of an operation. Takes the answer, returns it or another one. */
json_t *api_version_view(const struct exchange *exchange, json_t *answer);

/* A request in today's words: until 2021 clients named the disk that a snapshot is taken of in
 * creationData.sourceUri, which Azure takes for sourceResourceId. */
void api_version_modernize(json_t *body);
