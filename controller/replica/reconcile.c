/* The replica reconciler: keeps a volume's replicas as replica/plan.h decides, and lets
 * replica/gc.h collect them when nothing uses the volume. The key is the AzVolume's. */

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
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/names.h"

/* ---- carry out ---- */

static struct err *create_replica(struct task *self, struct controller *controller,
                                  const Api__AzVolume *volume, const char *node)
{
    struct assumed_attachment assumed = {.volume = volume->metadata->name, .node = node};

    node_infos_assume(controller->node_infos, &assumed);
    struct err *err = node_attachment_create(self, controller, controller->leader_kube, volume,
                                             node, for_replica(), NULL);
    node_infos_forget(controller->node_infos, &assumed);
    return err;
}

static struct err *carry_out(struct task *self, struct controller *controller,
                             const Api__AzVolume *volume, const struct replica_work *work,
                             const struct replica_plan *plan)
{
    for (size_t i = 0; i < plan->n_release; i++) /* fails if it has been promoted in the meantime */
        TRY(cached_delete(self, controller->leader_kube, controller->attachments,
                          work->objects[plan->release[i]]));
    for (size_t i = 0; i < plan->n_attach; i++) {
        struct err *err =
            create_replica(self, controller, volume, work->targets[plan->attach[i]].node);

        if (err && err_kind(err) != ERR_EXISTS)
            return err;
        err_free(err);
    }
    return NULL;
}

/* ---- decide ---- */

static void decide(const Api__AzVolume *volume, const struct replica_work *work,
                   struct replica_plan *plan)
{
    replica_decide(
        &(struct replica_snapshot){
            .attachments = work->attachments,
            .n_attachments = work->n_attachments,
            .targets = work->targets,
            .n_targets = work->n_targets,
            .wanted = work->wanted,
            .may_attach = work->primary_attached,
            .copying = volume_percent(volume) < 100,
            .max_shares = work->max_shares,
        },
        plan);
}

/* The pod's other volumes have to move first. They are requeued only once: two volumes that wait
 * for each other would otherwise requeue each other forever. */
static void wait_for_slots(struct controller *controller, const struct kube_object *object,
                           const struct replica_work *work)
{
    struct buffer nodes;

    buffer_init(&nodes, SIZE_MAX);
    for (size_t i = 0; i < work->n_targets; i++)
        if (!work->targets[i].has_slot)
            buffer_printf(&nodes, " %s", work->targets[i].node);
    CLEANUP(freep) char *text = buffer_take(&nodes);
    if (unschedulable_add(controller, object, text))
        colocation_requeue(controller, object->metadata->name);
}

static void wait_for_copy(struct controller *controller, const struct kube_object *object,
                          const struct replica_work *work)
{
    const Api__AzVolume *volume = as_volume(object);

    if (unschedulable_add(controller, object, "copy"))
        events_record(controller->events, &AZ_VOLUMES, object->metadata, EVENT_NORMAL,
                      "ReplicasWaitForCopy", "PlacingReplica",
                      "Azure is still copying data to disk %s, and %d %% is done. The volume's %u "
                      "replicas are attached when all is; until then, the disk cannot grow either",
                      volume->status->detail->volume__id, volume_percent(volume), work->wanted);
}

/* Remembers a volume that waits for a place, and reports why it waits. */
static void note_shortfall(struct controller *controller, const struct kube_object *object,
                           const struct replica_work *work, const struct replica_plan *plan)
{
    if (plan->shortfall == REPLICAS_NO_NODE)
        unschedulable_report(controller, object, work->why ? work->why : "");
    else if (plan->shortfall == REPLICAS_WAIT_COPY)
        wait_for_copy(controller, object, work);
    else if (plan->shortfall == REPLICAS_WAIT_SLOT)
        wait_for_slots(controller, object, work);
    else if (plan->shortfall == REPLICAS_COMPLETE)
        unschedulable_remove(controller, object->key);
}

struct err *reconcile_replicas(struct task *self, void *ctx, const char *key)
{
    struct controller *controller = ctx;
    struct kube_object *found = store_get(controller->volumes, key);
    CLEANUP(replica_work_fini) struct replica_work work = {0};
    struct replica_plan plan;
    bool published;

    if (!found || kube_is_deleting(found->metadata) || !volume_is_created(as_volume(found))) {
        unschedulable_remove(controller, key);
        return NULL; /* the volume's own reconciler takes care of its attachments */
    }
    CLEANUP(kube_object_unrefp) struct kube_object *object = kube_object_ref(found);

    TRY(replica_gc_run(self, controller, object, &published));
    if (store_get(controller->volumes, key) != object)
        return NULL; /* it has changed in the meantime, and is queued again */
    if (!published) {
        unschedulable_remove(controller, key);
        return NULL;
    }
    if (!informers_has_pods(controller))
        return NULL; /* leader.c queues all volumes as soon as Pods have been read */
    replica_work_gather(controller, object, &work);
    replica_work_place(controller, object, &work);
    decide(as_volume(object), &work, &plan);
    note_shortfall(controller, object, &work, &plan);
    return carry_out(self, controller, as_volume(object), &work, &plan);
}
