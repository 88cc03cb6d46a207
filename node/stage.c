#include "node/stage.h"

#include <string.h>

#include "lib/base/log.h"
#include "lib/kube/client.h"
#include "node/informers.h"
#include "node/metrics.h"

void staging_fini(struct staging *s)
{
    kube_object_unref(s->attachment);
    device_close(&s->partition);
    device_close(&s->disk);
}

void staging_phase_ended(struct staging *s, const char *phase)
{
    uint64_t now = loop_now(s->node->loop);

    metric_observe(&METRIC_STAGE_SECONDS, (double)(now - s->phase_began) / 1000, phase);
    s->phase_began = now;
}

bool staging_is_read_only(const struct staging *s)
{
    return s->place.read_only || s->access.read_only;
}

/* ---- whose it is ---- */

/* Time has passed since the attachment was looked at; what is written to the device, and what may
 * write to it, must still be ours to do. */
static struct err *check_ours(const struct staging *s, const struct kube_object *object)
{
    struct attachment_place place;

    if (!object || strcmp(object->metadata->uid, s->attachment->metadata->uid) != 0)
        return err_new(ERR_BUSY, "the volume was unpublished in the meantime");
    TRY(attachment_check(as_attachment(object), &place));
    if (place.lun != s->place.lun)
        return err_new(ERR_BUSY, "the LUN of the disk has changed in the meantime");
    if (place.read_only != s->place.read_only)
        return err_new(ERR_BUSY, "the volume was published anew in the meantime, %s",
                       place.read_only ? "read-only" : "for writing");
    /* The disk was proven without one, and may have been found empty. */
    if (place.has_record && !s->place.has_record && !s->record.has_filesystem && !s->recorded)
        return err_new(ERR_BUSY, "the volume got a file system on record in the meantime");
    return NULL;
}

struct err *staging_check_ours(const struct staging *s)
{
    return check_ours(s, informers_find_attachment(s->node, s->volume_id));
}

/* By the API server's own word: what a node knows that is cut off from it may be long past, and it
 * would take the disk from whom its volume was given to. */
struct err *staging_confirm_ours(struct task *self, const struct staging *s)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    TRY(err_unless(kube_get(self, s->node->kube, &AZ_VOLUME_ATTACHMENTS,
                            s->node->settings.namespace_, s->attachment->metadata->name, &object),
                   ERR_NOT_FOUND));
    return check_ours(s, object);
}

/* If the role went meanwhile, or the caller gave up, kubelet may not know that it is there, and
 * would never have it unstaged. What was there before the call stays. */
struct err *staging_keep_or_undo(struct task *self, struct staging *s, bool was_there)
{
    CLEANUP(err_freep)
    struct err *err = task_is_cancelled(self)
                          ? err_new(ERR_CANCELED, "the caller has canceled the call")
                          : staging_check_ours(s);

    if (!err || was_there)
        return NULL;
    CLEANUP(err_freep) struct err *stays = host_unstage(self, s->node->host, s->path);
    if (stays)
        log_error("volume %s stays staged at %s because undoing that failed: %s", s->volume_id,
                  s->path, err_message(stays));
    return TAKE_PTR(err);
}
