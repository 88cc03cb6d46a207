/* probes.h - the end points by which a cluster watches a program: /healthz, /readyz and /metrics.
 *
 * /healthz answers 200 "ok" as long as the loop turns: a program that hangs does not answer.
 * /readyz answers 503 with the reason while the program cannot do its work yet.
 */
#pragma once

#include "lib/base/metrics.h"
#include "lib/http/server.h"

struct probes_config {
    const char *address; /* as listen.h has it; must outlive the probes */
    bool patient;        /* while another process has the address, wait for it instead of failing */
    /* As in http_server_config; they, too, must outlive the probes. */
    const char *certificate_pem, *key_pem, *client_ca_pem;
    struct metric *const *metrics; /* NULL: there is no /metrics here */
    size_t n_metrics;
    /* NULL if the program is ready, else why it is not. */
    struct err *(*ready)(void *ctx);
    /* Before metrics are written, to set gauges that follow state; may be NULL. */
    void (*refresh)(void *ctx);
    void *ctx;
};

struct probes;

struct err *probes_new(struct loop *loop, const struct probes_config *config,
                       struct probes **ret_probes) __attribute__((warn_unused_result));
void probes_close(struct task *self, struct probes *probes); /* NULL is fine */
