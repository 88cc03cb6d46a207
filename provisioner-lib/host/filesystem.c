#include "provisioner-lib/host/filesystem.h"

#include <assert.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/rt/subprocess.h"
#include "provisioner-lib/host/filesystem_uuid.h"

enum {
    MAKE_LIMIT_MS = 10 * 60 * 1000,
    GROW_LIMIT_MS = 10 * 60 * 1000,
    CHECK_LIMIT_MS = 60 * 60 * 1000, /* a large one that was not shut down cleanly */
    GRACE_MS = 60 * 1000,            /* for a program whose time is up */
    CHECK_FAILED = 4,                /* fsck(8): from here on, errors are left */
    MAX_ARGUMENTS = 12,
    MOST_SAID = 1024, /* of what a program said last, in errors */
};

/* An empty disk has nothing to discard, and asking for it takes time. Blocks that only root may
 * use make no sense in a volume. */
#define EXT(type)                                                                                  \
    {                                                                                              \
        .name = (type),                                                                            \
        .make = {"mkfs.ext4", "-t", (type), "-q", "-m", "0", "-E", "nodiscard", "-U"},             \
        .uuid_prefix =                                                                             \
            "", /* It is called only for a reason: without -f it would stop at its own look. */    \
            .check = {"e2fsck", "-f", "-p"}, .grow = {"resize2fs"}, .read_size = ext4_size_read,   \
        .read_state = ext4_state_read, .set_uuid = ext4_uuid_set,                                  \
    }

static const struct filesystem filesystems[] = {
    EXT("ext4"),
    EXT("ext3"),
    EXT("ext2"),
    {
        .name = "xfs",
        .mount_option = "nouuid", /* a clone beside its origin has the same UUID */
        .make = {"mkfs.xfs", "-q", "-K", "-m"},
        .uuid_prefix = "uuid=",
        .grow = {"xfs_growfs", "-d"},
        .grows_by_path = true,
        .read_size = xfs_size_read,
        .set_uuid = xfs_uuid_set,
        /* Mounting replays the log, and xfs_repair refuses what has not been mounted since. */
    },
};

const char FILESYSTEM_NAMES[] = "ext4, ext3, ext2, xfs";

const struct filesystem *filesystem_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(filesystems); i++)
        if (strcmp(filesystems[i].name, name) == 0)
            return &filesystems[i];
    return NULL;
}

static size_t copy_command(const char *argv[MAX_ARGUMENTS], const char *const *command)
{
    size_t n = 0;

    while (command[n]) {
        argv[n] = command[n];
        n++;
    }
    assert(n + 2 < MAX_ARGUMENTS);
    return n;
}

static struct err *run(struct task *self, const struct subprocess_request *request,
                       int first_failure)
{
    CLEANUP(freep) struct subprocess_result *result = mem_alloc(sizeof *result);

    TRY(subprocess_run(self, request, result));
    if (result->exit_status < first_failure)
        return NULL;

    size_t length = strlen(result->output);
    return err_new(ERR_INTERNAL, "%s ended with status %d: %s", request->argv[0],
                   result->exit_status,
                   result->output + (length > MOST_SAID ? length - MOST_SAID : 0));
}

struct err *filesystem_make(struct task *self, const struct filesystem *type, const char *device,
                            const char *uuid, struct subprocess_stop *stop)
{
    CLEANUP(freep) char *uuid_argument = mem_printf("%s%s", type->uuid_prefix, uuid);
    const char *argv[MAX_ARGUMENTS] = {NULL};
    const struct subprocess_request request = {
        .argv = argv, .timeout_ms = MAKE_LIMIT_MS, .grace_ms = GRACE_MS, .stop = stop};
    size_t n = copy_command(argv, type->make);

    argv[n++] = uuid_argument;
    argv[n] = device;
    return run(self, &request, 1);
}

struct err *filesystem_check(struct task *self, const struct filesystem *type, const char *device,
                             struct subprocess_stop *stop)
{
    const char *argv[MAX_ARGUMENTS] = {NULL};
    const struct subprocess_request request = {
        .argv = argv, .timeout_ms = CHECK_LIMIT_MS, .grace_ms = GRACE_MS, .stop = stop};
    size_t n = copy_command(argv, type->check);

    if (n == 0)
        return NULL;
    argv[n] = device;
    return run(self, &request, CHECK_FAILED);
}

struct err *filesystem_grow(struct task *self, const struct filesystem *type, const char *device,
                            const char *path)
{
    const char *argv[MAX_ARGUMENTS] = {NULL};
    const struct subprocess_request request = {
        .argv = argv, .timeout_ms = GROW_LIMIT_MS, .grace_ms = GRACE_MS};
    size_t n = copy_command(argv, type->grow);

    argv[n] = type->grows_by_path ? path : device;
    return run(self, &request, 1);
}
