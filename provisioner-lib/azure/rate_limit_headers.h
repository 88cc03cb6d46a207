/* rate_limit_headers.h - what answers of Azure say about the buckets (token_buckets.h): how many
 * calls are left, and which bucket a refused one found empty. For arm_client.c.
 */
#pragma once

#include "provisioner-lib/azure/arm_client.h"

/* The headers of any answer. */
void rate_limit_headers_note(struct token_buckets *buckets, const struct arm_request *request,
                             const struct http_response *response, uint64_t now);

/* A refusal of kind THROTTLED with its document, NULL if it has none. */
void rate_limit_headers_close(struct token_buckets *buckets, const struct arm_request *request,
                              const struct http_response *response, const struct err *err,
                              const json_t *json, uint64_t now);
