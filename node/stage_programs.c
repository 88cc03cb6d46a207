/* What writes to a volume's device before it is mounted: mkfs, fsck and what makes a copy one of
 * its own. */

#include "lib/base/log.h"
#include "node/running_job.h"
#include "node/stage.h"

struct err *stage_job_begin(struct task *self, void *ctx, const char *program)
{
    struct staging *s = ctx;

    TRY(running_job_begin(self, s->node, s->attachment, program));
    struct err *err = staging_check_ours(s);
    if (err)
        running_job_end(self, s->node, s->attachment);
    return err;
}

static struct err *job_check(void *ctx)
{
    return staging_check_ours(ctx);
}

void stage_job_end(struct task *self, void *ctx, const struct err *unsure)
{
    struct staging *s = ctx;

    if (!unsure) {
        running_job_end(self, s->node, s->attachment);
        return;
    }
    log_warning("volume %s: %s", s->volume_id, err_message(unsure));
    running_job_leave(s->node, s->attachment);
}

struct err *stage_format(struct task *self, struct staging *s, const char *uuid)
{
    const struct job_permit permit = {stage_job_begin, job_check, stage_job_end, s};

    TRY(host_format(self, s->node->host, s->device, s->access.filesystem, uuid, &permit,
                    s->deadline));
    staging_phase_ended(s, "format");
    return NULL;
}

struct err *stage_check(struct task *self, struct staging *s, const char *why)
{
    const struct job_permit permit = {stage_job_begin, job_check, stage_job_end, s};

    log_warning("volume %s: checking %s: %s", s->volume_id, s->device->path, why);
    TRY(host_check(self, s->node->host, s->device, s->access.filesystem, &permit, s->deadline));
    staging_phase_ended(s, "fsck");
    return NULL;
}

/* ---- a copy of another disk ---- */

static struct err *replay(struct task *self, struct staging *s, const struct mount_request *request)
{
    TRY(stage_job_begin(self, s, "mount"));
    struct err *err = host_replay(self, s->node->host, request);
    stage_job_end(self, s, NULL);
    return err;
}

/* Its origin was in use when it was copied, perhaps: what its journal holds comes first. */
static struct err *settle_copy(struct task *self, struct staging *s,
                               const struct mount_request *request)
{
    CLEANUP(err_freep) struct err *damage = NULL;

    if (!s->state.needs_check && s->state.has_journal_to_replay) {
        damage = replay(self, s, request);
        if (damage && (!mount_shows_damage(damage) || !s->access.filesystem->check[0]))
            return TAKE_PTR(damage);
        TRY(host_read_state(self, s->node->host, s->device, s->access.filesystem, &s->state));
    }
    if (!damage && !s->state.needs_check)
        return NULL;
    TRY(staging_check_ours(s));
    return stage_check(self, s,
                       damage ? err_message(damage) : "the copy was not unmounted cleanly");
}

/* So that it and its origin are two file systems. It is done again if it was cut off: until then,
 * the copy is found with its origin's UUID. */
struct err *stage_mark_copy(struct task *self, struct staging *s,
                            const struct mount_request *request, const char *uuid)
{
    TRY(staging_check_ours(s));
    TRY(host_read_state(self, s->node->host, s->device, s->access.filesystem, &s->state));
    if (s->state.mounted)
        return err_new(ERR_PRECONDITION,
                       "%s is a copy that is mounted read-only: it must be unmounted before it can "
                       "be used for writing",
                       s->device->path);
    TRY(settle_copy(self, s, request));
    TRY(stage_job_begin(self, s, "set-uuid"));
    struct err *err = host_set_uuid(self, s->node->host, s->device, s->access.filesystem, uuid);
    stage_job_end(self, s, NULL);
    TRY(err);
    log_info("volume %s: %s is a copy, and has got UUID %s", s->volume_id, s->device->path, uuid);
    staging_phase_ended(s, "uuid");
    return NULL;
}
