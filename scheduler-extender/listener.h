/* listener.h - a service that is opened anew when the files of its certificate have changed.
 *
 * Certificates expire; what has taken their place in the files is used from then on. What cannot be
 * used is reported, and the service goes on with what it has. Loop's thread.
 */
#pragma once

#include "lib/rt/group.h"
#include "scheduler-extender/credentials.h"

struct listener {
    const char *name; /* who calls it, for the log */
    struct credential_files files;
    uint64_t reload_interval_ms;
    struct err *(*open)(void *ctx, const struct credentials *credentials);
    void (*close)(struct task *self, void *ctx);
    void (*failed)(void *ctx); /* it could not be opened again, and is closed */
    void *ctx;

    struct credentials credentials; /* private */
};

/* Once the members above are set; with TLS, the files are looked at by a member of `group`. */
struct err *listener_start(struct listener *listener, struct task_group *group)
    __attribute__((warn_unused_result));
/* After the group was closed, and the service. */
void listener_fini(struct listener *listener);
