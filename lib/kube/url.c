#include "lib/kube/url.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"

enum { LONGEST_URL = 64 * 1024 };

static struct err *append(struct buffer *url, const char *what, const char *before,
                          const char *value)
{
    CLEANUP(freep) char *escaped = http_escape(value);

    if (buffer_append(url, before, strlen(before)) && buffer_append(url, escaped, strlen(escaped)))
        return NULL;
    return err_new(ERR_INVALID, "the %s is too long for a request (%zu bytes)", what,
                   strlen(value));
}

static struct err *append_segment(struct buffer *url, const char *what, const char *name)
{
    return name ? append(url, what, "/", name) : NULL;
}

static struct err *append_parameter(struct buffer *url, const char *name, const char *value)
{
    CLEANUP(freep)
    char *before = mem_printf("%s%s=", memchr(url->data, '?', url->length) ? "&" : "?", name);
    CLEANUP(freep) char *what = mem_printf("parameter %s", name);

    return value ? append(url, what, before, value) : NULL;
}

static struct err *begin(struct buffer *url, const char *server,
                         const struct api_resource *resource, const char *namespace_)
{
    buffer_printf(url, resource->group[0] ? "%s/apis/%s/%s" : "%s/api%s/%s", server,
                  resource->group, resource->version);
    if (resource->namespaced && namespace_)
        TRY(append(url, "namespace", "/namespaces/", namespace_));
    return append_segment(url, "resource", resource->plural);
}

struct err *kube_object_url(const char *server, const struct api_resource *resource,
                            const char *namespace_, const char *name, const char *subresource,
                            char **ret_url)
{
    CLEANUP(buffer_fini) struct buffer url = {.limit = LONGEST_URL};

    TRY(begin(&url, server, resource, namespace_));
    TRY(append_segment(&url, "name", name));
    TRY(append_segment(&url, "subresource", subresource));
    *ret_url = buffer_take(&url);
    return NULL;
}

static struct err *append_watch(struct buffer *url, const struct kube_query *query)
{
    CLEANUP(freep) char *timeout = mem_printf("%u", query->timeout_seconds);

    TRY(append_parameter(url, "watch", "true"));
    TRY(append_parameter(url, "allowWatchBookmarks", "true"));
    return append_parameter(url, "timeoutSeconds", timeout);
}

struct err *kube_query_url(const char *server, const struct api_resource *resource,
                           const char *namespace_, const struct kube_query *query, bool watch,
                           char **ret_url)
{
    CLEANUP(buffer_fini) struct buffer url = {.limit = LONGEST_URL};
    CLEANUP(freep) char *limit = query->limit ? mem_printf("%u", query->limit) : NULL;

    TRY(begin(&url, server, resource, namespace_));
    TRY(append_parameter(&url, "labelSelector", query->label_selector));
    TRY(append_parameter(&url, "fieldSelector", query->field_selector));
    TRY(append_parameter(&url, "resourceVersion", query->resource_version));
    TRY(append_parameter(&url, "continue", query->continue_token));
    TRY(append_parameter(&url, "limit", limit));
    if (watch)
        TRY(append_watch(&url, query));
    *ret_url = buffer_take(&url);
    return NULL;
}
