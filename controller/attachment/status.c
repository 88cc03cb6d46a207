#include "controller/attachment/status.h"

#include <string.h>

#include "controller/attachment/failed_attach.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "lib/rt/backoff.h"
#include "provisioner-lib/records/az_error.h"
#include "provisioner-lib/records/names.h"

enum { LEARN_LEAST_MS = 200, LEARN_MOST_MS = 2 * 1000 };

/* A write that failed may have taken effect all the same. Until it is known, what it would have
 * recorded stays reserved: another attachment must not get the same LUN, nor the same role. After a
 * conflict the cache is behind, and whoever goes by it would write in vain again. */
static void learn_outcome(struct task *self, struct controller *controller,
                          const struct kube_object *object)
{
    struct backoff backoff = {.least_ms = LEARN_LEAST_MS, .most_ms = LEARN_MOST_MS};
    bool known = false;

    while (!known && !task_is_cancelled(self)) {
        CLEANUP(kube_object_unrefp) struct kube_object *now = NULL;
        CLEANUP(err_freep)
        struct err *err = cached_get(self, controller->leader_kube, controller->attachments,
                                     object->metadata->namespace_, object->metadata->name, &now);

        known = !err || err_kind(err) == ERR_NOT_FOUND;
        if (!known)
            err_free(task_sleep(self, backoff_next(&backoff, loop_random(controller->loop))));
    }
}

/* `status` is taken. The version makes it fail if anybody else has written meanwhile. */
static struct err *patch_object(struct task *self, struct controller *controller,
                                const struct kube_object *object, json_t *status)
{
    struct err *err =
        cached_patch_status(self, controller->leader_kube, controller->attachments, object,
                            if_unchanged(object, json_pack("{s:o}", "status", status)), NULL);

    if (err && err_kind(err) != ERR_NOT_FOUND)
        learn_outcome(self, controller, object);
    return err;
}

static struct err *patch_status(struct task *self, struct attachment_work *work, json_t *status)
{
    return patch_object(self, work->controller, work->object, status);
}

struct err *attachment_set_finalizer(struct task *self, struct attachment_work *work, bool present)
{
    struct controller *controller = work->controller;
    json_t *changes = kube_finalizer_json(work->object->metadata, FINALIZER_ATTACHMENT, present);

    return cached_patch(self, controller->leader_kube, controller->attachments, work->object,
                        if_unchanged(work->object, changes), NULL);
}

static json_t *detail_json(const struct attachment_work *work, const char *previous_role, int lun)
{
    return attachment_detail_json(work->attachment->spec->role, previous_role, lun,
                                  work->volume->status->detail->capacity__bytes);
}

static const char *current_role(const struct attachment_work *work)
{
    const Api__AzVolumeAttachmentStatus *status = work->attachment->status;

    return status && status->detail ? status->detail->role : NULL;
}

/* NULL: it has that role already, or has had none. */
static const char *former_role(const struct attachment_work *work)
{
    return work->in.role != work->in.wanted ? current_role(work) : NULL;
}

static void add_note(json_t *status, const char *name, const char *value)
{
    json_t *notes = json_object_get(status, "annotation");

    if (!notes) {
        notes = json_object();
        json_object_set_new(status, "annotation", notes);
    }
    json_object_set_new(notes, name, json_string(value));
}

/* A primary is told which file system its device must carry. */
static void add_filesystem(const struct attachment_work *work, json_t *status)
{
    const char *filesystem = volume_annotation(work->volume, ANNOTATION_FILESYSTEM);

    if (filesystem && work->in.wanted == ROLE_IS_PRIMARY)
        add_note(status, ANNOTATION_FILESYSTEM, filesystem);
}

/* Where the disk is, by a model that was read in that boot. */
static void add_vm(const struct attachment_work *work, json_t *status)
{
    add_note(status, ANNOTATION_VM, work->instance_id);
    if (work->boot_id)
        add_note(status, ANNOTATION_BOOT, work->boot_id);
}

/* What was reserved, and is not on record, may be what another attachment of the volume waits
 * for. */
static void wake_siblings(const struct attachment_work *work)
{
    size_t n;
    struct kube_object *const *found =
        attachments_of_volume(work->controller, work->attachment->spec->volume_name, &n);

    for (size_t i = 0; i < n; i++)
        if (strcmp(found[i]->key, work->object->key) != 0)
            enqueue(work->controller, ATTACHMENT_QUEUE, found[i]->metadata->name);
}

/* The same, while nobody else may record the LUN, or that it is the primary. */
static struct err *patch_reserved(struct task *self, struct attachment_work *work, int lun,
                                  json_t *status)
{
    struct reservation reservation = {.node = work->attachment->spec->node_name,
                                      .volume = work->attachment->spec->volume_name,
                                      .lun = lun,
                                      .primary = work->in.wanted == ROLE_IS_PRIMARY};

    list_append(&work->controller->leading->reservations, &reservation.link);
    struct err *err = patch_status(self, work, status);
    list_remove(&reservation.link);
    if (err)
        wake_siblings(work);
    return err;
}

struct err *status_set_attached(struct task *self, struct attachment_work *work, int lun)
{
    json_t *status = json_pack("{s:s, s:o, s:n}", "state", STATE_ATTACHED, "detail",
                               detail_json(work, former_role(work), lun), "error");

    add_filesystem(work, status);
    add_vm(work, status);
    TRY(patch_reserved(self, work, NO_LUN, status));
    attachment_set_verified(work->controller, work->object->metadata->uid, true);
    failed_attach_forget(work->controller, work->object->metadata->uid);
    return NULL;
}

struct err *status_set_size(struct task *self, struct attachment_work *work)
{
    CLEANUP(json_decrefp) json_t *detail = detail_json(work, NULL, work->in.lun);
    json_t *context = json_object_get(detail, "publish_context");

    return patch_status(self, work, json_pack("{s:{s:O}}", "detail", "publish_context", context));
}

struct err *status_set_role(struct task *self, struct attachment_work *work)
{
    json_t *status = json_pack("{s:o, s:n}", "detail",
                               detail_json(work, current_role(work), work->in.lun), "error");

    add_filesystem(work, status);
    TRY(patch_reserved(self, work, NO_LUN, status));
    if (work->in.wanted == ROLE_IS_PRIMARY)
        events_record(work->controller->events, &AZ_VOLUME_ATTACHMENTS, work->object->metadata,
                      EVENT_NORMAL, "PromotedToPrimary", "Promote",
                      "Disk %s was already attached to node %s; this attachment is now the primary",
                      work->attachment->spec->volume_name, work->attachment->spec->node_name);
    return NULL;
}

struct err *status_set_attaching(struct task *self, struct attachment_work *work, int lun)
{
    json_t *status = json_pack("{s:s, s:o}", "state", STATE_ATTACHING, "detail",
                               detail_json(work, former_role(work), lun));

    add_note(status, ANNOTATION_VM, work->instance_id);
    return patch_reserved(self, work, lun, status);
}

struct err *status_set_vm(struct task *self, struct attachment_work *work)
{
    json_t *status = json_object();

    add_vm(work, status);
    return patch_status(self, work, status);
}

struct err *status_set_moved(struct task *self, struct attachment_work *work)
{
    const Api__AzVolumeAttachmentSpec *spec = work->attachment->spec;

    attachment_set_verified(work->controller, work->object->metadata->uid, false);
    TRY(patch_status(self, work,
                     json_pack("{s:s, s:{s:n}, s:{s:n}}", "state", "Pending", "detail",
                               "publish_context", "annotation", ANNOTATION_VM)));
    events_record(work->controller->events, &AZ_VOLUME_ATTACHMENTS, work->object->metadata,
                  EVENT_WARNING, "NodeIsAnotherVM", "Attach",
                  "Node %s is now a different VM. Disk %s is no longer attached to the previous VM "
                  "(%s) and is being attached to the new one",
                  spec->node_name, spec->volume_name, work->instance_id);
    return NULL;
}

/* Without its LUN, which may be another disk's by now: nobody is to be sent there. */
static struct err *take_lun_off(struct task *self, struct controller *controller,
                                const struct kube_object *object)
{
    attachment_set_verified(controller, object->metadata->uid, false);
    return patch_object(
        self, controller, object,
        json_pack("{s:s, s:{s:n}}", "state", "Pending", "detail", "publish_context"));
}

static void tell_lost(const struct controller *controller, const struct kube_object *object)
{
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(object)->spec;

    events_record(controller->events, &AZ_VOLUME_ATTACHMENTS, object->metadata, EVENT_WARNING,
                  "DiskDetachedElsewhere", "Attach",
                  "Disk %s is no longer attached to node %s, but this driver did not detach it; it "
                  "is being attached again",
                  spec->volume_name, spec->node_name);
}

struct err *status_set_lost(struct task *self, struct attachment_work *work)
{
    tell_lost(work->controller, work->object);
    return take_lun_off(self, work->controller, work->object);
}

struct err *status_set_displaced(struct task *self, struct controller *controller,
                                 const struct kube_object *object)
{
    const Api__AzVolumeAttachment *attachment = as_attachment(object);
    struct reservation reservation = {.node = attachment->spec->node_name,
                                      .volume = attachment->spec->volume_name,
                                      .lun = NO_LUN,
                                      .primary = attachment_wants(attachment, ROLE_PRIMARY)};

    if (!kube_is_deleting(object->metadata) &&
        strcmp(attachment_state(attachment), STATE_ATTACHED) == 0)
        tell_lost(controller, object);
    list_append(&controller->leading->reservations, &reservation.link);
    struct err *err = take_lun_off(self, controller, object);
    list_remove(&reservation.link);
    enqueue(controller, ATTACHMENT_QUEUE, object->metadata->name);
    if (err && err_kind(err) == ERR_NOT_FOUND) { /* no failure of who found it */
        err_free(err);
        return err_new(ERR_CONFLICT, "%s no longer exists", object->key);
    }
    return err;
}

struct err *status_set_detaching(struct task *self, struct attachment_work *work)
{
    return patch_status(self, work, json_pack("{s:s, s:n}", "state", STATE_DETACHING, "error"));
}

/* A transient error keeps the state, so that whoever waits goes on waiting. Where there is no
 * place, the LUN on record is one that somebody else's disk has by now, and nobody is to be sent
 * there. A failure to write it down is less important than the failure itself. */
struct err *status_set_failure(struct task *self, struct attachment_work *work, struct err *err)
{
    json_t *status = json_pack("{s:o}", "error", az_error_json(err));
    const char *state = work->in.deleting ? STATE_DETACHMENT_FAILED : STATE_ATTACHMENT_FAILED;

    if (err_kind(err) == ERR_CANCELED || err_kind(err) == ERR_CONFLICT) {
        json_decref(status);
        return err;
    }
    if (!err_is_transient(err))
        json_object_set_new(status, "state", json_string(state));
    else if (!work->attachment->status || !work->attachment->status->state)
        json_object_set_new(status, "state", json_string("Pending"));
    if (work->has_no_place && work->in.lun != NO_LUN)
        json_object_set_new(status, "detail", json_pack("{s:n}", "publish_context"));
    err_free(patch_status(self, work, status));
    return err;
}
