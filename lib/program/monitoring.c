#include "lib/program/monitoring.h"

static struct err *listen_at(struct loop *loop, const char *flag,
                             const struct probes_config *config, struct probes **ret)
{
    struct err *err = config->address ? probes_new(loop, config, ret) : NULL;

    return err ? err_wrap(err, "%s", flag) : NULL;
}

struct err *monitoring_start(struct loop *loop, const struct monitoring_config *config,
                             struct monitoring *ret)
{
    struct probes_config probes = {
        .address = config->health_address,
        .metrics = config->table,
        .n_metrics = config->n_table,
        .ready = config->ready,
        .refresh = config->refresh,
        .ctx = config->ctx,
    };

    TRY(listen_at(loop, "--health-address", &probes, &ret->health));
    probes.address = config->metrics_address;
    probes.patient = config->metrics_patient;
    return listen_at(loop, "--metrics-address", &probes, &ret->metrics);
}

void monitoring_close(struct task *self, struct monitoring *monitoring)
{
    probes_close(self, monitoring->health);
    probes_close(self, monitoring->metrics);
}
