/* The recovery reconciler: writes again what Kubernetes knows of a volume and the custom resources
 * do not. The key is the AzVolume's, whether there is one or not. */

#include "controller/recovery/reconcile.h"

#include <stdlib.h>
#include <string.h>

#include "controller/attachment/snapshot.h"
#include "controller/attachment/unpublished.h"
#include "controller/cache/disk_pv.h"
#include "controller/cache/node_attachment.h"
#include "controller/cache/published.h"
#include "controller/cache/volume_name.h"
#include "controller/recovery/plan.h"
#include "controller/volume/adoption.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "lib/kube/pv_source.h"
#include "provisioner-lib/audit/cluster_view.h"

enum { MAX_STEPS = MAX_SHARES_LIMIT + 2 };

/* ---- whom a change concerns ---- */

static void enqueue_volume(struct controller *controller, const char *name)
{
    enqueue(controller, RECOVERY_QUEUE, name);
    enqueue(controller, REPLICA_QUEUE, name); /* what is in use is not collected */
}

void recovery_of_pv(struct controller *controller, const struct kube_object *pv)
{
    const Api__PersistentVolumeSpec *spec = KUBE_AS(Api__PersistentVolume, pv)->spec;
    CLEANUP(freep) char *name = volume_name_of_pv(controller, spec);

    if (name && pv_is_of_driver(spec, controller->settings.driver_name))
        enqueue_volume(controller, name);
}

void recovery_of_volume_attachment(struct controller *controller,
                                   const struct kube_object *volume_attachment)
{
    if (!volume_attachment_is_ours(controller, volume_attachment))
        return;
    CLEANUP(freep) char *name = volume_of_volume_attachment(controller, volume_attachment);
    if (name)
        enqueue_volume(controller, name);
}

void recovery_of_name(struct controller *controller, const char *volume_name)
{
    CLEANUP(freep) char *plain = volume_plain_name(controller, volume_name);
    size_t n;
    struct kube_object *const *found = pvs_of_name(controller, volume_name, &n);

    for (size_t i = 0; i < n; i++)
        recovery_of_pv(controller, found[i]);
    found = store_find(controller->volume_attachments_by_inline_disk, plain, &n);
    for (size_t i = 0; i < n; i++)
        recovery_of_volume_attachment(controller, found[i]);
}

void recovery_of_node(struct controller *controller, const char *node)
{
    size_t n;
    struct kube_object *const *found = store_find(controller->volume_attachments_by_node, node, &n);

    for (size_t i = 0; i < n; i++)
        recovery_of_volume_attachment(controller, found[i]);
}

void recovery_of_all(struct controller *controller)
{
    STORE_FOREACH(controller->persistent_volumes, pv)
        recovery_of_pv(controller, pv);
    STORE_FOREACH(controller->volume_attachments, volume_attachment)
        recovery_of_volume_attachment(controller, volume_attachment);
}

/* ---- gather ---- */

struct view {
    struct controller *controller;
    const char *name;                        /* of the AzVolume */
    struct kube_object *pv, *volume;         /* referenced; NULL: there is none */
    struct kube_object **volume_attachments; /* referenced; beside the nodes */
    struct kube_object **attachments;        /* the same; NULL where there is none */
    struct recovery_node *nodes;
    struct kube_object **other_attachments; /* referenced; beside the others */
    struct publish_standing *others;
    struct recovery_snapshot in;
};

static void view_fini(struct view *s)
{
    for (size_t i = 0; i < s->in.n_nodes; i++) {
        kube_object_unref(s->volume_attachments[i]);
        kube_object_unref(s->attachments[i]);
    }
    for (size_t i = 0; i < s->in.n_others; i++)
        kube_object_unref(s->other_attachments[i]);
    free(s->volume_attachments);
    free(s->attachments);
    free(s->nodes);
    free(s->other_attachments);
    free(s->others);
    kube_object_unref(s->volume);
    kube_object_unref(s->pv);
}

static enum recovery_volume volume_of(const struct kube_object *object)
{
    if (!object)
        return RECOVERY_NO_VOLUME;
    if (kube_is_deleting(object->metadata))
        return RECOVERY_VOLUME_DELETING;
    return volume_is_created(as_volume(object)) ? RECOVERY_VOLUME_READY : RECOVERY_VOLUME_UNREADY;
}

static void add_node(struct view *s, struct kube_object *object)
{
    struct controller *controller = s->controller;
    const char *node = as_volume_attachment(object)->spec->node_name;
    struct kube_object *attachment = node_attachment(controller, s->name, node);
    size_t n = s->in.n_nodes, beside = n;

    ARRAY_ADD(s->volume_attachments, n) = kube_object_ref(object);
    n = beside;
    ARRAY_ADD(s->attachments, n) = attachment ? kube_object_ref(attachment) : NULL;
    ARRAY_ADD(s->nodes, s->in.n_nodes) = (struct recovery_node){
        .attached = volume_attachment_is_attached(object),
        .leaving = kube_is_deleting(object->metadata),
        .node_exists = store_get(controller->nodes, node) != NULL,
        .standing = attachment_standing_of(controller, attachment),
        .detach_requested = attachment && attachment_annotation(as_attachment(attachment),
                                                                ANNOTATION_DETACH_REQUEST) != NULL,
    };
}

static void add_other(struct view *s, struct kube_object *attachment)
{
    size_t n = s->in.n_others;

    for (size_t i = 0; i < s->in.n_nodes; i++)
        if (s->attachments[i] == attachment)
            return;
    ARRAY_ADD(s->other_attachments, n) = kube_object_ref(attachment);
    ARRAY_ADD(s->others, s->in.n_others) = attachment_standing_of(s->controller, attachment);
}

/* False if Kubernetes has no such volume. */
static bool gather(struct controller *controller, const char *key, struct view *s)
{
    const char *name = strchr(key, '/') + 1;
    struct kube_object *pv = kubernetes_pv(controller, name);
    struct kube_object *volume = store_get(controller->volumes, key);
    size_t n, n_attachments;
    CLEANUP(freep)
    struct kube_object **volume_attachments = volume_attachments_of(controller, name, &n);
    struct kube_object *const *attachments =
        attachments_of_volume(controller, name, &n_attachments);

    *s = (struct view){.controller = controller, .name = name};
    if (!pv && n == 0)
        return false;
    s->pv = pv ? kube_object_ref(pv) : NULL;
    s->volume = volume ? kube_object_ref(volume) : NULL;
    s->in.bound = pv && pv_is_bound(pv);
    s->in.volume = volume_of(volume);
    s->in.single_writer = volume && !volume_is_multi_node(as_volume(volume));
    for (size_t i = 0; i < n; i++)
        add_node(s, volume_attachments[i]);
    for (size_t i = 0; i < n_attachments; i++)
        add_other(s, attachments[i]);
    s->in.nodes = s->nodes;
    s->in.others = s->others;
    return true;
}

/* ---- is it still so ---- */

static bool still_holds(enum recovery_step step, const struct kube_object *now)
{
    switch (step) {
    case RECOVERY_WRITE_VOLUME:
        return pv_is_bound(now);
    case RECOVERY_WRITE_ATTACHED_VOLUME:
        return volume_attachment_is_attached(now);
    case RECOVERY_DEMOTE:
        return !kube_is_deleting(now->metadata);
    default:
        return volume_attachment_is_attached(now) && !kube_is_deleting(now->metadata);
    }
}

/* The cache may be behind: an unpublish, or a deletion, begins with what is asked for here. */
static struct err *is_true_now(struct task *self, struct view *s, const struct recovery_plan *plan,
                               bool *ret)
{
    bool claim = plan->step == RECOVERY_WRITE_VOLUME;
    const struct kube_object *seen = claim ? s->pv : s->volume_attachments[plan->node];
    CLEANUP(kube_object_unrefp) struct kube_object *now = NULL;
    struct err *err = kube_get(self, s->controller->leader_kube,
                               claim ? &PERSISTENT_VOLUMES : &VOLUME_ATTACHMENTS, NULL,
                               seen->metadata->name, &now);

    *ret = !err && strcmp(now->metadata->uid, seen->metadata->uid) == 0 &&
           still_holds(plan->step, now);
    TRY(err_unless(err, ERR_NOT_FOUND));
    if (!*ret || plan->step != RECOVERY_DEMOTE)
        return NULL;
    return unpublished_read(self, s->controller, s->other_attachments[plan->other], ret);
}

/* ---- steps ---- */

/* Where there is no PersistentVolume, node `n` has the volume of a pod that names the disk. */
static struct err *write_volume(struct task *self, struct view *s, size_t n)
{
    struct controller *controller = s->controller;
    const struct kube_object *of = s->pv ? s->pv : s->volume_attachments[n];
    struct adoption adoption =
        adoption_of_pv(s->pv ? KUBE_AS(Api__PersistentVolume, of)->spec
                             : as_volume_attachment(of)->spec->source->inline_volume_spec);
    CLEANUP(freep) struct parameter *parameters = adoption.parameters;
    CLEANUP(kube_object_unrefp) struct kube_object *written = NULL;

    (void)parameters;
    TRY(adoption_write(self, controller, controller->leader_kube, &adoption, &written));
    events_record(
        controller->events, &AZ_VOLUMES, written->metadata, EVENT_NORMAL, "Adopted", "Recover",
        "This AzVolume was created because the volume of %s %s had none; its disk is %s",
        s->pv ? "PersistentVolume" : "VolumeAttachment", of->metadata->name, adoption.volume_id);
    return NULL;
}

/* As a replica, which is promoted after another look. A new object cannot be written under the
 * condition that Kubernetes has the volume there still; what an unpublish marks as demoted is not
 * promoted any more. */
static struct err *write_attachment(struct task *self, struct view *s, size_t n)
{
    struct controller *controller = s->controller;
    const char *node = as_volume_attachment(s->volume_attachments[n])->spec->node_name;
    CLEANUP(kube_object_unrefp) struct kube_object *created = NULL;

    TRY(node_attachment_create(self, controller, controller->leader_kube, as_volume(s->volume),
                               node, for_replica(), &created));
    events_record(controller->events, &AZ_VOLUME_ATTACHMENTS, created->metadata, EVENT_NORMAL,
                  "Recovered", "Recover",
                  "This AzVolumeAttachment was created because Kubernetes has volume %s published "
                  "to node %s, but there was no record of it",
                  s->name, node);
    return NULL;
}

/* In the way in which csi-attacher publishes it. */
static struct attachment_purpose purpose_of(const struct view *s, size_t n)
{
    const Api__VolumeAttachmentSource *source =
        as_volume_attachment(s->volume_attachments[n])->spec->source;

    return for_publish(pv_is_read_only(s->pv    ? KUBE_AS(Api__PersistentVolume, s->pv)->spec
                                       : source ? source->inline_volume_spec
                                                : NULL));
}

static struct err *promote(struct task *self, struct view *s, size_t n)
{
    const struct kube_object *attachment = s->attachments[n];

    return cached_patch(self, s->controller->leader_kube, s->controller->attachments, attachment,
                        if_unchanged(attachment, attachment_role_json(purpose_of(s, n))), NULL);
}

static struct err *keep(struct task *self, struct view *s, const struct kube_object *attachment)
{
    json_t *changes = json_pack("{s:{s:{s:n}}}", "status", "annotation", ANNOTATION_DETACH_REQUEST);

    return cached_patch_status(self, s->controller->leader_kube, s->controller->attachments,
                               attachment, if_unchanged(attachment, changes), NULL);
}

static struct err *take_step(struct task *self, struct view *s, const struct recovery_plan *plan)
{
    switch (plan->step) {
    case RECOVERY_NONE:
        return NULL;
    case RECOVERY_WRITE_VOLUME:
    case RECOVERY_WRITE_ATTACHED_VOLUME:
        return write_volume(self, s, plan->node);
    case RECOVERY_WRITE_ATTACHMENT:
        return write_attachment(self, s, plan->node);
    case RECOVERY_PROMOTE:
        return promote(self, s, plan->node);
    case RECOVERY_KEEP:
        return keep(self, s, s->attachments[plan->node]);
    case RECOVERY_DEMOTE:
        return unpublished_demote(
            self, s->controller, s->other_attachments[plan->other],
            as_volume_attachment(s->volume_attachments[plan->node])->spec->node_name);
    }
    abort();
}

static struct err *one_step(struct task *self, struct controller *controller, const char *key,
                            bool *ret_go_on)
{
    CLEANUP(view_fini) struct view s = {0};

    *ret_go_on = false;
    if (!gather(controller, key, &s))
        return NULL;
    struct recovery_plan plan = recovery_decide(&s.in);
    if (plan.step == RECOVERY_NONE)
        return NULL;
    TRY(is_true_now(self, &s, &plan, ret_go_on));
    if (!*ret_go_on)
        return NULL; /* the watch will say what is so instead */
    struct err *err = take_step(self, &s, &plan);
    if (!err || err_kind(err) != ERR_EXISTS)
        return err;
    err_free(err); /* the cache was behind */
    *ret_go_on = false;
    return NULL;
}

struct err *reconcile_recovery(struct task *self, void *ctx, const char *key)
{
    bool go_on = true;

    for (int i = 0; go_on && i < MAX_STEPS; i++)
        TRY(one_step(self, ctx, key, &go_on));
    return NULL;
}
