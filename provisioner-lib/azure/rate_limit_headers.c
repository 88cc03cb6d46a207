#include "provisioner-lib/azure/rate_limit_headers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/azure/arm_error.h"

/* What one answer says is left. */
typedef void limit_fn(void *ctx, const struct arm_request *request, const char *limit,
                      unsigned left);

/* "Microsoft.Compute/UpdateVMResource;11,Microsoft.Compute/...;1499" */
static void read_list(const struct arm_request *request, const char *text, limit_fn *fn, void *ctx)
{
    while (*text) {
        size_t length = strcspn(text, ",");
        const char *slash = memchr(text, '/', length), *name = slash ? slash + 1 : text;
        const char *mark = memchr(name, ';', (size_t)(text + length - name));

        if (mark) {
            CLEANUP(freep) char *limit = mem_strndup(name, (size_t)(mark - name));

            fn(ctx, request, limit, (unsigned)strtoul(mark + 1, NULL, 10));
        }
        text += length + (text[length] == ',');
    }
}

static void read_headers(const struct arm_request *request, const struct http_response *response,
                         limit_fn *fn, void *ctx)
{
    static const char prefix[] = "x-ms-ratelimit-remaining-";

    for (size_t i = 0; i < response->n_headers; i++) {
        const struct http_header *header = &response->headers[i];
        const char *limit = header->name + strlen(prefix);

        if (strncasecmp(header->name, prefix, strlen(prefix)) != 0)
            continue;
        if (strcasecmp(limit, "resource") == 0)
            read_list(request, header->value, fn, ctx);
        else
            fn(ctx, request, limit, (unsigned)strtoul(header->value, NULL, 10));
    }
}

/* ---- any answer ---- */

struct note {
    struct token_buckets *buckets;
    uint64_t now;
};

static void note_left(void *ctx, const struct arm_request *request, const char *limit,
                      unsigned left)
{
    const struct note *note = ctx;

    token_buckets_note(note->buckets, request->kind, request->resource, limit, left, note->now);
}

void rate_limit_headers_note(struct token_buckets *buckets, const struct arm_request *request,
                             const struct http_response *response, uint64_t now)
{
    struct note note = {buckets, now};

    read_headers(request, response, note_left, &note);
}

/* ---- a refusal ---- */

struct empty {
    bool found;
    enum bucket_scope scope;
};

static void find_empty(void *ctx, const struct arm_request *request, const char *limit,
                       unsigned left)
{
    struct empty *empty = ctx;

    if (left == 0 && !empty->found)
        empty->found = bucket_scope_of(request->kind, limit, &empty->scope);
}

/* Which bucket is empty: the details name it, or the headers do, else the code tells whose it is.
 */
static enum bucket_scope scope_of(const struct arm_request *request,
                                  const struct http_response *response, const struct err *err,
                                  const json_t *json)
{
    const json_t *wrapped = json_object_get(json, "error");
    const json_t *details = json_object_get(json_is_object(wrapped) ? wrapped : json, "details");
    const char *code = err_code(err) ? err_code(err) : "";
    struct empty empty = {0};
    size_t i;
    json_t *detail;

    json_array_foreach(details, i, detail) {
        const char *target = json_string_value(json_object_get(detail, "target"));

        if (target)
            find_empty(&empty, request, target, 0);
    }
    read_headers(request, response, find_empty, &empty);
    if (empty.found)
        return empty.scope;
    if (strcasecmp(code, "SubscriptionRequestsThrottled") == 0 ||
        strcasecmp(code, "TooManyRequests") == 0)
        return BUCKET_METHOD;
    return strcasecmp(code, "ResourceRequestsThrottled") == 0 ? BUCKET_RESOURCE
                                                              : BUCKET_SUBSCRIPTION;
}

void rate_limit_headers_close(struct token_buckets *buckets, const struct arm_request *request,
                              const struct http_response *response, const struct err *err,
                              const json_t *json, uint64_t now)
{
    enum bucket_scope scope = scope_of(request, response, err, json);
    uint64_t until = now + err_retry_after_ms(err);

    token_buckets_close(buckets, request->kind, request->resource, scope, until, now);
    if (arm_retry_after_ms(response, 0) > 0) /* it says when, if only by a date */
        token_buckets_refill_at(buckets, request->kind, request->resource, scope, until, now);
}
