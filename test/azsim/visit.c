#include "test/azsim/visit.h"

#include "lib/base/alloc.h"
#include "lib/base/utf8.h"
#include "lib/json/parse.h"

void visit_answer(struct visit *visit, int status, json_t *json)
{
    http_reply_body(visit->reply, status, "application/json",
                    json_dumps(json, JSON_INDENT(1) | JSON_ENCODE_ANY));
    json_decref(json);
}

void visit_refuse(struct visit *visit, int status, struct err *err)
{
    CLEANUP(freep) char *message = mem_strdup(err_message(err));

    utf8_repair(message);
    visit_answer(visit, status, json_pack("{s:s}", "error", message));
    err_free(err);
}

struct err *visit_body(const struct visit *visit, json_t **ret)
{
    json_t *json;

    TRY(json_parse_here(visit->call->body, visit->call->body_length, &json));
    if (!json_is_object(json)) {
        json_decref(json);
        return err_new(ERR_INVALID, "expected an object");
    }
    *ret = json;
    return NULL;
}
