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

/* Whether they are keys of the same volume. */
bool fence_same_family(uint64_t a, uint64_t b);

enum fence_step {
    FENCE_HELD,     /* nothing is left to do */
    FENCE_REGISTER, /* the own key */
    FENCE_RESERVE,
    FENCE_PREEMPT, /* `ret_other`, a former key of this volume */
    FENCE_REFUSED, /* `ret_other` is somebody else's */
    FENCE_PASSED,  /* on to `ret_other`, which is this volume's, but not the one that was named */
};

/* What comes next on the way to the fence, after what was read of the disk. Pure. */
enum fence_step fence_plan(const struct reservation *seen, uint64_t key, uint64_t *ret_other);

/* The same on the way to the fence in the place of `former` alone, which must not be registered any
 * more at its end: no other node of this volume loses the fence. Pure. */
enum fence_step fence_succession_plan(const struct reservation *seen, uint64_t key, uint64_t former,
                                      uint64_t *ret_other);

bool fence_knows_key(const struct reservation *seen, uint64_t key);

/* Whether the disk's reservation is that of another key than this node's. */
bool fence_is_lost(const struct reservation *seen, uint64_t own);

enum fence_state {
    FENCE_IN_PLACE,
    FENCE_UNSUPPORTED, /* by the device; nothing was changed */
    FENCE_TOO_LATE,    /* the volume is in use already, and has none; nothing was changed */
};

struct fence {
    enum fence_state state;
    uint64_t former;     /* the key that it was taken from; 0: it was free, or in place already */
    uint32_t generation; /* of the disk's reservations, once it is in place */
    struct err
        *unreadable; /* why the device does not say what is reserved, where it should; or NULL */
};

void fence_fini(struct fence *fence);

/* Returns when the disk has confirmed the fence, or if there can be none. `device` is what is used:
 * the disk or a partition of it; `staging` is where a raw volume is found that is in use already.
 * PRECONDITION if somebody else has reserved the disk, or goes on taking the fence away. */
struct err *host_take_fence(struct task *self, struct host *host, const struct device *disk,
                            const struct device *device, const char *staging, uint64_t key,
                            struct fence *ret) __attribute__((warn_unused_result));

/* Takes it from `former`, a key of the same volume, and from nobody else. Returns when the disk has
 * confirmed that the fence is that of `key` and that it does not know `former` any more; the device
 * may be in use. UNIMPLEMENTED if it can have none, PRECONDITION as above, or if a third node of
 * this volume has the fence. */
struct err *host_succeed_fence(struct task *self, struct host *host, const struct device *disk,
                               uint64_t key, uint64_t former) __attribute__((warn_unused_result));

/* What the disk says of keys and of the fence. UNIMPLEMENTED if it can have none. */
struct err *host_read_fence(struct task *self, struct host *host, const struct device *disk,
                            struct reservation *ret) __attribute__((warn_unused_result));

/* PRECONDITION unless the disk has it still. */
struct err *host_check_fence(struct task *self, struct host *host, const struct device *disk,
                             uint64_t key) __attribute__((warn_unused_result));

/* What the fence's loss has ended can be used again (shutdown.h): nobody has the volume in use.
 * Success if this node has none, or if there is no disk at the LUN. */
struct err *host_release_fence(struct task *self, struct host *host, unsigned lun, uint64_t key)
    __attribute__((warn_unused_result));
