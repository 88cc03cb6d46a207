/* listener.h - a service whose certificate is in files, and what becomes of it when they change.
 *
 * Certificates expire; what has taken their place in the files is used from then on. What cannot be
 * used is reported, and the service goes on with what it has; one that may wait for its certificate
 * begins when there is one. Loop's thread.
 */
#pragma once

#include "lib/program/tls_files.h"
#include "lib/rt/group.h"

struct listener {
    const char *name; /* who calls it, for the log */
    struct tls_files files;
    uint64_t reload_interval_ms;
    bool may_wait; /* until its files can be used; else that is an error of the start */
    struct err *(*open)(void *ctx, const struct tls_pem *pem);
    /* Shows callers a new certificate without losing one of them; NULL: it is closed and opened
     * anew, which parts it from callers for whom nobody vouches any more. */
    struct err *(*renew)(void *ctx, const struct tls_pem *pem);
    void (*close)(struct task *self, void *ctx);
    void (*failed)(void *ctx); /* it could not be opened again, and is closed */
    void *ctx;

    struct tls_pem pem; /* private, like the next */
    bool is_open;
};

/* Once the members above are set; with TLS, the files are looked at by a member of `group`. */
struct err *listener_start(struct listener *listener, struct task_group *group)
    __attribute__((warn_unused_result));
/* After the group was closed, and the service. */
void listener_fini(struct listener *listener);
