#include "test/sim/kube/answer.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "test/sim/kube/api_errors.h"

static const struct {
    int status;
    const char *reason;
} reasons[] = {
    {404, "NotFound"},        {409, "AlreadyExists"},
    {409, "Conflict"},        {422, "Invalid"},
    {400, "BadRequest"},      {405, "MethodNotAllowed"},
    {410, "Expired"},         {415, "UnsupportedMediaType"},
    {429, "TooManyRequests"}, {500, ""},
    {500, "InternalError"},   {503, "ServiceUnavailable"},
    {504, "Timeout"},         {403, "Forbidden"},
};

static int status_of(const char *reason)
{
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        if (strcmp(reasons[i].reason, reason) == 0)
            return reasons[i].status;
    abort();
}

/* The usual reason of a status that no rule has brought about; a conflict is one of versions. */
static const char *reason_of(int status)
{
    for (size_t i = COUNT_OF(reasons); i > 0; i--)
        if (reasons[i - 1].status == status)
            return reasons[i - 1].reason;
    return "InternalError";
}

void answer_text(int status, char *body, size_t length, struct http_response *ret)
{
    *ret = (struct http_response){.status = status, .body = body, .body_length = length};
}

void answer_object(int status, struct version *version, struct http_response *ret)
{
    size_t length;
    const char *text = version_text(version, &length);

    answer_text(status, mem_strndup(text, length), length, ret);
}

static void answer_json(int status, json_t *json, struct http_response *ret)
{
    char *text = json_to_text(json);

    json_decref(json);
    answer_text(status, text, strlen(text), ret);
}

void answer_deleted(const struct kind *kind, const char *name, struct http_response *ret)
{
    answer_json(200,
                json_pack("{s:s, s:s, s:{}, s:s, s:{s:s, s:s, s:s}}", "kind", "Status",
                          "apiVersion", "v1", "metadata", "status", "Success", "details", "name",
                          name, "group", kind->resource->group, "kind", kind->resource->plural),
                ret);
}

static json_t *failure(int status, const char *reason, const char *message, unsigned retry_after_s)
{
    json_t *details =
        retry_after_s ? json_pack("{s:i}", "retryAfterSeconds", (int)retry_after_s) : json_object();

    return json_pack("{s:s, s:s, s:{}, s:s, s:s, s:s*, s:o, s:i}", "kind", "Status", "apiVersion",
                     "v1", "metadata", "status", "Failure", "message", message, "reason",
                     reason[0] ? reason : NULL, "details", details, "code", status);
}

void answer_error(struct err *err, struct http_response *ret)
{
    CLEANUP(err_freep) struct err *error = err;
    const char *reason = err_code(error);

    answer_json(status_of(reason), failure(status_of(reason), reason, err_message(error), 0), ret);
}

char *answer_error_line(struct err *err)
{
    CLEANUP(err_freep) struct err *error = err;
    const char *reason = err_code(error);
    CLEANUP(json_decrefp)
    json_t *status = failure(status_of(reason), reason, err_message(error), 0);
    CLEANUP(freep) char *text = json_to_text(status);

    return mem_printf("{\"type\":\"ERROR\",\"object\":%s" CHANGE_SUFFIX, text);
}

void answer_fault(const struct fault_rule *rule, struct http_response *ret)
{
    answer_json(rule->status,
                failure(rule->status, reason_of(rule->status), "the simulation has it so",
                        rule->retry_after_s),
                ret);
    if (!rule->retry_after_s)
        return;
    ret->headers = mem_alloc(sizeof *ret->headers);
    ret->headers[ret->n_headers++] = (struct http_header){
        mem_strdup("Retry-After"),
        mem_printf("%u", rule->retry_after_s),
    };
}

void answer_unknown(bool as_status, struct http_response *ret)
{
    static const char text[] = "404 page not found\n";

    if (as_status) {
        answer_error(refuse_because(ERR_NOT_FOUND, "NotFound",
                                    "the server could not find the requested resource"),
                     ret);
        return;
    }
    answer_text(404, mem_strdup(text), strlen(text), ret);
}
