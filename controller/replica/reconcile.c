/* The replica reconciler: keeps the replicas of a volume as replica/plan.h wants them, and has them
 * collected (replica/gc.h) when nobody uses it. The key is the AzVolume's. */

#include <string.h>

#include "controller/cache/colocation.h"
#include "controller/cache/informers.h"
#include "controller/cache/node_attachment.h"
#include "controller/replica/gc.h"
#include "controller/replica/snapshot.h"
#include "controller/replica/unschedulable.h"
#include "controller/scheduling/node_info.h"
#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "provisioner-lib/records/names.h"

/* ---- carry out ---- */

static struct err *create_replica(struct task *self, struct controller *controller,
                                  const Api__AzVolume *volume, const char *node)
{
    struct assumed_attachment assumed = {.volume = volume->metadata->name, .node = node};

    node_infos_assume(controller->node_infos, &assumed);
    struct err *err = node_attachment_create(self, controller, controller->leader_kube, volume,
                                             node, ROLE_REPLICA, NULL);
    node_infos_forget(controller->node_infos, &assumed);
    return err;
}

static struct err *carry_out(struct task *self, struct controller *controller,
                             const Api__AzVolume *volume, const struct replica_view *view,
                             const struct replica_plan *plan)
{
    for (size_t i = 0; i < plan->n_release; i++) /* not if it was promoted meanwhile */
        TRY(kube_delete_unchanged(self, controller->leader_kube, &AZ_VOLUME_ATTACHMENTS,
                                  view->objects[plan->release[i]]));
    for (size_t i = 0; i < plan->n_attach; i++) {
        struct err *err =
            create_replica(self, controller, volume, view->targets[plan->attach[i]].node);

        if (err && err_kind(err) != ERR_EXISTS)
            return err;
        err_free(err);
    }
    return NULL;
}

/* ---- decide ---- */

static void decide(const struct replica_view *view, struct replica_plan *plan)
{
    replica_decide(
        &(struct replica_snapshot){
            .attachments = view->attachments,
            .n_attachments = view->n_attachments,
            .targets = view->targets,
            .n_targets = view->n_targets,
            .wanted = view->wanted,
            .may_attach = view->primary_attached,
            .max_shares = view->max_shares,
        },
        plan);
}

/* The pod's other volumes have to move first. They are asked to once: two that wait for each other
 * would ask each other for ever. */
static void wait_for_slots(struct controller *controller, const struct kube_object *object,
                           const struct replica_view *view)
{
    struct buffer nodes;

    buffer_init(&nodes, SIZE_MAX);
    for (size_t i = 0; i < view->n_targets; i++)
        if (!view->targets[i].has_slot)
            buffer_printf(&nodes, " %s", view->targets[i].node);
    CLEANUP(freep) char *text = buffer_take(&nodes);
    if (unschedulable_add(controller, object, text))
        colocation_requeue(controller, object->metadata->name);
}

/* Who waits for a place is remembered, and told why. */
static void note_shortfall(struct controller *controller, const struct kube_object *object,
                           const struct replica_view *view, const struct replica_plan *plan)
{
    if (plan->shortfall == REPLICAS_NO_NODE)
        unschedulable_report(controller, object, view->why ? view->why : "");
    else if (plan->shortfall == REPLICAS_WAIT_SLOT)
        wait_for_slots(controller, object, view);
    else if (plan->shortfall == REPLICAS_COMPLETE)
        unschedulable_remove(controller, object->key);
}

struct err *reconcile_replicas(struct task *self, void *ctx, const char *key)
{
    struct controller *controller = ctx;
    struct kube_object *found = store_get(controller->volumes, key);
    CLEANUP(replica_view_fini) struct replica_view view = {0};
    struct replica_plan plan;
    bool published;

    if (!found || kube_is_deleting(found->metadata) || !volume_is_created(as_volume(found))) {
        unschedulable_remove(controller, key);
        return NULL; /* the volume's own reconciler takes care of its attachments */
    }
    CLEANUP(kube_object_unrefp) struct kube_object *object = kube_object_ref(found);

    TRY(replica_gc_run(self, controller, object, &published));
    if (store_get(controller->volumes, key) != object)
        return NULL; /* it changed meanwhile, and will be looked at again */
    if (!published) {
        unschedulable_remove(controller, key);
        return NULL;
    }
    if (!informers_has_pods(controller))
        return NULL; /* all volumes are looked at when they are known (leader.c) */
    replica_view_gather(controller, object, &view);
    replica_view_place(controller, object, &view);
    decide(&view, &plan);
    note_shortfall(controller, object, &view, &plan);
    return carry_out(self, controller, as_volume(object), &view, &plan);
}
