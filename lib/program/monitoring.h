/* monitoring.h - the listeners of --health-address and --metrics-address.
 *
 * Both answer all of probes.h. Owner: the program; loop's thread.
 */
#pragma once

#include "lib/http/probes.h"

struct monitoring {
    struct probes *health, *metrics;
};

struct monitoring_config {
    const char *health_address, *metrics_address; /* NULL: no such listener */
    bool metrics_patient;                         /* as probes_config.patient */
    struct metric *const *table;
    size_t n_table;
    struct err *(*ready)(void *ctx); /* these as in probes_config */
    void (*refresh)(void *ctx);
    void *ctx;
};

/* An error names the flag. What has been started stays for monitoring_close. */
struct err *monitoring_start(struct loop *loop, const struct monitoring_config *config,
                             struct monitoring *ret) __attribute__((warn_unused_result));
void monitoring_close(struct task *self, struct monitoring *monitoring);
