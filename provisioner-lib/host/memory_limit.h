/* memory_limit.h - how much memory the programs that this one starts may have.
 *
 * They are in the same container, whose limit the kernel enforces by killing, since Kubernetes 1.28
 * everything in it at once. So what would not fit is not started. The limit is that of the
 * process's cgroup or of one above it, whichever is lowest (memory.max of version 2,
 * memory.limit_in_bytes of version 1), less what the plug-in itself needs. Without a limit it is
 * what the machine has left.
 *
 * Reads a few small files of the kernel's, which do not block. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

struct memory_roots {
    const char *cgroup, *proc; /* "/sys/fs/cgroup", "/proc"; tests have trees of their own */
};

struct memory_limit {
    uint64_t container; /* bytes; 0: it has no limit */
    uint64_t programs;  /* of it for programs, all together */
};

/* What of a container's memory is the plug-in's own. */
extern const uint64_t MEMORY_OF_PLUGIN;

struct err *memory_limit_read(const struct memory_roots *roots, struct memory_limit *ret)
    __attribute__((warn_unused_result));
