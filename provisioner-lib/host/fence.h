/* fence.h - keeps all VMs but this one from writing to a shared disk, whatever they still believe.
 *
 * A fence is a Write Exclusive reservation (reservation.h) under this node's key. The upper half of
 * a key says whose disk it is: of which driver, in which cluster, for which volume. The lower half
 * says which node holds it, since when it has run, and for which attachment. So a node that becomes
 * the primary can tell a former primary of the same volume, which it may preempt, from somebody
 * else, whom it may not; no record can get lost that would be needed for that.
 */
#pragma once

#include "provisioner-lib/host/host.h"
#include "provisioner-lib/host/reservation.h"

/* `family` identifies the volume, `member` the node's use of it. Never 0. */
uint64_t fence_key(const char *family, const char *member);

enum fence_step {
    FENCE_HELD,     /* nothing is left to do */
    FENCE_REGISTER, /* the own key */
    FENCE_RESERVE,
    FENCE_PREEMPT, /* `ret_other`, a former key of this volume */
    FENCE_REFUSED, /* `ret_other` is somebody else's */
};

/* What comes next on the way to the fence, after what was read of the disk. Pure. */
enum fence_step fence_plan(const struct reservation *seen, uint64_t key, uint64_t *ret_other);

enum fence_state {
    FENCE_IN_PLACE,
    FENCE_UNSUPPORTED, /* by the device; nothing was changed */
    FENCE_TOO_LATE,    /* the device is mounted already, and was without one; nothing was changed */
};

struct fence {
    enum fence_state state;
    struct err
        *unreadable; /* why the device does not say what is reserved, where it should; or NULL */
};

void fence_fini(struct fence *fence);

/* Returns when the disk has confirmed the fence, or if there can be none. `device` is what is used:
 * the disk or a partition of it. PRECONDITION if somebody else has reserved the disk, or goes on
 * taking the fence away. */
struct err *host_take_fence(struct task *self, struct host *host, const struct device *disk,
                            const struct device *device, uint64_t key, struct fence *ret)
    __attribute__((warn_unused_result));

/* PRECONDITION unless the disk has it still. */
struct err *host_check_fence(struct task *self, struct host *host, const struct device *disk,
                             uint64_t key) __attribute__((warn_unused_result));

/* Success if this node has none, or if there is no disk at the LUN. */
struct err *host_release_fence(struct task *self, struct host *host, unsigned lun, uint64_t key)
    __attribute__((warn_unused_result));
