/* The AzVolumeAttachment reconciler: takes one step after the other of attachment_plan.h. */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "controller/attachment_plan.h"
#include "controller/az_error.h"
#include "controller/controller.h"
#include "controller/names.h"
#include "controller/volume_view.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/hash.h"

enum {
    MAX_STEPS = 16,           /* in one go; the longest life has about half as many */
    MODEL_AGE_MS = 60 * 1000, /* of a VM's model that nobody changed through us */
    LOOK_AGAIN_MS = 2 * 1000, /* at a VM that is changing */
};

/* ---- what is remembered while this process leads ---- */

struct verified {
    char *uid;
    UT_hash_handle hh;
};

static struct verified *find_verified(const struct controller *controller, const char *uid)
{
    struct verified *verified;

    HASH_FIND_STR(controller->verified, uid, verified);
    return verified;
}

static void set_verified(struct controller *controller, const char *uid, bool yes)
{
    struct verified *verified = find_verified(controller, uid);

    if (yes && !verified) {
        verified = mem_alloc(sizeof *verified);
        verified->uid = mem_strdup(uid);
        HASH_ADD_KEYPTR(hh, controller->verified, verified->uid, strlen(uid), verified);
    } else if (!yes && verified) {
        HASH_DEL(controller->verified, verified);
        free(verified->uid);
        free(verified);
    }
}

void attachment_forget_verified(struct controller *controller)
{
    HASH_FOREACH(controller->verified, verified) {
        HASH_DEL(controller->verified, verified);
        free(verified->uid);
        free(verified);
    }
}

/* ---- gather ---- */

/* One attachment under work, and what the plan looks at. */
struct subject {
    struct controller *controller;
    struct kube_object *object; /* referenced */
    const Api__AzVolumeAttachment *attachment;
    const Api__AzVolume *volume;       /* NULL: there is none */
    struct kube_object *volume_object; /* referenced */
    char *instance_id;
    struct cloud_instance instance;
    struct attachment_snapshot in;
};

static void subject_fini(struct subject *subject)
{
    kube_object_unref(subject->object);
    kube_object_unref(subject->volume_object);
    cloud_instance_fini(&subject->instance);
    free(subject->instance_id);
}

static enum attachment_role role_of(const char *role)
{
    if (role && strcmp(role, ROLE_PRIMARY) == 0)
        return ROLE_IS_PRIMARY;
    return role && strcmp(role, ROLE_REPLICA) == 0 ? ROLE_IS_REPLICA : ROLE_NONE;
}

static enum attachment_role recorded_role(const Api__AzVolumeAttachment *attachment)
{
    const Api__AzVolumeAttachmentStatus *status = attachment->status;

    return status && status->detail ? role_of(status->detail->role) : ROLE_NONE;
}

static enum attachment_state state_of(const Api__AzVolumeAttachment *attachment)
{
    static const struct {
        const char *word;
        enum attachment_state state;
    } words[] = {{"Attaching", ATTACHMENT_ATTACHING},
                 {"AttachmentFailed", ATTACHMENT_ATTACHING},
                 {"Attached", ATTACHMENT_ATTACHED},
                 {"Detaching", ATTACHMENT_DETACHING},
                 {"DetachmentFailed", ATTACHMENT_DETACHING}};
    const char *word = attachment->status ? attachment->status->state : NULL;

    for (size_t i = 0; word && i < COUNT_OF(words); i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].state;
    return ATTACHMENT_NEW;
}

static int lun_of(const Api__AzVolumeAttachment *attachment)
{
    const Api__AzVolumeAttachmentDetail *detail =
        attachment->status ? attachment->status->detail : NULL;
    const char *lun =
        detail ? KUBE_MAP_GET(detail->publish__context, detail->n_publish__context, "LUN") : NULL;

    return lun ? (int)strtol(lun, NULL, 10) : NO_LUN;
}

static void gather_volume(struct subject *s)
{
    CLEANUP(freep)
    char *key = kube_key(s->controller->settings.namespace_, s->attachment->spec->volume_name);
    struct kube_object *object = store_get(s->controller->volumes, key);

    if (!object)
        return;
    s->volume_object = kube_object_ref(object);
    s->volume = as_volume(object);
    s->in.volume_ready = !is_deleting(object) && volume_is_created(s->volume);
}

/* The other attachments of the same volume. One that waits for its turn holds no share yet. */
static void gather_siblings(struct subject *s)
{
    size_t n;
    struct kube_object *const *objects =
        attachments_of_volume(s->controller, s->attachment->spec->volume_name, &n);

    bool single_writer = s->volume && !volume_is_multi_node(s->volume);

    for (size_t i = 0; i < n; i++) {
        const Api__AzVolumeAttachment *other = as_attachment(objects[i]);
        enum attachment_state state = state_of(other);

        if (objects[i] == s->object || strcmp(objects[i]->key, s->object->key) == 0)
            continue;
        s->in.other_shares += state != ATTACHMENT_NEW || lun_of(other) != NO_LUN;
        s->in.role_taken |= single_writer && recorded_role(other) == ROLE_IS_PRIMARY;
        if (!is_primary(other) || is_deleting(objects[i]))
            continue;
        if (state == ATTACHMENT_ATTACHED)
            s->in.primary_attached = true;
        else
            s->in.primary_waits = true;
    }
    LIST_FOREACH(&s->controller->claims, link) {
        const struct claim *claim = CONTAINER_OF(link, struct claim, link);

        if (strcmp(claim->volume, s->attachment->spec->volume_name) != 0)
            continue;
        s->in.other_shares += claim->lun != NO_LUN;
        s->in.role_taken |= single_writer && claim->primary;
    }
}

/* LUNs that other attachments on the node have on record or are about to. */
static void gather_luns(struct subject *s)
{
    const char *node = s->attachment->spec->node_name;
    size_t n;
    struct kube_object *const *objects = store_find(s->controller->attachments_by_node, node, &n);

    for (size_t i = 0; i < n; i++) {
        int lun = lun_of(as_attachment(objects[i]));

        if (strcmp(objects[i]->key, s->object->key) != 0 && lun >= 0 && lun < MAX_LUNS)
            s->in.luns_taken[lun] = true;
    }
    LIST_FOREACH(&s->controller->claims, link) {
        const struct claim *claim = CONTAINER_OF(link, struct claim, link);

        if (claim->lun != NO_LUN && strcmp(claim->node, node) == 0)
            s->in.luns_taken[claim->lun] = true;
    }
}

/* False if there is no such attachment any more, or it makes no sense. */
static bool gather(struct controller *controller, const char *key, struct subject *ret)
{
    struct kube_object *object = store_get(controller->attachments, key);

    if (!object)
        return false;
    *ret = (struct subject){.controller = controller};
    ret->object = kube_object_ref(object);
    ret->attachment = as_attachment(object);

    const Api__AzVolumeAttachmentSpec *spec = ret->attachment->spec;
    struct attachment_snapshot *in = &ret->in;
    if (!spec || !spec->volume_name || !spec->node_name || !spec->volume__id || !spec->role)
        return false;
    in->deleting = is_deleting(object);
    in->has_finalizer = kube_has_finalizer(object->metadata, FINALIZER_ATTACHMENT);
    in->wanted = role_of(spec->role);
    in->role = recorded_role(ret->attachment);
    in->state = state_of(ret->attachment);
    in->lun = lun_of(ret->attachment);
    in->detach_requested = attachment_note(ret->attachment, NOTE_DETACH_REQUEST) != NULL;
    in->node_exists = store_get(controller->nodes, spec->node_name) != NULL;
    in->verified = find_verified(controller, object->metadata->uid) != NULL;
    in->disk_id = spec->volume__id;
    gather_volume(ret);
    in->max_shares = ret->volume ? volume_max_shares(ret->volume) : 1;
    gather_siblings(ret);
    gather_luns(ret);
    return true;
}

/* ---- writing to the object ---- */

/* `status` is taken. The version makes it fail if anybody else has written meanwhile. */
static struct err *patch_status(struct task *self, struct subject *s, json_t *status)
{
    struct controller *controller = s->controller;
    CLEANUP(kube_object_unrefp) struct kube_object *written = NULL;
    CLEANUP(json_decrefp)
    json_t *patch = json_pack("{s:{s:s}, s:o}", "metadata", "resourceVersion",
                              s->object->metadata->resource_version, "status", status);

    TRY(kube_patch(self, controller->leader_kube, &AZ_VOLUME_ATTACHMENTS,
                   controller->settings.namespace_, s->object->metadata->name, "status", patch,
                   &written));
    store_note(controller->attachments, written);
    return NULL;
}

static struct err *patch_finalizers(struct task *self, struct subject *s, bool add)
{
    struct controller *controller = s->controller;
    const Api__ObjectMeta *metadata = s->object->metadata;
    CLEANUP(kube_object_unrefp) struct kube_object *written = NULL;
    json_t *finalizers = json_array();

    for (size_t i = 0; i < metadata->n_finalizers; i++)
        if (strcmp(metadata->finalizers[i], FINALIZER_ATTACHMENT) != 0)
            json_array_append_new(finalizers, json_string(metadata->finalizers[i]));
    if (add)
        json_array_append_new(finalizers, json_string(FINALIZER_ATTACHMENT));
    CLEANUP(json_decrefp)
    json_t *patch = json_pack("{s:{s:s, s:o}}", "metadata", "resourceVersion",
                              metadata->resource_version, "finalizers", finalizers);
    TRY(kube_patch(self, controller->leader_kube, &AZ_VOLUME_ATTACHMENTS,
                   controller->settings.namespace_, metadata->name, NULL, patch, &written));
    /* Without finalizers the object is gone; the watch says so. */
    if (add)
        store_note(controller->attachments, written);
    return NULL;
}

static json_t *detail_json(const struct subject *s, const char *previous_role, int lun)
{
    CLEANUP(freep) char *lun_text = mem_printf("%d", lun);
    CLEANUP(freep)
    char *size = mem_printf("%lld", (long long)s->volume->status->detail->capacity__bytes);

    return json_pack("{s:s, s:s, s:{s:s, s:s}}", "role", s->attachment->spec->role, "previous_role",
                     previous_role ? previous_role : "", "publish_context", "LUN", lun_text,
                     "diskSizeBytes", size);
}

static const char *current_role(const struct subject *s)
{
    const Api__AzVolumeAttachmentStatus *status = s->attachment->status;

    return status && status->detail ? status->detail->role : NULL;
}

/* A primary is told which file system its device must carry. */
static void add_filesystem(const struct subject *s, json_t *status)
{
    const char *filesystem = volume_note(s->volume, NOTE_FILESYSTEM);

    if (filesystem && s->in.wanted == ROLE_IS_PRIMARY)
        json_object_set_new(status, "annotation", json_pack("{s:s}", NOTE_FILESYSTEM, filesystem));
}

/* The same, while nobody else may record the LUN, or that it is the primary. */
static struct err *patch_claimed(struct task *self, struct subject *s, int lun, json_t *status)
{
    struct claim claim = {.node = s->attachment->spec->node_name,
                          .volume = s->attachment->spec->volume_name,
                          .lun = lun,
                          .primary = s->in.wanted == ROLE_IS_PRIMARY};

    list_append(&s->controller->claims, &claim.link);
    struct err *err = patch_status(self, s, status);
    list_remove(&claim.link);
    return err;
}

static struct err *record_attached(struct task *self, struct subject *s, int lun)
{
    const char *role = current_role(s);
    const char *previous = role && s->in.role != s->in.wanted ? role : NULL;
    json_t *status = json_pack("{s:s, s:o, s:n}", "state", "Attached", "detail",
                               detail_json(s, previous, lun), "error");

    add_filesystem(s, status);
    TRY(patch_claimed(self, s, NO_LUN, status));
    set_verified(s->controller, s->object->metadata->uid, true);
    return NULL;
}

static struct err *record_role(struct task *self, struct subject *s)
{
    json_t *status =
        json_pack("{s:o, s:n}", "detail", detail_json(s, current_role(s), s->in.lun), "error");

    add_filesystem(s, status);
    TRY(patch_claimed(self, s, NO_LUN, status));
    if (s->in.wanted == ROLE_IS_PRIMARY)
        events_record(s->controller->events, &AZ_VOLUME_ATTACHMENTS, s->object->metadata,
                      EVENT_NORMAL, "PromotedToPrimary", "Promote",
                      "disk %s was attached to %s already and is its primary attachment now",
                      s->attachment->spec->volume_name, s->attachment->spec->node_name);
    return NULL;
}

static struct err *record_attaching(struct task *self, struct subject *s, int lun)
{
    return patch_claimed(
        self, s, lun,
        json_pack("{s:s, s:o}", "state", "Attaching", "detail", detail_json(s, NULL, lun)));
}

static struct err *record_lost(struct task *self, struct subject *s)
{
    set_verified(s->controller, s->object->metadata->uid, false);
    events_record(s->controller->events, &AZ_VOLUME_ATTACHMENTS, s->object->metadata, EVENT_WARNING,
                  "DiskDetachedElsewhere", "Attach",
                  "disk %s is no longer attached to %s although nobody asked this driver to detach "
                  "it; attaching it again",
                  s->attachment->spec->volume_name, s->attachment->spec->node_name);
    return patch_status(self, s, json_pack("{s:s}", "state", "Pending"));
}

/* ---- carrying out ---- */

static struct err *look(struct task *self, struct subject *s, bool *ret_found)
{
    const char *node = s->attachment->spec->node_name;
    struct controller *controller = s->controller;
    struct kube_object *object = store_get(controller->nodes, node);
    const Api__Node *spec = object ? KUBE_AS(Api__Node, object) : NULL;

    if (!s->instance_id)
        TRY(controller->cloud->ops->instance_id(controller->cloud, node,
                                                spec && spec->spec ? spec->spec->provider_id : NULL,
                                                &s->instance_id));
    struct err *err = controller->cloud->ops->instance_get(self, controller->cloud, s->instance_id,
                                                           MODEL_AGE_MS, &s->instance);
    *ret_found = !err;
    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return NULL;
    }
    return err;
}

static struct err *attach(struct task *self, struct subject *s, int lun)
{
    struct cloud *cloud = s->controller->cloud;
    CLEANUP(volume_parameters_fini) struct volume_parameters parameters = {0};

    TRY(volume_parse_parameters(s->volume, &parameters));
    return cloud->ops->disk_attach(self, cloud, s->instance_id, s->in.disk_id, lun,
                                   parameters.caching);
}

/* Takes the step. `ret_go_on`: there may be another one right after it. */
static struct err *take_step(struct task *self, struct subject *s, struct attachment_plan plan,
                             bool *ret_go_on)
{
    struct controller *controller = s->controller;
    struct cloud *cloud = controller->cloud;

    *ret_go_on = true;
    switch (plan.step) {
    case STEP_NONE:
    case STEP_LOOK: /* done by the caller */
        *ret_go_on = false;
        return NULL;
    case STEP_LOOK_LATER:
        *ret_go_on = false;
        queue_add_at(controller->attachment_queue, s->object->key,
                     loop_now(controller->loop) + LOOK_AGAIN_MS);
        return NULL;
    case STEP_ADD_FINALIZER:
        return patch_finalizers(self, s, true);
    case STEP_REMOVE_FINALIZER:
        *ret_go_on = false;
        set_verified(controller, s->object->metadata->uid, false);
        return patch_finalizers(self, s, false);
    case STEP_RECORD_ATTACHING:
        return record_attaching(self, s, plan.lun);
    case STEP_ATTACH:
        return attach(self, s, plan.lun);
    case STEP_REPAIR:
        return cloud->ops->instance_repair(self, cloud, s->instance_id);
    case STEP_RECORD_ATTACHED:
        return record_attached(self, s, plan.lun);
    case STEP_RECORD_ROLE:
        return record_role(self, s);
    case STEP_RECORD_LOST:
        return record_lost(self, s);
    case STEP_VERIFIED:
        set_verified(controller, s->object->metadata->uid, true);
        return NULL;
    case STEP_RECORD_DETACHING:
        return patch_status(self, s, json_pack("{s:s, s:n}", "state", "Detaching", "error"));
    case STEP_DETACH:
        return cloud->ops->disk_detach(self, cloud, s->instance_id, s->in.disk_id);
    case STEP_NO_VM:
        return err_new(ERR_NOT_FOUND, "node %s has no VM (%s)", s->attachment->spec->node_name,
                       s->instance_id);
    case STEP_NO_SLOT:
        return err_new(ERR_EXHAUSTED, "node %s: all %d places for data disks are taken",
                       s->attachment->spec->node_name, s->instance.max_disks);
    }
    abort();
}

/* Passing troubles keep the state, so that whoever waits goes on waiting. */
static bool is_passing(const struct err *err)
{
    switch (err_kind(err)) {
    case ERR_BUSY:
    case ERR_CONFLICT:
    case ERR_THROTTLED:
    case ERR_TIMEOUT:
    case ERR_UNAVAILABLE:
        return true;
    default:
        return false;
    }
}

/* The failure becomes visible in the object; it is also returned, to be tried again as its kind
 * says. A failure to write it down is less important than the failure itself. */
static struct err *record_failure(struct task *self, struct subject *s, struct err *err)
{
    json_t *status = json_pack("{s:o}", "error", az_error_json(err));
    const char *state = s->in.deleting ? "DetachmentFailed" : "AttachmentFailed";

    if (err_kind(err) == ERR_CANCELED || err_kind(err) == ERR_CONFLICT) {
        json_decref(status);
        return err;
    }
    if (!is_passing(err))
        json_object_set_new(status, "state", json_string(state));
    else if (!s->attachment->status || !s->attachment->status->state)
        json_object_set_new(status, "state", json_string("Pending"));
    err_free(patch_status(self, s, status));
    return err;
}

static struct err *one_step(struct task *self, struct controller *controller, const char *key,
                            bool *ret_go_on)
{
    CLEANUP(subject_fini) struct subject s = {0};

    *ret_go_on = false;
    if (!gather(controller, key, &s))
        return NULL;

    struct attachment_plan plan = attachment_next(&s.in);
    struct err *err = NULL;
    if (plan.step == STEP_LOOK) {
        bool found = false;

        err = look(self, &s, &found);
        /* The look took time: the rest is gathered again, and decided without another yield. */
        struct subject fresh = {0};
        if (!err && gather(controller, key, &fresh)) {
            fresh.instance_id = TAKE_PTR(s.instance_id);
            fresh.instance = s.instance;
            s.instance = (struct cloud_instance){0};
            subject_fini(&s);
            s = fresh;
            s.in.looked = true;
            s.in.instance = found ? &s.instance : NULL;
            plan = attachment_next(&s.in);
        }
    }
    if (!err)
        err = take_step(self, &s, plan, ret_go_on);
    return err ? record_failure(self, &s, err) : NULL;
}

struct err *reconcile_attachment(struct task *self, void *ctx, const char *key)
{
    bool go_on = true;

    for (int i = 0; go_on && i < MAX_STEPS; i++)
        TRY(one_step(self, ctx, key, &go_on));
    return NULL;
}
