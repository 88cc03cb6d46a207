#include "node/perf_profile.h"

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "provisioner-lib/basic_profile.h"
#include "provisioner-lib/disk_sku.h"
#include "provisioner-lib/host/host.h"

/* The queue is set last, because another scheduler begins with a queue of its own. */
static struct err *set_basic(struct task *self, struct host *host, const struct device *disk,
                             const struct basic_profile *profile)
{
    CLEANUP(freep) char *request = mem_printf("%u", profile->request_kib);
    CLEANUP(freep) char *depth = mem_printf("%u", profile->queue_depth);
    const struct device_setting settings[] = {
        {"queue/max_sectors_kb", request},
        {"queue/scheduler", "mq-deadline"},
        {"queue/read_ahead_kb", "8"},
        {"queue/nr_requests", depth},
    };

    TRY(host_set_queue_depth(self, host, disk, profile->queue_depth));
    return host_apply_settings(self, host, disk, settings, COUNT_OF(settings));
}

static struct err *apply_basic(struct task *self, struct host *host, const struct device *disk,
                               const char *sku, int64_t size_gib)
{
    struct basic_profile profile;

    if (!basic_profile_of(sku, size_gib, &profile)) {
        log_info("%s: perfProfile basic sets nothing for a %s disk", disk->path, sku);
        return NULL;
    }
    struct err *err = set_basic(self, host, disk, &profile);
    return err ? err_wrap(err, "perfProfile basic") : NULL;
}

struct err *perf_profile_apply(struct task *self, struct host *host, const struct device *disk,
                               const struct volume_access *access,
                               const struct volume_record *record)
{
    if (access->basic_profile)
        return apply_basic(self, host, disk, record->sku[0] ? record->sku : access->sku,
                           disk_size_gib((int64_t)record->size));
    return host_apply_settings(self, host, disk, access->settings, access->n_settings);
}
