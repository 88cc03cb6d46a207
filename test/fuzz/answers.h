/* answers.h - a server whose answers are the input, one after the other, in virtual time.
 *
 *     200
 *     Retry-After: 3
 *
 *     {"the": "body"}
 *     ---
 *     404
 *
 * Requests beyond the last answer find the connection broken. Targets whose code writes to the log
 * are linked with --wrap=log_write (mk/fuzz.mk): lines are made up and dropped.
 */
#pragma once

#include "lib/http/transport.h"
#include "lib/rt/loop.h"
#include "test/fuzz/input.h"

struct answers {
    struct http_transport transport;
    const char *token; /* what requests for a token are answered; NULL: they are as the others */
    char *text, *rest;
    size_t taken; /* requests that were answered */
};

/* `text` up to its end is the answers. */
void answers_init(struct answers *answers, const char *text);
void answers_fini(struct answers *answers);

/* fn(self, ctx) as a task of the loop, for at most `ms` of its time; whether it has returned. */
bool task_returns(struct loop *loop, task_fn *fn, void *ctx, uint64_t ms);
