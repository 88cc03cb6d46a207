#include "provisioner-lib/host/host.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/rt/thread_pool.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/format_mark.h"
#include "provisioner-lib/host/host_worker.h"
#include "provisioner-lib/host/hotplug.h"
#include "provisioner-lib/host/mount_table.h"
#include "provisioner-lib/host/partition.h"
#include "provisioner-lib/host/probe.h"
#include "provisioner-lib/host/process_table.h"
#include "provisioner-lib/host/staging.h"

enum {
    MAX_WORKERS = 64, /* as many disks as a VM can have: none waits for others that hang */
    MAX_WAITING = 128,
    LOOK_EVERY_MS = 1000,
    RESCAN_EVERY = 10, /* looks */
    /* libblkid keeps what it reads of a device, some 300 KiB, so that few are proven together. A
     * disk that hangs keeps its place; whoever has waited for a second does without one. */
    PROOFS = 4,
    PATIENCE_MS = 1000,
};

struct host {
    struct loop *loop;
    struct host_config config;
    struct thread_pool *pool;
    unsigned proofs; /* under way */
    struct waiters proof_ended;
    struct hotplug *hotplug;
    struct jobs jobs;
};

struct host *host_new(struct loop *loop, const struct host_config *config)
{
    struct host *host = mem_alloc(sizeof *host);

    host->loop = loop;
    host->config = *config;
    host->pool = thread_pool_new(loop, MAX_WORKERS, MAX_WAITING);
    host->proofs = 0;
    waiters_init(&host->proof_ended);
    host->hotplug = hotplug_new(loop, config->roots.dev);
    jobs_init(&host->jobs, loop, config->max_formats, &config->memory);
    return host;
}

void host_reconsider(struct host *host)
{
    jobs_reconsider(&host->jobs);
}

void host_stop(struct host *host, uint64_t kill_at)
{
    jobs_stop(&host->jobs, kill_at);
}

void host_wait(struct task *self, struct host *host)
{
    jobs_wait(self, &host->jobs);
}

void host_close(struct task *self, struct host *host)
{
    jobs_close(self, &host->jobs);
    hotplug_close(self, host->hotplug);
    thread_pool_free(host->pool);
    free(host);
}

unsigned host_busy_workers(const struct host *host)
{
    return thread_pool_busy(host->pool);
}

/* ---- on a worker ---- */

struct blocking {
    host_blocking_fn *fn;
    void *arg;
    struct err *err;
};

static void run_blocking(void *arg)
{
    struct blocking *blocking = arg;

    blocking->err = blocking->fn(blocking->arg);
}

struct err *host_on_worker(struct task *self, struct host *host, host_blocking_fn *fn, void *arg)
{
    struct blocking blocking = {.fn = fn, .arg = arg};

    TRY(thread_pool_run(self, host->pool, run_blocking, &blocking));
    return blocking.err;
}

struct loop *host_loop(const struct host *host)
{
    return host->loop;
}

const struct device_roots *host_device_roots(const struct host *host)
{
    return &host->config.roots;
}

/* ---- find ---- */

unsigned host_news(const struct host *host)
{
    return hotplug_count(host->hotplug);
}

struct err *host_await_news(struct task *self, struct host *host, unsigned seen, uint64_t deadline)
{
    return hotplug_wait(self, host->hotplug, seen, deadline);
}

struct look {
    const struct device_roots *roots;
    unsigned lun;
    bool rescan;
    struct device device;
};

static struct err *look(void *arg)
{
    struct look *look = arg;

    if (look->rescan)
        device_rescan_controllers(look->roots);
    return device_find(look->roots, look->lun, &look->device);
}

static struct err *await_news(struct task *self, struct host *host, unsigned seen,
                              uint64_t deadline)
{
    uint64_t next = loop_now(host->loop) + LOOK_EVERY_MS;
    CLEANUP(err_freep)
    struct err *err = hotplug_wait(self, host->hotplug, seen, next < deadline ? next : deadline);

    if (err && err_kind(err) == ERR_TIMEOUT)
        return NULL;
    return TAKE_PTR(err);
}

struct err *host_find(struct task *self, struct host *host, unsigned lun, uint64_t deadline,
                      struct device *ret)
{
    struct look request = {.roots = &host->config.roots, .lun = lun};

    for (unsigned i = 0;; i++) {
        unsigned seen = hotplug_count(host->hotplug);
        CLEANUP(err_freep) struct err *err = NULL;

        request.rescan = i % RESCAN_EVERY == 1;
        err = host_on_worker(self, host, look, &request);
        if (!err) {
            *ret = request.device;
            return NULL;
        }
        if (err_kind(err) != ERR_NOT_FOUND)
            return TAKE_PTR(err);
        if (loop_now(host->loop) >= deadline)
            return err_new(ERR_TIMEOUT, "%s yet", err_message(err));
        TRY(await_news(self, host, seen, deadline));
    }
}

/* ---- prove ---- */

struct sight {
    const struct device_roots *roots;
    const struct device *disk, *device;
    uint64_t expected_size;
    struct disk_observation found;
};

/* The pages of a mounted device are its file system's and true. */
static struct err *see(void *arg)
{
    struct sight *sight = arg;
    const struct device *device = sight->device;
    struct nvme_namespace says;
    uint64_t size;
    bool mounted;

    TRY(mount_table_has(device->number, &mounted));
    if (!mounted)
        TRY(block_drop_caches(device->fd));
    TRY(block_size(sight->disk->fd, &size));
    if (size != sight->expected_size)
        device_rescan(sight->roots, sight->disk);
    TRY(probe_device(device->fd, &sight->found));
    nvme_namespace_read(sight->disk->fd, &says);
    memcpy(sight->found.disk_name, says.name, sizeof says.name);
    return block_size(sight->disk->fd, &sight->found.size);
}

static struct err *await_turn(struct task *self, struct host *host)
{
    uint64_t end = loop_deadline(host->loop, PATIENCE_MS);

    while (host->proofs >= PROOFS && loop_now(host->loop) < end) {
        CLEANUP(err_freep) struct err *err = wait_for_change(self, &host->proof_ended, end);

        if (err && err_kind(err) != ERR_TIMEOUT)
            return TAKE_PTR(err);
    }
    return NULL;
}

struct err *host_prove(struct task *self, struct host *host, const struct device *disk,
                       const struct device *device, const struct disk_expectation *expected,
                       struct disk_verdict *ret)
{
    struct sight sight = {.roots = &host->config.roots,
                          .disk = disk,
                          .device = device,
                          .expected_size = expected->size};
    TRY(await_turn(self, host));
    host->proofs++;
    struct err *err = host_on_worker(self, host, see, &sight);
    host->proofs--;
    waiters_wake(&host->proof_ended);
    if (!err)
        err = proof_decide(expected, &sight.found, ret);
    return err ? err_wrap(err, "%s", device->path) : NULL;
}

/* ---- format and check ---- */

struct device_job {
    struct job job;
    struct host *host;
    const struct device *device;
    const struct filesystem *type;
    const char *uuid;
};

static struct device_job *device_job_of(struct job *job)
{
    return CONTAINER_OF(job, struct device_job, job);
}

/* Puts what a program has written on the disk. An error if one still has the device. */
static struct err *flush_if_idle(const struct device *device)
{
    CLEANUP(block_claim_end) struct block_claim claim = BLOCK_CLAIM_NONE;
    bool mounted;

    TRY(mount_table_has(device->number, &mounted));
    if (mounted) /* which excludes such programs */
        return NULL;
    struct err *err = block_claim(device->path, &claim);
    if (err && err_kind(err) == ERR_NOT_FOUND) { /* nothing gets to it any more */
        err_free(err);
        return NULL;
    }
    return err ? err : block_flush(claim.fd);
}

static struct err *flush_blocking(void *arg)
{
    return flush_if_idle(arg);
}

static struct err *flush(struct task *self, struct job *job)
{
    struct device_job *of = device_job_of(job);

    return host_on_worker(self, of->host, flush_blocking, (void *)(uintptr_t)of->device);
}

static struct err *run_job(struct task *self, struct device_job *job, uint64_t deadline)
{
    struct err *err = jobs_run(self, &job->host->jobs, &job->job, deadline);

    return err ? err_wrap(err, "%s", job->device->path) : NULL;
}

static struct err *set_mark(void *arg)
{
    const struct device_job *job = arg;

    return format_mark_set(job->device->path, job->uuid);
}

static struct err *clear_mark(void *arg)
{
    const struct device_job *job = arg;

    return format_mark_clear(job->device->path, job->uuid);
}

static struct err *format(struct task *self, struct job *job)
{
    struct device_job *of = device_job_of(job);

    TRY(host_on_worker(self, of->host, set_mark, of));
    TRY(filesystem_make(self, of->type, of->device->path, of->uuid, &job->stop));
    return host_on_worker(self, of->host, clear_mark, of);
}

struct err *host_format(struct task *self, struct host *host, const struct device *device,
                        const struct filesystem *type, const char *uuid,
                        const struct job_permit *permit, uint64_t deadline)
{
    struct device_job job = {
        .job = {.kind = JOB_FORMAT,
                .program = type->make[0],
                .permit = permit,
                .run = format,
                .flush = flush},
        .host = host,
        .device = device,
        .type = type,
        .uuid = uuid,
    };

    return run_job(self, &job, deadline);
}

static struct err *check(struct task *self, struct job *job)
{
    struct device_job *of = device_job_of(job);

    return filesystem_check(self, of->type, of->device->path, &job->stop);
}

struct state_look {
    const struct device *device;
    const struct filesystem *type;
    struct filesystem_state state;
};

static struct err *look_at_state(void *arg)
{
    struct state_look *look = arg;

    look->state.has_journal_to_replay = true;
    if (look->type->read_state)
        TRY(look->type->read_state(look->device->fd, &look->state));
    return mount_table_has(look->device->number, &look->state.mounted);
}

struct err *host_read_state(struct task *self, struct host *host, const struct device *device,
                            const struct filesystem *type, struct filesystem_state *ret)
{
    struct state_look look = {.device = device, .type = type};
    struct err *err = host_on_worker(self, host, look_at_state, &look);

    if (err)
        return err_wrap(err, "%s", device->path);
    *ret = look.state;
    return NULL;
}

struct err *host_check(struct task *self, struct host *host, const struct device *device,
                       const struct filesystem *type, const struct job_permit *permit,
                       uint64_t deadline)
{
    struct device_job job = {
        .job = {.kind = JOB_CHECK,
                .program = type->check[0],
                .permit = permit,
                .run = check,
                .flush = flush},
        .host = host,
        .device = device,
        .type = type,
    };
    struct state_look look = {.device = device, .type = type};

    if (!type->check[0])
        return NULL;
    TRY(host_on_worker(self, host, look_at_state, &look));
    job.job.memory = look.state.check_memory;
    return look.state.mounted ? NULL : run_job(self, &job, deadline);
}

/* ---- mount, publish, and back ---- */

struct staging_call {
    const struct device *device;
    const struct mount_request *request;
    const char *path;
    bool raw, read_only;
};

static struct err *settle_blocking(void *arg)
{
    struct staging_call *call = arg;

    return staging_settle_access(call->device, call->path, call->raw, call->read_only,
                                 &call->read_only);
}

struct err *host_settle_access(struct task *self, struct host *host, const struct device *device,
                               const char *path, bool raw, bool read_only, bool *ret_read_only)
{
    struct staging_call call = {.device = device, .path = path, .raw = raw, .read_only = read_only};

    TRY(host_on_worker(self, host, settle_blocking, &call));
    *ret_read_only = call.read_only;
    return NULL;
}

static struct err *mount_blocking(void *arg)
{
    const struct staging_call *call = arg;

    return staging_mount(call->device, call->request);
}

struct err *host_mount(struct task *self, struct host *host, const struct device *device,
                       const struct mount_request *request)
{
    struct staging_call call = {.device = device, .request = request};

    return host_on_worker(self, host, mount_blocking, &call);
}

static struct err *bind_blocking(void *arg)
{
    const struct staging_call *call = arg;

    return staging_bind(call->device, call->path, call->read_only);
}

struct err *host_bind(struct task *self, struct host *host, const struct device *device,
                      const char *path, bool read_only)
{
    struct staging_call call = {.device = device, .path = path, .read_only = read_only};

    return host_on_worker(self, host, bind_blocking, &call);
}

static struct err *unstage_blocking(void *arg)
{
    return staging_remove(arg);
}

struct err *host_unstage(struct task *self, struct host *host, const char *path)
{
    return host_on_worker(self, host, unstage_blocking, (void *)(uintptr_t)path);
}

struct staged_look {
    const char *path;
    bool used;
};

static struct err *is_staged_blocking(void *arg)
{
    struct staged_look *look = arg;

    return staging_is_used(look->path, &look->used);
}

struct err *host_is_staged(struct task *self, struct host *host, const char *path, bool *ret)
{
    struct staged_look look = {.path = path};

    TRY(host_on_worker(self, host, is_staged_blocking, &look));
    *ret = look.used;
    return NULL;
}

static struct err *check_unused_blocking(void *arg)
{
    struct look *request = arg;
    struct block_claim claim = BLOCK_CLAIM_NONE;
    struct err *err = device_find(request->roots, request->lun, &request->device);

    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return NULL;
    }
    if (err)
        return err;
    err = block_claim(request->device.path, &claim);
    block_claim_end(&claim); /* while its path is there */
    device_close(&request->device);
    return err;
}

struct err *host_check_unused(struct task *self, struct host *host, unsigned lun)
{
    struct look request = {.roots = &host->config.roots, .lun = lun};

    return host_on_worker(self, host, check_unused_blocking, &request);
}

struct idle_look {
    struct look look;
    bool has_lun;
    const char *program;
};

static struct err *check_idle_blocking(void *arg)
{
    struct idle_look *request = arg;
    struct look *look = &request->look;
    bool mounted;

    TRY(process_table_check_none("/proc", request->program));
    if (!request->has_lun)
        return NULL;
    struct err *err = device_find(look->roots, look->lun, &look->device);
    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return NULL;
    }
    TRY(err);
    err = partition_any_mounted(look->roots, look->device.number, &mounted);
    if (!err && !mounted)
        err = flush_if_idle(&look->device);
    device_close(&look->device);
    return err;
}

struct err *host_check_idle(struct task *self, struct host *host, const unsigned *lun,
                            const char *program)
{
    struct idle_look request = {
        .look = {.roots = &host->config.roots, .lun = lun ? *lun : 0},
        .has_lun = lun != NULL,
        .program = program,
    };

    return host_on_worker(self, host, check_idle_blocking, &request);
}

static struct err *publish_blocking(void *arg)
{
    return target_mount_make(arg);
}

struct err *host_publish(struct task *self, struct host *host, const struct target_mount *wanted)
{
    return host_on_worker(self, host, publish_blocking, (void *)(uintptr_t)wanted);
}

static struct err *unpublish_blocking(void *arg)
{
    return target_mount_remove(arg);
}

struct err *host_unpublish(struct task *self, struct host *host, const char *target)
{
    return host_on_worker(self, host, unpublish_blocking, (void *)(uintptr_t)target);
}
