/* pod_log.h - a container's log, as text: its newest lines, or all of it as it grows. lib/kube's
 * client reads JSON only.
 */
#pragma once

#include "azdiskctl/log_tail.h"
#include "lib/kube/bearer_token.h"
#include "lib/kube/connection.h"

struct pod_log {
    const char *namespace_, *pod, *container;
    bool previous;     /* of the container that ran before */
    bool timestamps;   /* each line begins with its time */
    bool follow;       /* it goes on with what comes, for pod_log_open only */
    uint64_t since_ms; /* lines of so long ago at most; 0: all */
    int64_t since_us;  /* else lines since the second of this time; 0: all */
};

/* What comes is never cut at its beginning. As long as there is no line, the server may not answer:
 * then nothing but cancellation ends the call. `token` is that of the connection's account. */
struct err *pod_log_open(struct task *self, const struct kube_connection *connection,
                         struct bearer_token *token, const struct pod_log *log,
                         struct http_stream **ret_stream) __attribute__((warn_unused_result));

/* The newest lines; `tail` has what came, after an error as well. */
struct err *pod_log_read(struct task *self, const struct kube_connection *connection,
                         struct bearer_token *token, const struct pod_log *log,
                         struct log_tail *tail) __attribute__((warn_unused_result));
