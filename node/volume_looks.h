/* volume_looks.h - what was last seen of the volumes in use, and looking again.
 *
 * A look (usage.h) at a disk that hangs returns late or never. So there is at most one at a time of
 * a volume, on a thread that nothing else needs. Who asks meanwhile waits for its end until the
 * look is a few seconds old, then gets what was seen before, and that the disk hangs. A look takes
 * nothing that staging, publishing or unpublishing waits for. Unstaging does wait: a file system is
 * only gone when nobody looks at it any more.
 *
 * Loop's thread, real loops only.
 */
#pragma once

#include "lib/rt/wait.h"
#include "provisioner-lib/host/usage.h"

struct volume_looks_config {
    struct device_roots roots;
    /* usage_look, or a test's */
    struct err *(*look)(const struct usage_request *request, struct volume_usage *ret);
    uint64_t patience_ms; /* a look that takes longer hangs */
    uint64_t most_age_ms; /* of what is answered instead */
    unsigned most_looks;  /* under way at once */
};

struct volume_looks;

struct volume_looks *volume_looks_new(struct loop *loop, const struct volume_looks_config *config);
/* Looks that hang are left alone. NULL is fine. */
void volume_looks_free(struct volume_looks *looks);

/* What is seen of a volume at a path: now, or, with `trouble`, what was seen before. As usage_look;
 * UNAVAILABLE, or TIMEOUT if the deadline came first, if the disk hangs and nothing was seen of it
 * lately, and BUSY while the volume is closed. `ret` is the caller's to end. */
struct err *volume_looks_see(struct task *self, struct volume_looks *looks, const char *volume_id,
                             const char *path, unsigned lun, uint64_t deadline,
                             struct volume_usage *ret) __attribute__((warn_unused_result));

/* Forgets the volume, waits for the look at it, and lets no new one begin until it is opened again.
 * UNAVAILABLE, and nothing is closed, if the look has not ended at the deadline. One at a time for
 * a volume. */
struct err *volume_looks_close(struct task *self, struct volume_looks *looks, const char *volume_id,
                               uint64_t deadline) __attribute__((warn_unused_result));
void volume_looks_open(struct volume_looks *looks, const char *volume_id);

unsigned volume_looks_hung(const struct volume_looks *looks); /* how many hang */
