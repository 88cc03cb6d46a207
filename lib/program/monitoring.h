/* monitoring.h - the listeners of --health-address and --metrics-address.
 *
 * Both answer all of probes.h. With a certificate, that of --metrics-address answers by HTTPS
 * alone, and the other one no longer shows metrics: it stays plain HTTP, for kubelet has no
 * certificate. Owner: the program; loop's thread.
 */
#pragma once

#include "lib/http/probes.h"
#include "lib/program/listener.h"
#include "lib/program/process.h"

struct monitoring {
    struct probes *health, *metrics;

    /* Private, of --metrics-address. */
    struct process *process;
    struct probes_config config;
    struct listener listener;
    struct task_group background; /* looks after the files */
};

struct monitoring_config {
    const char *health_address, *metrics_address; /* NULL: no such listener */
    bool metrics_patient;                         /* as probes_config.patient */
    struct tls_files metrics_files;               /* checked by tls_flags_check */
    uint64_t reload_interval_ms;                  /* of these files */
    struct metric *const *table;
    size_t n_table;
    struct err *(*ready)(void *ctx); /* these as in probes_config */
    void (*refresh)(void *ctx);
    void *ctx;
};

/* An error names the flag. What has been started stays for monitoring_close. The process fails when
 * metrics can no longer be served. */
struct err *monitoring_start(struct process *process, const struct monitoring_config *config,
                             struct monitoring *ret) __attribute__((warn_unused_result));
void monitoring_close(struct task *self, struct monitoring *monitoring);
