#include "provisioner-lib/host/fence.h"

#include <inttypes.h>
#include <string.h>

#include <openssl/sha.h>

#include "provisioner-lib/host/host_worker.h"
#include "provisioner-lib/host/mount_table.h"
#include "provisioner-lib/host/shutdown.h"
#include "provisioner-lib/host/staging.h"

enum { MOST_STEPS = 40, HALF = 32 };

/* ---- keys ---- */

static uint32_t half_of_key(const char *text)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    uint32_t half;

    SHA256((const unsigned char *)text, strlen(text), digest);
    memcpy(&half, digest, sizeof half);
    return half ? half : 1;
}

uint64_t fence_key(const char *family, const char *member)
{
    return (uint64_t)half_of_key(family) << HALF | half_of_key(member);
}

bool fence_same_family(uint64_t a, uint64_t b)
{
    return a >> HALF == b >> HALF;
}

/* ---- the way to a fence ---- */

/* A key other than this one, 0 if there is none; those of others come first. */
static uint64_t other_key(const struct reservation *seen, uint64_t key)
{
    uint64_t found = 0;

    for (size_t i = 0; i < seen->n_keys; i++) {
        if (!fence_same_family(seen->keys[i], key))
            return seen->keys[i];
        if (seen->keys[i] != key)
            found = seen->keys[i];
    }
    return found;
}

bool fence_knows_key(const struct reservation *seen, uint64_t key)
{
    for (size_t i = 0; i < seen->n_keys; i++)
        if (seen->keys[i] == key)
            return true;
    return false;
}

bool fence_is_lost(const struct reservation *seen, uint64_t own)
{
    return seen->held && seen->holder != own;
}

enum fence_step fence_plan(const struct reservation *seen, uint64_t key, uint64_t *ret_other)
{
    bool ours = seen->held && seen->holder == key;

    *ret_other =
        seen->held && !fence_same_family(seen->holder, key) ? seen->holder : other_key(seen, key);
    if (*ret_other && !fence_same_family(*ret_other, key))
        return FENCE_REFUSED;
    if (!fence_knows_key(seen, key))
        return FENCE_REGISTER;
    if (seen->held && !ours) {
        *ret_other = seen->holder;
        return FENCE_PREEMPT;
    }
    if (!seen->held)
        return FENCE_RESERVE;
    return *ret_other ? FENCE_PREEMPT : FENCE_HELD;
}

enum fence_step fence_succession_plan(const struct reservation *seen, uint64_t key, uint64_t former,
                                      uint64_t *ret_other)
{
    enum fence_step step = fence_plan(seen, key, ret_other);

    if (step == FENCE_REFUSED)
        return step;
    if (seen->held && seen->holder != key && seen->holder != former) {
        *ret_other = seen->holder;
        return FENCE_PASSED;
    }
    if (step != FENCE_PREEMPT)
        return step;
    *ret_other = former;
    return seen->holder == former || fence_knows_key(seen, former) ? FENCE_PREEMPT : FENCE_HELD;
}

static struct err *check_type(const struct reservation *seen)
{
    if (!seen->held || seen->type == RESERVATION_WRITE_EXCLUSIVE)
        return NULL;
    return err_new(ERR_PRECONDITION,
                   "the disk has a reservation of type %u, which is none of this driver's",
                   seen->type);
}

static struct err *refused(uint64_t other)
{
    return err_new(ERR_PRECONDITION,
                   "key %#018" PRIx64
                   ", which is none of this volume's, is registered at the disk: "
                   "somebody else uses it with persistent reservations. If nobody does any more, "
                   "remove the key (sg_persist --out --clear); if the volume's workload makes "
                   "reservations of its own, its StorageClass needs fencing: guest",
                   other);
}

static struct err *passed(uint64_t other)
{
    return err_new(ERR_PRECONDITION,
                   "the disk's reservation is already that of key %#018" PRIx64
                   ", another node's of this volume",
                   other);
}

/* Whose fence is to be whose; `former` 0: whoever of this volume has it. */
struct succession {
    uint64_t key, former;
};

static enum fence_step next_step(const struct reservation *seen, const struct succession *wanted,
                                 uint64_t *ret_other)
{
    return wanted->former ? fence_succession_plan(seen, wanted->key, wanted->former, ret_other)
                          : fence_plan(seen, wanted->key, ret_other);
}

/* `ret_former` is left alone unless it is preempted. */
static struct err *take_step(int fd, const struct reservation *seen,
                             const struct succession *wanted, bool *ret_held, uint64_t *ret_former)
{
    uint64_t other;

    switch (next_step(seen, wanted, &other)) {
    case FENCE_HELD:
        *ret_held = true;
        return NULL;
    case FENCE_REGISTER:
        return reservation_register(fd, wanted->key);
    case FENCE_RESERVE:
        return reservation_take(fd, wanted->key);
    case FENCE_PREEMPT:
        *ret_former = other;
        return reservation_preempt(fd, wanted->key, other);
    case FENCE_PASSED:
        return passed(other);
    default:
        return refused(other);
    }
}

/* From what was read first. Others may be on the same way: what a step has brought is read, never
 * assumed. */
static struct err *take(int fd, const struct succession *wanted, struct reservation *seen,
                        uint64_t *ret_former)
{
    bool supported, held = false;

    for (int steps = 0; steps < MOST_STEPS; steps++) {
        TRY(check_type(seen));
        TRY(take_step(fd, seen, wanted, &held, ret_former));
        if (held)
            return NULL;
        TRY(reservation_read(fd, &supported, seen));
    }
    return err_new(ERR_PRECONDITION, "the reservation of the disk goes to another VM again and "
                                     "again: two nodes take themselves for its user");
}

/* ---- on a worker ---- */

struct fence_request {
    const struct device_roots *roots;
    const struct device *disk, *device;
    const char *staging;
    unsigned lun;
    struct succession wanted;
    struct fence fence;
    struct reservation seen;
};

void fence_fini(struct fence *fence)
{
    err_free(fence->unreadable);
}

static bool holds(const struct reservation *seen, uint64_t key)
{
    return seen->held && seen->holder == key && seen->type == RESERVATION_WRITE_EXCLUSIVE;
}

/* A device that does not even say what is reserved has no reservations. One that says what cannot
 * be is not used. */
static struct err *take_blocking(void *arg)
{
    struct fence_request *request = arg;
    struct fence *fence = &request->fence;
    struct reservation seen;
    bool supported, in_use;
    struct err *err = reservation_read(request->disk->fd, &supported, &seen);

    *fence = (struct fence){.state = FENCE_UNSUPPORTED};
    if (err && err_kind(err) != ERR_PRECONDITION) {
        fence->unreadable = err;
        return NULL;
    }
    TRY(err);
    if (!supported)
        return NULL;
    TRY(mount_table_has(request->device->number, &in_use));
    if (!in_use)
        TRY(staging_is_used(request->staging, &in_use));
    fence->state = in_use && !holds(&seen, request->wanted.key) ? FENCE_TOO_LATE : FENCE_IN_PLACE;
    if (!in_use)
        TRY(take(request->disk->fd, &request->wanted, &seen, &fence->former));
    fence->generation = seen.generation;
    return NULL;
}

struct err *host_take_fence(struct task *self, struct host *host, const struct device *disk,
                            const struct device *device, const char *staging, uint64_t key,
                            struct fence *ret)
{
    struct fence_request request = {
        .disk = disk, .device = device, .staging = staging, .wanted = {key, 0}};
    struct err *err = host_on_worker(self, host, take_blocking, &request);

    if (err)
        return err_wrap(err, "%s", disk->path);
    *ret = request.fence;
    return NULL;
}

static struct err *read_blocking(void *arg)
{
    struct fence_request *request = arg;
    bool supported;

    TRY(reservation_read(request->disk->fd, &supported, &request->seen));
    return supported ? NULL
                     : err_new(ERR_UNIMPLEMENTED, "the device supports no persistent reservations");
}

struct err *host_read_fence(struct task *self, struct host *host, const struct device *disk,
                            struct reservation *ret)
{
    struct fence_request request = {.disk = disk};
    struct err *err = host_on_worker(self, host, read_blocking, &request);

    if (err)
        return err_wrap(err, "%s", disk->path);
    *ret = request.seen;
    return NULL;
}

static struct err *succeed_blocking(void *arg)
{
    struct fence_request *request = arg;

    TRY(read_blocking(request));
    return take(request->disk->fd, &request->wanted, &request->seen, &request->fence.former);
}

struct err *host_succeed_fence(struct task *self, struct host *host, const struct device *disk,
                               uint64_t key, uint64_t former)
{
    struct fence_request request = {.disk = disk, .wanted = {key, former}};
    struct err *err = host_on_worker(self, host, succeed_blocking, &request);

    return err ? err_wrap(err, "%s", disk->path) : NULL;
}

static struct err *check_blocking(void *arg)
{
    const struct fence_request *request = arg;
    struct reservation seen;
    bool supported;

    TRY(reservation_read(request->disk->fd, &supported, &seen));
    if (supported && holds(&seen, request->wanted.key))
        return NULL;
    return err_new(ERR_PRECONDITION, "%s: another node has taken the disk over",
                   request->disk->path);
}

struct err *host_check_fence(struct task *self, struct host *host, const struct device *disk,
                             uint64_t key)
{
    struct fence_request request = {.disk = disk, .wanted = {key, 0}};

    return host_on_worker(self, host, check_blocking, &request);
}

static struct err *release(int fd, uint64_t key)
{
    struct reservation seen;
    bool supported;

    TRY(reservation_read(fd, &supported, &seen));
    if (!supported || !fence_knows_key(&seen, key))
        return NULL;
    if (seen.held && seen.holder == key)
        TRY(reservation_release(fd, key));
    return reservation_register(fd, 0);
}

static struct err *release_blocking(void *arg)
{
    const struct fence_request *request = arg;
    struct device disk = DEVICE_NONE;
    struct err *err = device_find(request->roots, request->lun, &disk);

    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return NULL;
    }
    TRY(err);
    err = shutdown_lift(request->roots, &disk);
    if (!err)
        err = release(disk.fd, request->wanted.key);
    device_close(&disk);
    return err;
}

struct err *host_release_fence(struct task *self, struct host *host, unsigned lun, uint64_t key)
{
    struct fence_request request = {
        .roots = host_device_roots(host), .lun = lun, .wanted = {key, 0}};

    return host_on_worker(self, host, release_blocking, &request);
}
