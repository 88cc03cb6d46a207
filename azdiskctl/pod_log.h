/* pod_log.h - the newest lines of a container's log, as text. lib/kube's client reads JSON only.
 */
#pragma once

#include "azdiskctl/log_tail.h"
#include "lib/kube/bearer_token.h"
#include "lib/kube/connection.h"

struct pod_log {
    const char *namespace_, *pod, *container;
    bool previous;     /* of the container that ran before */
    bool timestamps;   /* each line begins with its time */
    uint64_t since_ms; /* lines of so long ago at most; 0: all */
};

/* `tail` has what came, after an error as well. `token` is that of the connection's account. */
struct err *pod_log_read(struct task *self, const struct kube_connection *connection,
                         struct bearer_token *token, const struct pod_log *log,
                         struct log_tail *tail) __attribute__((warn_unused_result));
