#include "test/azsim/model/refusal.h"

#include <stdarg.h>

#include "lib/base/alloc.h"
#include "lib/base/utf8.h"
#include "test/azsim/model/resource.h"

struct refusal *refuse(int status, const char *code, const char *target, const char *format, ...)
{
    struct refusal *refusal = mem_alloc(sizeof *refusal);
    va_list args;

    va_start(args, format);
    *refusal = (struct refusal){.status = status,
                                .code = mem_strdup(code),
                                .message = mem_vprintf(format, args),
                                .target = mem_strdup(target)};
    va_end(args);
    utf8_repair(refusal->message); /* it may repeat what a client sent */
    return refusal;
}

struct refusal *refusal_with_inner(struct refusal *refusal, const char *inner_code)
{
    free(refusal->inner_code);
    refusal->inner_code = mem_strdup(inner_code);
    return refusal;
}

struct refusal *refusal_with_details(struct refusal *refusal, json_t *details)
{
    json_decref(refusal->details);
    refusal->details = details;
    return refusal;
}

void refusal_free(struct refusal *refusal)
{
    if (!refusal)
        return;
    free(refusal->code);
    free(refusal->message);
    free(refusal->target);
    free(refusal->inner_code);
    json_decref(refusal->details);
    free(refusal);
}

json_t *refusal_json(const struct refusal *refusal)
{
    json_t *json = json_pack("{s:s, s:s}", "code", refusal->code, "message", refusal->message);

    if (refusal->target)
        json_object_set_new(json, "target", json_string(refusal->target));
    if (refusal->details)
        json_object_set(json, "details", refusal->details);
    if (refusal->inner_code)
        json_object_set_new(json, "innererror",
                            json_pack("{s:s}", "internalErrorCode", refusal->inner_code));
    return json;
}

struct refusal *refusal_from_json(int status, const json_t *json)
{
    const json_t *inner = json_object_get(json, "innererror");
    struct refusal *refusal = mem_alloc(sizeof *refusal);

    *refusal = (struct refusal){
        .status = status,
        .code = mem_strdup(resource_text(json, "code", "")),
        .message = mem_strdup(resource_text(json, "message", "")),
        .target = mem_strdup(json_string_value(json_object_get(json, "target"))),
        .inner_code = mem_strdup(json_string_value(json_object_get(inner, "internalErrorCode"))),
        .details = json_deep_copy(json_object_get(json, "details"))};
    return refusal;
}
