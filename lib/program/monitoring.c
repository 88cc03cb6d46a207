#include "lib/program/monitoring.h"

#include "lib/base/alloc.h"

static struct err *listen_at(struct loop *loop, const char *flag,
                             const struct probes_config *config, struct probes **ret)
{
    struct err *err = config->address ? probes_new(loop, config, ret) : NULL;

    return err ? err_wrap(err, "%s", flag) : NULL;
}

/* ---- --metrics-address ---- */

static struct err *open_metrics(void *ctx, const struct tls_pem *pem)
{
    struct monitoring *monitoring = ctx;
    struct probes_config config = monitoring->config;

    config.certificate_pem = pem->certificate;
    config.key_pem = pem->key;
    config.client_ca_pem = pem->client_ca;
    return listen_at(monitoring->process->loop, "--metrics-address", &config, &monitoring->metrics);
}

static void close_metrics(struct task *self, void *ctx)
{
    struct monitoring *monitoring = ctx;

    probes_close(self, TAKE_PTR(monitoring->metrics));
}

static void on_metrics_failed(void *ctx)
{
    const struct monitoring *monitoring = ctx;

    process_stop(monitoring->process, true);
}

/* ---- both ---- */

struct err *monitoring_start(struct process *process, const struct monitoring_config *config,
                             struct monitoring *ret)
{
    bool guarded = config->metrics_files.certificate[0] != '\0';
    const struct probes_config probes = {
        .metrics = config->table,
        .n_metrics = config->n_table,
        .ready = config->ready,
        .refresh = config->refresh,
        .ctx = config->ctx,
    };
    struct probes_config health = probes;

    *ret = (struct monitoring){.process = process, .config = probes};
    group_init(&ret->background, process->loop);
    health.address = config->health_address;
    if (guarded)
        health.metrics = NULL;
    TRY(listen_at(process->loop, "--health-address", &health, &ret->health));
    ret->config.address = config->metrics_address;
    ret->config.patient = config->metrics_patient;
    ret->listener = (struct listener){
        .name = "readers of metrics",
        .files = config->metrics_files,
        .reload_interval_ms = config->reload_interval_ms,
        .open = open_metrics,
        .close = close_metrics,
        .failed = on_metrics_failed,
        .ctx = ret,
    };
    return listener_start(&ret->listener, &ret->background);
}

void monitoring_close(struct task *self, struct monitoring *monitoring)
{
    if (!monitoring->process)
        return; /* it was never started */
    group_close(self, &monitoring->background);
    probes_close(self, monitoring->health);
    close_metrics(self, monitoring);
    listener_fini(&monitoring->listener);
}
