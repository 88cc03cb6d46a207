/* answer.h - answers of the API server: objects and Status objects as HTTP responses.
 */
#pragma once

#include "lib/base/err.h"
#include "lib/http/message.h"
#include "test/sim/kube/fault.h"
#include "test/sim/kube/kinds.h"
#include "test/sim/kube/version.h"

/* The text of the body is the caller's and becomes the response's. */
void answer_text(int status, char *body, size_t length, struct http_response *ret);
void answer_object(int status, struct version *version, struct http_response *ret);
/* What was deleted is gone. */
void answer_deleted(const struct kind *kind, const char *name, struct http_response *ret);
/* A refusal by the rules; the error's code is the reason. Takes the error. */
void answer_error(struct err *err, struct http_response *ret);
void answer_fault(const struct fault_rule *rule, struct http_response *ret);
/* The server knows no such path: it says so as a Status, or in words if not even a group of its
 * own, or a kind, is in it. */
void answer_unknown(bool as_status, struct http_response *ret);

/* The event of a watch that says the error; free() it. Takes the error. */
char *answer_error_line(struct err *err) __attribute__((warn_unused_result));
