/* host.h - what a node does with its disks: the half of the provisioner library that is the
 * machine's. (The other half is cloud.h.)
 *
 * Each call is one step of staging a volume or of taking it away again; their order is the
 * caller's business, and every step may be repeated. What can block, which is all that touches a
 * device, runs on worker threads, so that a disk that hangs stops only its own volume; threads,
 * formattings and the memory of checks have an upper bound.
 *
 * Formatting and checking go on when their caller's time is over, because to kill and repeat what
 * takes longer than any caller waits would never end. The call returns only afterwards. They end
 * before when their permit is gone (job.h). Loop's thread, real loops only.
 */
#pragma once

#include "lib/rt/loop.h"
#include "provisioner-lib/host/device.h"
#include "provisioner-lib/host/device_settings.h"
#include "provisioner-lib/host/filesystem.h"
#include "provisioner-lib/host/job.h"
#include "provisioner-lib/host/mount.h"
#include "provisioner-lib/host/proof.h"
#include "provisioner-lib/host/target_mount.h"

struct host_config {
    struct device_roots roots;
    unsigned max_formats; /* at once */
    struct memory_roots memory;
};

struct host;

struct host *host_new(struct loop *loop, const struct host_config *config);
/* Asks the permits of formattings and checks whether they still hold. */
void host_reconsider(struct host *host);
/* Asks formattings and checks to end, and kills them at `kill_at`, a loop_now() time; their calls
 * return UNAVAILABLE. Further ones are refused. */
void host_stop(struct host *host, uint64_t kill_at);
/* Until they have ended. */
void host_wait(struct task *self, struct host *host);
/* After host_stop; no call may be running. */
void host_close(struct task *self, struct host *host);

/* ---- staging ---- */

/* Waits for the disk of a LUN. TIMEOUT if it has not come at the deadline, PRECONDITION if there
 * are several. The device is the caller's to close. */
struct err *host_find(struct task *self, struct host *host, unsigned lun, uint64_t deadline,
                      struct device *ret) __attribute__((warn_unused_result));

/* A partition of it, as partition_find. */
struct err *host_find_partition(struct task *self, struct host *host, const struct device *disk,
                                unsigned number, struct device *ret)
    __attribute__((warn_unused_result));

/* As partition_check_staged. */
struct err *host_check_partition(struct task *self, struct host *host, const char *path, bool raw,
                                 unsigned number) __attribute__((warn_unused_result));

/* Looks at the disk, and at the device that is to be used: the disk itself or a partition of it;
 * not at what was cached of them. Decides what may be done with the device. */
struct err *host_prove(struct task *self, struct host *host, const struct device *disk,
                       const struct device *device, const struct disk_expectation *expected,
                       struct disk_verdict *ret) __attribute__((warn_unused_result));

/* Only what host_prove has allowed. `deadline` is for its turn to come; `permit` lives until the
 * call returns. */
struct err *host_format(struct task *self, struct host *host, const struct device *device,
                        const struct filesystem *type, const char *uuid,
                        const struct job_permit *permit, uint64_t deadline)
    __attribute__((warn_unused_result));

/* What the file system says of itself, mounted or not; of some types that is nothing. */
struct err *host_read_state(struct task *self, struct host *host, const struct device *device,
                            const struct filesystem *type, struct filesystem_state *ret)
    __attribute__((warn_unused_result));

/* Nothing is done if it is mounted, or if there is no check for its type. EXHAUSTED if that would
 * need more memory than there can be. */
struct err *host_check(struct task *self, struct host *host, const struct device *device,
                       const struct filesystem *type, const struct job_permit *permit,
                       uint64_t deadline) __attribute__((warn_unused_result));

/* As mount_replay. */
struct err *host_replay(struct task *self, struct host *host, const struct mount_request *request)
    __attribute__((warn_unused_result));
/* Gives the file system this UUID (filesystem_uuid.h). PRECONDITION if the device is in use. */
struct err *host_set_uuid(struct task *self, struct host *host, const struct device *device,
                          const struct filesystem *type, const char *uuid)
    __attribute__((warn_unused_result));

/* As staging_settle_access. */
struct err *host_settle_access(struct task *self, struct host *host, const struct device *device,
                               const char *path, bool raw, bool read_only, bool *ret_read_only)
    __attribute__((warn_unused_result));

/* As staging_mount and staging_bind. */
struct err *host_mount(struct task *self, struct host *host, const struct device *device,
                       const struct mount_request *request) __attribute__((warn_unused_result));
struct err *host_bind(struct task *self, struct host *host, const struct device *device,
                      const char *path, bool read_only) __attribute__((warn_unused_result));

/* As device_settings_apply. */
struct err *host_apply_settings(struct task *self, struct host *host, const struct device *device,
                                const struct device_setting *settings, size_t n)
    __attribute__((warn_unused_result));

/* As device_settings_queue_depth. */
struct err *host_set_queue_depth(struct task *self, struct host *host, const struct device *device,
                                 unsigned depth) __attribute__((warn_unused_result));

/* ---- growing ---- */

/* Asks a device for its size until that is `size` bytes. UNAVAILABLE, with the size that it has, if
 * it is not at the deadline. */
struct err *host_await_size(struct task *self, struct host *host, const struct device *device,
                            uint64_t size, uint64_t deadline) __attribute__((warn_unused_result));

/* Makes the file system that is mounted at `path` as large as its device, if it is not. */
struct err *host_grow(struct task *self, struct host *host, const struct device *device,
                      const struct filesystem *type, const char *path, bool *ret_grown)
    __attribute__((warn_unused_result));

/* NOT_FOUND unless the device is mounted at `path`, or is bound there as a raw volume is. */
struct err *host_check_at(struct task *self, struct host *host, const struct device *device,
                          const char *path, bool *ret_raw) __attribute__((warn_unused_result));

/* ---- disks that are not used ---- */

/* Keeps the disk of a LUN from everybody on this machine who would claim it: it cannot be mounted,
 * nor become part of an array (MD), a logical volume or a multipath device. `held` is DEVICE_NONE,
 * or what is held already; it is let go if the disk of the LUN is another now. PRECONDITION if
 * somebody has claimed it before, NOT_FOUND if there is no disk: nothing is held then. */
struct err *host_hold(struct task *self, struct host *host, unsigned lun, struct device *held)
    __attribute__((warn_unused_result));
/* DEVICE_NONE is fine. Even if the task is cancelled. */
void host_let_go(struct task *self, struct host *host, struct device *held);

/* News of disks, as hotplug_count and hotplug_wait. */
unsigned host_news(const struct host *host);
struct err *host_await_news(struct task *self, struct host *host, unsigned seen, uint64_t deadline)
    __attribute__((warn_unused_result));

/* ---- the rest ---- */

/* As staging_remove. */
struct err *host_unstage(struct task *self, struct host *host, const char *path)
    __attribute__((warn_unused_result));
/* As staging_is_used. */
struct err *host_is_staged(struct task *self, struct host *host, const char *path, bool *ret)
    __attribute__((warn_unused_result));
/* PRECONDITION if somebody on this machine still has the disk of a LUN mounted, be it in a mount
 * namespace that we do not see. Success if there is no such disk. */
struct err *host_check_unused(struct task *self, struct host *host, unsigned lun)
    __attribute__((warn_unused_result));

/* BUSY or PRECONDITION while a program that a former process of this plug-in has started may still
 * write to the disk of a LUN (NULL: it is not known where the disk is). On success nothing that
 * such a program wrote waits to be written. */
struct err *host_check_idle(struct task *self, struct host *host, const unsigned *lun,
                            const char *program) __attribute__((warn_unused_result));

/* As target_mount_make and target_mount_remove. */
struct err *host_publish(struct task *self, struct host *host, const struct target_mount *wanted)
    __attribute__((warn_unused_result));
struct err *host_unpublish(struct task *self, struct host *host, const char *target)
    __attribute__((warn_unused_result));

unsigned host_busy_workers(const struct host *host);
