/* The AzVolume reconciler: takes the steps of volume/plan.h, one after another. */

#include <stdlib.h>
#include <string.h>

#include "controller/cache/disk_pv.h"
#include "controller/cache/provenance.h"
#include "controller/cache/published.h"
#include "controller/controller.h"
#include "controller/volume/adoption.h"
#include "controller/volume/attachments.h"
#include "controller/volume/disk.h"
#include "controller/volume/disk_to_delete.h"
#include "controller/volume/failed_creation.h"
#include "controller/volume/filesystem_note.h"
#include "controller/volume/growth.h"
#include "controller/volume/modification.h"
#include "controller/volume/persistent_volume.h"
#include "controller/volume/plan.h"
#include "controller/volume/restored_record.h"
#include "controller/volume/user.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/az_error.h"
#include "provisioner-lib/records/names.h"

enum { MAX_STEPS = 8 };

/* One volume that is being reconciled. */
struct volume_work {
    struct controller *controller;
    struct kube_object *object; /* referenced */
    const Api__AzVolume *volume;
    struct volume_snapshot in;
};

static void volume_work_fini(struct volume_work *work)
{
    kube_object_unref(work->object);
}

/* ---- gather ---- */

static bool is_in_state(const Api__AzVolume *volume, const char *state)
{
    return strcmp(volume_state(volume), state) == 0;
}

static void gather_attachments(struct volume_work *work)
{
    struct volume_snapshot *in = &work->in;
    size_t n;
    struct kube_object *const *objects =
        attachments_of_volume(work->controller, work->object->metadata->name, &n);

    for (size_t i = 0; i < n; i++) {
        const Api__AzVolumeAttachment *attachment = as_attachment(objects[i]);

        if (kube_is_deleting(objects[i]->metadata))
            in->leaving++;
        else if (attachment_wants(attachment, ROLE_PRIMARY))
            in->primaries++;
        else
            in->others++;
    }
    in->has_new_filesystem = filesystem_note_find(work->controller, work->object) != NULL;
}

static bool gather(struct controller *controller, const char *key, struct volume_work *ret)
{
    struct kube_object *object = store_get(controller->volumes, key);

    if (!object || !as_volume(object)->spec || !as_volume(object)->spec->volume_name)
        return false;
    *ret = (struct volume_work){
        .controller = controller, .object = kube_object_ref(object), .volume = as_volume(object)};
    const struct kube_object *pv = kubernetes_pv(controller, object->metadata->name);
    int64_t goes_at = failed_creation_goes_at(ret->volume);
    ret->in = (struct volume_snapshot){
        .deleting = kube_is_deleting(object->metadata),
        .has_finalizer = kube_has_finalizer(object->metadata, FINALIZER_VOLUME),
        .created = volume_is_created(ret->volume),
        .creating = is_in_state(ret->volume, "Creating"),
        .failed = creation_has_failed(ret->volume),
        .goes = goes_at > 0,
        .goes_now = goes_at > 0 && goes_at <= loop_wall_us(controller->loop),
        .restored = restored_without_status(ret->volume),
        .has_disk = adoption_disk(controller, ret->volume) != NULL,
        .pre_provisioned = volume_adopted_id(ret->volume) != NULL,
        .unseen = adoption_is_of(ret->volume) &&
                  (volume_annotation(ret->volume, ANNOTATION_LOOK_REQUEST) ||
                   !volume_annotation(ret->volume, ANNOTATION_DISK_UNIQUE_ID)),
        .delete_requested = volume_annotation(ret->volume, ANNOTATION_DELETE_REQUEST) != NULL,
        .claimed = pv && pv_is_bound(pv),
    };
    enum volume_pv pv_state = volume_pv_compare(controller, object);
    ret->in.pv_changed = pv_state == VOLUME_PV_CHANGED;
    ret->in.pv_missing = pv_state == VOLUME_PV_MISSING;
    ret->in.pv_gone = pv_state == VOLUME_PV_REPLACED;
    growth_gather(controller, ret->volume, &ret->in);
    modification_gather(ret->volume, &ret->in);
    if (ret->in.updating || ret->in.modifying)
        volume_user_gather(controller, object, &ret->in);
    gather_attachments(ret);
    return true;
}

/* ---- writing to the object ---- */

static struct err *patch(struct task *self, struct volume_work *work, json_t *changes)
{
    return cached_patch(self, work->controller->leader_kube, work->controller->volumes,
                        work->object, if_unchanged(work->object, changes), NULL);
}

static struct err *patch_finalizers(struct task *self, struct volume_work *work, bool add)
{
    return patch(self, work, kube_finalizer_json(work->object->metadata, FINALIZER_VOLUME, add));
}

static struct err *patch_status(struct task *self, struct volume_work *work, json_t *status)
{
    json_t *changes = json_pack("{s:o}", "status", status);

    return cached_patch_status(self, work->controller->leader_kube, work->controller->volumes,
                               work->object, if_unchanged(work->object, changes), NULL);
}

/* ---- the disk ---- */

/* What is on record already is of an earlier attempt, which may have made the disk. */
static struct err *record_creating(struct task *self, struct volume_work *work)
{
    CLEANUP(provenance_fini) struct provenance source = {0};

    if (volume_annotation(work->volume, ANNOTATION_SOURCE_FILESYSTEM) ||
        volume_annotation(work->volume, ANNOTATION_SOURCE_UUIDS))
        return patch_status(self, work, json_pack("{s:s, s:n}", "state", "Creating", "error"));
    TRY(provenance_of_source(self, work->controller, work->volume, &source));
    json_t *notes = json_pack("{s:s?, s:s?}", ANNOTATION_SOURCE_FILESYSTEM, source.filesystem,
                              ANNOTATION_SOURCE_UUIDS, source.uuids);
    return patch_status(
        self, work,
        json_pack("{s:s, s:n, s:o}", "state", "Creating", "error", "annotation", notes));
}

static struct err *create(struct task *self, struct volume_work *work)
{
    struct cloud *cloud = work->controller->cloud;
    CLEANUP(volume_parameters_fini) struct volume_parameters parameters = {0};
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
    struct disk_limits limits;

    TRY(volume_parse_parameters(work->volume, &parameters));
    TRY(cloud->ops->disk_limits(self, cloud, &parameters, volume_requested_gib(work->volume),
                                &limits));
    struct cloud_disk_spec spec =
        volume_disk_spec(work->controller, work->volume, &parameters, &limits);
    TRY(volume_parameters_check_size(&parameters, spec.size_gib, &limits));
    TRY(cloud->ops->disk_create(self, cloud, &spec, &disk));
    json_t *status = volume_disk_json(work->controller, work->volume, &disk);
    modification_add_done(work->volume, status);
    return patch_status(self, work, status);
}

/* A copy that the driver made, and of which the record is lost. What people bring along, they
 * accept themselves. */
static bool is_lost_copy(const struct volume_work *work, const struct cloud_disk *disk)
{
    static const char *const notes[] = {ANNOTATION_FILESYSTEM, ANNOTATION_SOURCE_FILESYSTEM,
                                        ANNOTATION_SOURCE_UUIDS};
    bool is_noted = false;

    for (size_t i = 0; i < COUNT_OF(notes); i++)
        is_noted |= volume_annotation(work->volume, notes[i]) != NULL;
    return !is_noted && !work->in.pre_provisioned && *disk->source_id;
}

static struct err *record_created(struct task *self, struct volume_work *work,
                                  const struct cloud_disk *disk, const char *source_uuids)
{
    json_t *status = volume_disk_json(work->controller, work->volume, disk);

    if (work->in.updating) /* a growth is asked for, and still to come */
        json_object_del(status, "state");
    if (source_uuids)
        json_object_set_new(json_object_get(status, "annotation"), ANNOTATION_SOURCE_UUIDS,
                            json_string(source_uuids));
    return patch_status(self, work, status);
}

/* The disk's id of a volume that was there before: where CSI's caller put it. */
static struct err *adopt(struct task *self, struct volume_work *work)
{
    struct cloud *cloud = work->controller->cloud;
    CLEANUP(volume_parameters_fini) struct volume_parameters parameters = {0};
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
    CLEANUP(freep) char *uuids = NULL;
    CLEANUP(freep) char *id = mem_strdup(adoption_disk(work->controller, work->volume));

    TRY(volume_parse_existing(work->volume, &parameters));
    TRY(cloud->ops->disk_get(self, cloud, id, &disk));
    volume_disk_tell(work->controller, work->object, &disk);
    if (is_lost_copy(work, &disk))
        TRY(provenance_uuids_of(self, work->controller, disk.source_id, &uuids));
    return record_created(self, work, &disk, uuids);
}

static struct err *delete_disk(struct task *self, struct volume_work *work)
{
    struct cloud *cloud = work->controller->cloud;
    CLEANUP(freep) char *id = NULL;

    TRY(volume_disk_to_delete(self, work->controller, work->object, &id));
    if (!id)
        return NULL;
    if (!is_in_state(work->volume, "DeletionFailed")) /* that stays until the disk is gone */
        TRY(patch_status(self, work, json_pack("{s:s, s:n}", "state", "Deleting", "error")));
    return cloud->ops->disk_delete(self, cloud, id);
}

static void requeue(const struct volume_work *work)
{
    const struct controller *controller = work->controller;
    int64_t us = failed_creation_goes_at(work->volume) - loop_wall_us(controller->loop);

    workqueue_add_at(controller->leading->queues[VOLUME_QUEUE], work->object->key,
                     loop_now(controller->loop) + (us > 0 ? (uint64_t)us / 1000 : 0) + 1);
}

/* ---- the filesystem ---- */

static struct err *record_filesystem(struct task *self, struct volume_work *work)
{
    const char *note = filesystem_note_find(work->controller, work->object);

    return note ? patch_status(self, work,
                               json_pack("{s:{s:s}}", "annotation", ANNOTATION_FILESYSTEM, note))
                : NULL;
}

/* ---- steps ---- */

static struct err *take_step(struct task *self, struct volume_work *work, enum volume_step step)
{
    switch (step) {
    case VOLUME_NONE:
        return NULL;
    case VOLUME_ADD_FINALIZER:
        return patch_finalizers(self, work, true);
    case VOLUME_REMOVE_FINALIZER:
        return patch_finalizers(self, work, false);
    case VOLUME_RECORD_CREATING:
        return record_creating(self, work);
    case VOLUME_CREATE:
        return create(self, work);
    case VOLUME_REFUSE:
        return restored_refusal(work->volume);
    case VOLUME_ADOPT:
        return adopt(self, work);
    case VOLUME_RECORD_FILESYSTEM:
        return record_filesystem(self, work);
    case VOLUME_GROW:
        return growth_carry_out(self, work->controller, work->object);
    case VOLUME_READ_DISK:
        return volume_disk_read(self, work->controller, work->object);
    case VOLUME_MODIFY:
        return modification_carry_out(self, work->controller, work->object);
    case VOLUME_RECORD_GROWN:
        return patch_status(self, work, json_pack("{s:s, s:n}", "state", STATE_UPDATED, "error"));
    case VOLUME_RELEASE:
        return volume_release_attachments(self, work->controller, work->object->metadata->name);
    case VOLUME_DELETE:
        return delete_disk(self, work);
    case VOLUME_CHECK_UNATTACHED:
        return volume_check_unattached(self, work->controller, work->object->metadata->name);
    case VOLUME_FOLLOW_PV:
        return patch(self, work, volume_pv_change_json(work->controller, work->object));
    case VOLUME_CHECK_PV_GONE:
        return volume_pv_check_gone(self, work->controller, work->object);
    case VOLUME_END:
        return cached_delete(self, work->controller->leader_kube, work->controller->volumes,
                             work->object);
    case VOLUME_REQUEUE:
        requeue(work);
        return NULL;
    case VOLUME_FORGET:
        return failed_creation_forget(self, work->controller, work->object);
    }
    abort();
}

/* A disk that does not exist may be created, and one that must not be read may become readable. So
 * reading the disk is retried even after an error that is otherwise final, with growing pauses. */
static struct err *as_retryable(struct err *err)
{
    return err_kind_retry(err_kind(err)) == ERR_RETRY_NEVER ? err_as(err, ERR_UNAVAILABLE) : err;
}

/* NULL: the one that it has. external-provisioner and external-resizer retry by themselves only
 * after codes that leave the outcome open. */
static const char *state_after(const struct volume_work *work, const struct err *err)
{
    if (work->in.deleting)
        return "DeletionFailed";
    if (!err_is_transient(err) && !work->in.created)
        return "CreationFailed";
    if (!err_is_transient(err) && work->in.updating)
        return STATE_UPDATE_FAILED;
    return *volume_state(work->volume) ? NULL : "Pending";
}

static struct err *record_failure(struct task *self, struct controller *controller, const char *key,
                                  struct err *err)
{
    CLEANUP(volume_work_fini) struct volume_work work = {0};

    if (err_kind(err) == ERR_CANCELED || err_kind(err) == ERR_CONFLICT ||
        !gather(controller, key, &work))
        return err;
    const char *state = state_after(&work, err);
    json_t *status = json_pack("{s:o}", "error", az_error_json(err));
    if (state)
        json_object_set_new(status, "state", json_string(state));
    if (!err_is_transient(err))
        json_object_set_new(status, "annotation", json_pack("{s:n}", ANNOTATION_LOOK_REQUEST));
    err_free(patch_status(self, &work, status));
    return work.in.has_disk && !work.in.created ? as_retryable(err) : err;
}

/* After such a step there is nothing to decide until the cache changes or time passes. */
static bool is_last(enum volume_step step)
{
    return step == VOLUME_NONE || step == VOLUME_REMOVE_FINALIZER || step == VOLUME_RELEASE ||
           step == VOLUME_REQUEUE || step == VOLUME_FORGET || step == VOLUME_END;
}

struct err *reconcile_volume(struct task *self, void *ctx, const char *key)
{
    struct controller *controller = ctx;
    bool disk_deleted = false, unattached = false, disk_read = false, pv_gone = false;
    bool modify_requested = false;

    for (int i = 0; i < MAX_STEPS; i++) {
        CLEANUP(volume_work_fini) struct volume_work work = {0};

        if (!gather(controller, key, &work))
            return NULL;
        work.in.disk_deleted = disk_deleted;
        work.in.unattached = unattached;
        work.in.disk_read = disk_read;
        work.in.modify_requested = modify_requested;
        work.in.pv_gone |= pv_gone && work.in.pv_missing;
        enum volume_step step = volume_next(&work.in);
        struct err *err = take_step(self, &work, step);
        if (err)
            return record_failure(self, controller, key, err);
        if (is_last(step))
            return NULL;
        disk_deleted |= step == VOLUME_DELETE;
        unattached |= step == VOLUME_CHECK_UNATTACHED;
        disk_read |= step == VOLUME_READ_DISK || step == VOLUME_GROW;
        modify_requested |= step == VOLUME_MODIFY;
        pv_gone |= step == VOLUME_CHECK_PV_GONE;
    }
    return NULL;
}
