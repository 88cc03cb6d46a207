/* The mount of a volume's file system, and what comes before and after it. */

#include <string.h>

#include "node/stage.h"
#include "provisioner-lib/host/fence.h"

struct err *stage_prepare(struct task *self, struct staging *s,
                          const struct disk_expectation *expected, bool format_it)
{
    TRY(staging_check_ours(s));
    if (format_it)
        return stage_format(self, s, expected->uuid);
    TRY(host_read_state(self, s->node->host, s->device, s->access.filesystem, &s->state));
    if (!s->state.needs_check || s->state.mounted || staging_is_read_only(s))
        return NULL;
    return stage_check(self, s,
                       s->state.has_errors
                           ? "the kernel has recorded errors in the file system"
                           : "the file system was not unmounted cleanly and has no journal");
}

/* Replaying the journal may bring errors to light that the kernel had noted in it. */
static struct err *check_mounted(struct task *self, struct staging *s, bool *ret_errors)
{
    struct filesystem_state now;

    *ret_errors = false;
    if (s->state.mounted || staging_is_read_only(s))
        return NULL;
    TRY(host_read_state(self, s->node->host, s->device, s->access.filesystem, &now));
    *ret_errors = now.has_errors;
    return now.has_errors ? host_unstage(self, s->node->host, s->path) : NULL;
}

/* Programs have run since it was taken, perhaps for long. */
static struct err *check_fence(struct task *self, const struct staging *s)
{
    return s->fence ? host_check_fence(self, s->node->host, &s->disk, s->fence) : NULL;
}

static struct err *mount_or_undo(struct task *self, struct staging *s,
                                 const struct mount_request *request)
{
    TRY(check_fence(self, s));
    TRY(host_mount(self, s->node->host, s->device, request));
    return staging_keep_or_undo(self, s, s->state.mounted);
}

/* The kernel does not replay a journal on a device that it may not write to. */
static struct err *mount_read_only_device(struct task *self, struct staging *s,
                                          const struct mount_request *request)
{
    CLEANUP(err_freep) struct err *err = mount_or_undo(self, s, request);

    if (!err || !err_code(err) || strcmp(err_code(err), "EROFS") != 0)
        return TAKE_PTR(err);
    return err_new(ERR_PRECONDITION,
                   "%s: the file system was not unmounted cleanly, and replaying its journal would "
                   "write to a disk that is published read-only; publish the volume for writing "
                   "once",
                   err_message(err));
}

/* Replaying a journal writes to the disk, for as long as that takes. */
static struct err *mount_if_ours(struct task *self, struct staging *s,
                                 const struct mount_request *request)
{
    if (s->state.mounted || s->device_read_only || !s->state.has_journal_to_replay) {
        TRY(staging_check_ours(s));
        return s->device_read_only ? mount_read_only_device(self, s, request)
                                   : mount_or_undo(self, s, request);
    }
    TRY(stage_job_begin(self, s, "mount"));
    struct err *err = mount_or_undo(self, s, request);
    stage_job_end(self, s, NULL);
    return err;
}

/* What only mounting shows is checked then, and mounted once more. */
struct err *stage_mount(struct task *self, struct staging *s, const struct mount_request *request)
{
    bool errors = false;
    CLEANUP(err_freep) struct err *err = mount_if_ours(self, s, request);
    bool damaged = err && mount_shows_damage(err) && !staging_is_read_only(s);

    if (!err)
        TRY(check_mounted(self, s, &errors));
    if (!damaged && !errors)
        return TAKE_PTR(err);
    TRY(staging_check_ours(s));
    TRY(stage_check(self, s,
                    err ? err_message(err) : "the file system's journal contains recorded errors"));
    return mount_if_ours(self, s, request);
}
