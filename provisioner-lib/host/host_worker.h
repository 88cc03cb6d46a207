/* host_worker.h - a host's worker threads, for the files that host.h is implemented in.
 */
#pragma once

#include "provisioner-lib/host/host.h"

typedef struct err *host_blocking_fn(void *arg);

/* Calls it on a worker, and returns what it returns. Yields. */
struct err *host_on_worker(struct task *self, struct host *host, host_blocking_fn *fn, void *arg)
    __attribute__((warn_unused_result));

struct loop *host_loop(const struct host *host);
const struct device_roots *host_device_roots(const struct host *host);
