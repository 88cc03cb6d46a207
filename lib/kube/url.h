/* url.h - where the API server has an object, or a list or watch of a resource.
 *
 * Names and tokens come from outside, and may be longer than any URL: INVALID, and the message says
 * which. For client.c only; any thread.
 */
#pragma once

#include "lib/kube/client.h"

/* `namespace_`, `name` and `subresource` may be NULL; free() what is returned. */
struct err *kube_object_url(const char *server, const struct api_resource *resource,
                            const char *namespace_, const char *name, const char *subresource,
                            char **ret_url) __attribute__((warn_unused_result));

struct err *kube_query_url(const char *server, const struct api_resource *resource,
                           const char *namespace_, const struct kube_query *query, bool watch,
                           char **ret_url) __attribute__((warn_unused_result));
