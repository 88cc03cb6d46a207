/* The AzVolume reconciler: takes one step after the other of volume/plan.h. */

#include <stdlib.h>
#include <string.h>

#include "controller/cache/published.h"
#include "controller/controller.h"
#include "controller/volume/adoption.h"
#include "controller/volume/attachments.h"
#include "controller/volume/disk.h"
#include "controller/volume/failed_creation.h"
#include "controller/volume/filesystem_note.h"
#include "controller/volume/persistent_volume.h"
#include "controller/volume/plan.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/az_error.h"
#include "provisioner-lib/records/names.h"

enum { MAX_STEPS = 8 };

/* One volume under work. */
struct subject {
    struct controller *controller;
    struct kube_object *object; /* referenced */
    const Api__AzVolume *volume;
    struct volume_snapshot in;
};

static void subject_fini(struct subject *subject)
{
    kube_object_unref(subject->object);
}

/* ---- gather ---- */

static bool is_in_state(const Api__AzVolume *volume, const char *state)
{
    return strcmp(volume_state(volume), state) == 0;
}

static void gather_attachments(struct subject *s)
{
    struct volume_snapshot *in = &s->in;
    size_t n;
    struct kube_object *const *objects =
        attachments_of_volume(s->controller, s->object->metadata->name, &n);

    for (size_t i = 0; i < n; i++) {
        const Api__AzVolumeAttachment *attachment = as_attachment(objects[i]);

        if (kube_is_deleting(objects[i]->metadata))
            in->leaving++;
        else if (attachment_wants(attachment, ROLE_PRIMARY))
            in->primaries++;
        else
            in->others++;
    }
    in->has_filesystem_news = filesystem_note_find(s->controller, s->object) != NULL;
}

static bool gather(struct controller *controller, const char *key, struct subject *ret)
{
    struct kube_object *object = store_get(controller->volumes, key);

    if (!object || !as_volume(object)->spec || !as_volume(object)->spec->volume_name)
        return false;
    *ret = (struct subject){
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
        .has_disk = adoption_disk(controller, ret->volume) != NULL,
        .pre_provisioned = volume_adopted_id(ret->volume) != NULL,
        .unseen = adoption_is_of(ret->volume) &&
                  (volume_annotation(ret->volume, ANNOTATION_LOOK_REQUEST) ||
                   !volume_annotation(ret->volume, ANNOTATION_DISK_UNIQUE_ID)),
        .delete_requested = volume_annotation(ret->volume, ANNOTATION_DELETE_REQUEST) != NULL,
        .claimed = pv && pv_is_bound(pv),
    };
    enum volume_pv pv_news = volume_pv_look(controller, object);
    ret->in.pv_changed = pv_news == VOLUME_PV_CHANGED;
    ret->in.pv_missing = pv_news == VOLUME_PV_MISSING;
    ret->in.pv_gone = pv_news == VOLUME_PV_REPLACED;
    gather_attachments(ret);
    return true;
}

/* ---- writing to the object ---- */

static struct err *patch(struct task *self, struct subject *s, json_t *changes)
{
    return cached_patch(self, s->controller->leader_kube, s->controller->volumes, s->object,
                        if_unchanged(s->object, changes), NULL);
}

static struct err *patch_finalizers(struct task *self, struct subject *s, bool add)
{
    const Api__ObjectMeta *metadata = s->object->metadata;
    json_t *finalizers = json_array();

    for (size_t i = 0; i < metadata->n_finalizers; i++)
        if (strcmp(metadata->finalizers[i], FINALIZER_VOLUME) != 0)
            json_array_append_new(finalizers, json_string(metadata->finalizers[i]));
    if (add)
        json_array_append_new(finalizers, json_string(FINALIZER_VOLUME));
    return patch(self, s, json_pack("{s:{s:o}}", "metadata", "finalizers", finalizers));
}

static struct err *patch_status(struct task *self, struct subject *s, json_t *status)
{
    json_t *changes = json_pack("{s:o}", "status", status);

    return cached_patch_status(self, s->controller->leader_kube, s->controller->volumes, s->object,
                               if_unchanged(s->object, changes), NULL);
}

/* ---- the disk ---- */

static struct err *record_created(struct task *self, struct subject *s,
                                  const struct cloud_disk *disk)
{
    return patch_status(self, s, volume_disk_json(s->controller, s->volume, disk));
}

static struct err *create(struct task *self, struct subject *s)
{
    struct cloud *cloud = s->controller->cloud;
    CLEANUP(volume_parameters_fini) struct volume_parameters parameters = {0};
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
    struct disk_limits limits;

    TRY(volume_parse_parameters(s->volume, &parameters));
    TRY(cloud->ops->disk_limits(self, cloud, &parameters, volume_disk_gib(s->volume), &limits));
    struct cloud_disk_spec spec = volume_disk_spec(s->controller, s->volume, &parameters, &limits);
    TRY(volume_parameters_check_size(&parameters, spec.size_gib, &limits));
    TRY(cloud->ops->disk_create(self, cloud, &spec, &disk));
    return record_created(self, s, &disk);
}

/* The disk's id of a volume that was there before: where CSI's caller put it. */
static struct err *adopt(struct task *self, struct subject *s)
{
    struct cloud *cloud = s->controller->cloud;
    CLEANUP(volume_parameters_fini) struct volume_parameters parameters = {0};
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
    const char *id = adoption_disk(s->controller, s->volume);

    TRY(volume_parse_existing(s->volume, &parameters));
    TRY(cloud->ops->disk_get(self, cloud, id, &disk));
    if (disk.max_shares < parameters.max_shares)
        return err_new(ERR_INVALID,
                       "parameter maxShares: %d is more than the maxShares %d of disk %s",
                       parameters.max_shares, disk.max_shares, id);
    if (volume_disk_is_another(s->volume, &disk))
        events_record(s->controller->events, &AZ_VOLUMES, s->object->metadata, EVENT_WARNING,
                      "DiskReplaced", "Adopt",
                      "Disk %s has been replaced by a new disk of the same name. The record of the "
                      "previous disk's file system has been discarded",
                      id);
    return record_created(self, s, &disk);
}

/* A disk in the place of one that is on no record: somebody else's, which was in the way of the
 * creation, is left alone. */
static struct err *is_to_be_left(struct task *self, struct cloud *cloud, const char *id,
                                 const struct cloud_disk_spec *spec, bool *ret)
{
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
    struct err *err = cloud->ops->disk_get(self, cloud, id, &disk);

    *ret = err ? err_kind(err) == ERR_NOT_FOUND
               : !disk_is_for_volume(&disk.mark, &spec->creator, spec->name);
    if (!*ret)
        return err;
    err_free(err);
    return NULL;
}

/* The disk that the volume has; NULL if none. One whose creation never got as far as a record may
 * have one all the same, unless its parameters were never any good. */
static struct err *disk_of(struct task *self, struct subject *s, char **ret_id)
{
    struct cloud *cloud = s->controller->cloud;
    CLEANUP(volume_parameters_fini) struct volume_parameters parameters = {0};
    CLEANUP(freep) char *id = NULL;
    bool left;

    if (s->in.created || s->in.has_disk) {
        *ret_id = mem_strdup(adoption_disk(s->controller, s->volume));
        return NULL;
    }
    CLEANUP(err_freep) struct err *err = volume_parse_parameters(s->volume, &parameters);
    if (err)
        return NULL;
    struct cloud_disk_spec spec =
        volume_disk_spec(s->controller, s->volume, &parameters, &(struct disk_limits){0});
    TRY(cloud->ops->disk_id(cloud, &spec, &id));
    TRY(is_to_be_left(self, cloud, id, &spec, &left));
    *ret_id = left ? NULL : TAKE_PTR(id);
    return NULL;
}

static struct err *delete_disk(struct task *self, struct subject *s)
{
    struct cloud *cloud = s->controller->cloud;
    CLEANUP(freep) char *id = NULL;

    TRY(disk_of(self, s, &id));
    if (!id)
        return NULL;
    if (!is_in_state(s->volume, "DeletionFailed")) /* that stays until the disk is gone */
        TRY(patch_status(self, s, json_pack("{s:s, s:n}", "state", "Deleting", "error")));
    return cloud->ops->disk_delete(self, cloud, id);
}

static void look_later(const struct subject *s)
{
    const struct controller *controller = s->controller;
    int64_t us = failed_creation_goes_at(s->volume) - loop_wall_us(controller->loop);

    workqueue_add_at(controller->volume_queue, s->object->key,
                     loop_now(controller->loop) + (us > 0 ? (uint64_t)us / 1000 : 0) + 1);
}

/* ---- the filesystem ---- */

static struct err *record_filesystem(struct task *self, struct subject *s)
{
    const char *note = filesystem_note_find(s->controller, s->object);

    return note ? patch_status(self, s,
                               json_pack("{s:{s:s}}", "annotation", ANNOTATION_FILESYSTEM, note))
                : NULL;
}

/* ---- carrying out ---- */

static struct err *take_step(struct task *self, struct subject *s, enum volume_step step)
{
    switch (step) {
    case VOLUME_NONE:
        return NULL;
    case VOLUME_ADD_FINALIZER:
        return patch_finalizers(self, s, true);
    case VOLUME_REMOVE_FINALIZER:
        return patch_finalizers(self, s, false);
    case VOLUME_RECORD_CREATING:
        return patch_status(self, s, json_pack("{s:s, s:n}", "state", "Creating", "error"));
    case VOLUME_CREATE:
        return create(self, s);
    case VOLUME_ADOPT:
        return adopt(self, s);
    case VOLUME_RECORD_FILESYSTEM:
        return record_filesystem(self, s);
    case VOLUME_RELEASE:
        return volume_release_attachments(self, s->controller, s->object->metadata->name);
    case VOLUME_DELETE:
        return delete_disk(self, s);
    case VOLUME_CHECK_UNATTACHED:
        return volume_check_unattached(self, s->controller, s->object->metadata->name);
    case VOLUME_FOLLOW_PV:
        return patch(self, s, volume_pv_change_json(s->controller, s->object));
    case VOLUME_CHECK_PV_GONE:
        return volume_pv_check_gone(self, s->controller, s->object);
    case VOLUME_END:
        return kube_delete_unchanged(self, s->controller->leader_kube, &AZ_VOLUMES, s->object);
    case VOLUME_LOOK_LATER:
        look_later(s);
        return NULL;
    case VOLUME_FORGET:
        return failed_creation_forget(self, s->controller, s->object);
    }
    abort();
}

/* A disk that is not there may come, and one that may not be read may be: by itself, too, it is
 * looked at again, ever less often. */
static struct err *look_again(struct err *err)
{
    return err_kind_retry(err_kind(err)) == ERR_RETRY_NEVER ? err_as(err, ERR_UNAVAILABLE) : err;
}

static struct err *record_failure(struct task *self, struct controller *controller, const char *key,
                                  struct err *err)
{
    CLEANUP(subject_fini) struct subject s = {0};

    if (err_kind(err) == ERR_CANCELED || err_kind(err) == ERR_CONFLICT ||
        !gather(controller, key, &s))
        return err;
    /* CSI's provisioner goes on by itself only after codes that say that the outcome is open. */
    const char *state = s.in.deleting           ? "DeletionFailed"
                        : err_is_transient(err) ? NULL
                                                : "CreationFailed";
    json_t *status = json_pack("{s:o}", "error", az_error_json(err));
    if (state && !s.in.created)
        json_object_set_new(status, "state", json_string(state));
    else if (s.in.deleting)
        json_object_set_new(status, "state", json_string("DeletionFailed"));
    else if (!s.volume->status || !s.volume->status->state)
        json_object_set_new(status, "state", json_string("Pending"));
    if (!err_is_transient(err))
        json_object_set_new(status, "annotation", json_pack("{s:n}", ANNOTATION_LOOK_REQUEST));
    err_free(patch_status(self, &s, status));
    return s.in.has_disk && !s.in.created ? look_again(err) : err;
}

/* Nothing can be decided after it before the cache has changed, or time has passed. */
static bool is_last(enum volume_step step)
{
    return step == VOLUME_NONE || step == VOLUME_REMOVE_FINALIZER || step == VOLUME_RELEASE ||
           step == VOLUME_LOOK_LATER || step == VOLUME_FORGET || step == VOLUME_END;
}

struct err *reconcile_volume(struct task *self, void *ctx, const char *key)
{
    struct controller *controller = ctx;
    bool disk_deleted = false, unattached = false, pv_gone = false;

    for (int i = 0; i < MAX_STEPS; i++) {
        CLEANUP(subject_fini) struct subject s = {0};

        if (!gather(controller, key, &s))
            return NULL;
        s.in.disk_deleted = disk_deleted;
        s.in.unattached = unattached;
        s.in.pv_gone |= pv_gone && s.in.pv_missing;
        enum volume_step step = volume_next(&s.in);
        struct err *err = take_step(self, &s, step);
        if (err)
            return record_failure(self, controller, key, err);
        if (is_last(step))
            return NULL;
        disk_deleted |= step == VOLUME_DELETE;
        unattached |= step == VOLUME_CHECK_UNATTACHED;
        pv_gone |= step == VOLUME_CHECK_PV_GONE;
    }
    return NULL;
}
