/* filesystem.h - the file systems that volumes can have: how they are made, checked and grown.
 *
 * mkfs and fsck run as subprocesses with a limit on their time. What they may be let loose on is
 * decided elsewhere (proof.h), for mkfs once more right before it runs (format_mark.h). It is
 * called without any kind of force, but does not make up for either: mke2fs asks about what is on
 * a device only at a terminal. Loop's thread; the calls yield.
 */
#pragma once

#include "lib/base/err.h"
#include "lib/rt/subprocess.h"
#include "provisioner-lib/host/filesystem_state.h"

struct filesystem {
    const char *name;
    const char *mount_option; /* that every mount needs; NULL: none */
    const char *make[10];     /* the command, to which the UUID and the device are added */
    const char *uuid_prefix;  /* what stands before the UUID in its argument */
    const char *check[4];     /* the command, to which the device is added; empty: there is none */
    const char *grow[3]; /* the command, to which the device is added, or where it is mounted */
    bool grows_by_path;
    struct err *(*read_size)(int fd, uint64_t *ret_bytes);
    struct err *(*set_uuid)(int fd, const char *uuid); /* filesystem_uuid.h */
    /* NULL: mounting it is all that is ever to be done. */
    struct err *(*read_state)(int fd, struct filesystem_state *ret);
};

/* One of FILESYSTEM_NAMES; NULL for others. */
const struct filesystem *filesystem_find(const char *name);
extern const char FILESYSTEM_NAMES[]; /* for messages */

/* A new file system, with this UUID. INTERNAL with what mkfs said. `stop` ends it before its time,
 * here as below; NULL: nobody does. */
struct err *filesystem_make(struct task *self, const struct filesystem *type, const char *device,
                            const char *uuid, struct subprocess_stop *stop)
    __attribute__((warn_unused_result));

/* As large as the device; it is mounted at `path`. INTERNAL with what the program said. */
struct err *filesystem_grow(struct task *self, const struct filesystem *type, const char *device,
                            const char *path) __attribute__((warn_unused_result));

/* Looks at everything and repairs what can be repaired without asking. INTERNAL with what fsck said
 * if something is left that a person has to decide. */
struct err *filesystem_check(struct task *self, const struct filesystem *type, const char *device,
                             struct subprocess_stop *stop) __attribute__((warn_unused_result));
