/* visit.h - one request to the control interface; for control.c and behaviour.c.
 */
#pragma once

#include "test/azsim/control.h"

struct visit {
    const struct control *control;
    struct model *model;
    const struct http_call *call;
    struct http_reply *reply;
    char *name, *verb; /* of /azsim/vms/NAME/VERB; "" if they are not there */
};

/* Takes the body. */
void visit_answer(struct visit *visit, int status, json_t *json);
/* Takes the error. */
void visit_refuse(struct visit *visit, int status, struct err *err);
/* The request's body, an object. */
struct err *visit_body(const struct visit *visit, json_t **ret) __attribute__((warn_unused_result));
