#include "controller/replica/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "controller/cache/colocation.h"
#include "controller/cache/published.h"
#include "controller/cache/volume_in_use.h"
#include "controller/replica/node_selector.h"
#include "controller/scheduling/node_filter.h"
#include "controller/scheduling/node_info.h"
#include "lib/base/alloc.h"
#include "lib/kube/pod_claim.h"
#include "provisioner-lib/records/names.h"

void replica_view_fini(struct replica_view *view)
{
    for (size_t i = 0; i < view->n_attachments; i++)
        kube_object_unref(view->objects[i]);
    for (size_t i = 0; i < view->n_targets; i++)
        free(view->target_nodes[i]);
    free(view->why);
}

static bool is_attached(const Api__AzVolumeAttachment *attachment)
{
    return strcmp(attachment_state(attachment), STATE_ATTACHED) == 0;
}

void replica_view_gather(const struct controller *controller, const struct kube_object *volume,
                         struct replica_view *ret)
{
    size_t n;
    struct kube_object *const *objects =
        attachments_of_volume(controller, volume->metadata->name, &n);

    *ret = (struct replica_view){0};
    for (size_t i = 0; i < n && ret->n_attachments < MAX_ATTACHMENTS; i++) {
        const Api__AzVolumeAttachment *attachment = as_attachment(objects[i]);
        bool leaving = kube_is_deleting(objects[i]->metadata);
        bool primary = attachment_wants(attachment, ROLE_PRIMARY) && !leaving;
        bool published = primary || (!leaving && kubernetes_has_replica(controller, attachment));

        if (!attachment->spec || !attachment->spec->node_name)
            continue;
        ret->has_primary |= primary;
        ret->primary_attached |= primary && is_attached(attachment);
        ret->objects[ret->n_attachments] = kube_object_ref(objects[i]);
        ret->attachments[ret->n_attachments++] =
            (struct replica_attachment){.node = attachment->spec->node_name,
                                        .primary = published,
                                        .leaving = leaving,
                                        .attached = is_attached(attachment)};
    }
}

/* ---- what a pod allows ---- */

struct pod_judge {
    struct node_filter *filter;
    const Api__NodeSelector **volumes;
    size_t n_volumes;
};

/* All that one decision looks at. */
struct scene {
    const struct controller *controller;
    struct colocation group;
    struct pod_judge *judges; /* of the group's pods; of no pod if there are none */
    size_t n_judges;

    struct replica_selector selectors[MAX_COLOCATED_VOLUMES];
    struct placement_volume volumes[MAX_COLOCATED_VOLUMES];
    struct placement_hold holds[MAX_COLOCATED_VOLUMES][MAX_ATTACHMENTS];
    char *zones[MAX_COLOCATED_VOLUMES];
    size_t own; /* index of the volume that all is about */

    struct placement_node *nodes; /* beside the node table's rows */
    struct placement *found;
};

static void scene_free(struct scene *scene)
{
    if (!scene)
        return;
    for (size_t i = 0; i < scene->n_judges; i++) {
        node_filter_free(scene->judges[i].filter);
        free(scene->judges[i].volumes);
    }
    for (size_t v = 0; v < scene->group.n_volumes; v++) {
        replica_selector_fini(&scene->selectors[v]);
        free(scene->zones[v]);
    }
    free(scene->judges);
    free(scene->nodes);
    free(scene->found);
    free(scene);
}
DEFINE_CLEANUP(struct scene, scene_free)

static void add_volume_topologies(const struct controller *controller, const Api__Pod *pod,
                                  struct pod_judge *judge)
{
    for (size_t i = 0; pod->spec && i < pod->spec->n_volumes; i++) {
        CLEANUP(freep) char *claim = pod_claim_key(pod, pod->spec->volumes[i]);
        size_t n = 0;
        struct kube_object *const *found = claim ? volumes_of_claim(controller, claim, &n) : NULL;

        for (size_t k = 0; k < n; k++) {
            const Api__PersistentVolumeSpec *spec = KUBE_AS(Api__PersistentVolume, found[k])->spec;

            if (spec->node_affinity && spec->node_affinity->required)
                ARRAY_ADD(judge->volumes, judge->n_volumes) = spec->node_affinity->required;
        }
    }
}

static void add_judge(struct scene *scene, const Api__Pod *pod)
{
    const struct controller *controller = scene->controller;
    const struct surroundings surroundings = {
        .nodes = controller->nodes,
        .namespaces = controller->namespaces,
        .pods_by_label = controller->pods_by_label,
        .repelling_pods = controller->repelling_pods,
    };
    const char *name = pod && pod->spec ? pod->spec->node_name : NULL;
    const struct kube_object *home = name ? store_get(controller->nodes, name) : NULL;
    struct pod_judge *judge = &ARRAY_ADD(scene->judges, scene->n_judges);

    *judge = (struct pod_judge){0};
    if (pod)
        add_volume_topologies(controller, pod, judge);
    judge->filter = node_filter_new(pod, home ? KUBE_AS(Api__Node, home) : NULL, judge->volumes,
                                    judge->n_volumes, &surroundings);
}

/* A node that one of the volumes does not allow is of no use to the others either: its pod would
 * wait there for that one. */
static bool is_selected(const struct scene *scene, const Api__Node *node)
{
    for (size_t v = 0; v < scene->group.n_volumes; v++)
        if (!replica_selector_allows(&scene->selectors[v], node))
            return false;
    return true;
}

/* Pods that share a node have all to be allowed on another one; of pods on several, one is enough
 * to make a replica there useful. */
static enum unschedulable_reason judge(const struct scene *scene, const struct node_info *row)
{
    enum unschedulable_reason first = UNSCHEDULABLE_NONE;

    if (!row->node)
        return UNSCHEDULABLE_NOT_READY;
    if (!is_selected(scene, KUBE_AS(Api__Node, row->node)))
        return UNSCHEDULABLE_REPLICA_SELECTOR;
    for (size_t i = 0; i < scene->n_judges; i++) {
        enum unschedulable_reason reason =
            node_filter_check(scene->judges[i].filter, KUBE_AS(Api__Node, row->node));

        if (reason && !scene->group.shared)
            return reason;
        if (!reason && scene->group.shared)
            return UNSCHEDULABLE_NONE;
        first = first ? first : reason;
    }
    return first;
}

static int preference(const struct scene *scene, const struct node_info *row)
{
    int sum = 0;

    for (size_t i = 0; i < scene->n_judges; i++)
        sum += node_filter_score(scene->judges[i].filter, KUBE_AS(Api__Node, row->node));
    return sum;
}

/* ---- volumes ---- */

/* A pod has come to where a replica is: whatever its constraints say by now, it is about to be
 * promoted. */
static bool has_pod(const struct scene *scene, const struct node_info *row)
{
    for (size_t i = 0; i < scene->group.n_pods; i++) {
        const Api__PodSpec *spec = scene->group.pods[i]->spec;

        if (spec && spec->node_name && strcmp(spec->node_name, row->name) == 0)
            return true;
    }
    return false;
}

static bool is_useful(const struct scene *scene, const struct node_info *row, const char *zone)
{
    bool zone_fits = zone[0] == '\0' || strcmp(zone, row->zone) == 0;

    return zone_fits && !node_info_is_unreachable(scene->controller->node_infos, row) &&
           (has_pod(scene, row) || judge(scene, row) == UNSCHEDULABLE_NONE);
}

static void gather_holds(struct scene *scene, size_t v)
{
    const struct controller *controller = scene->controller;
    struct placement_volume *volume = &scene->volumes[v];
    size_t n;
    struct kube_object *const *objects =
        attachments_of_volume(controller, scene->group.volumes[v]->metadata->name, &n);

    volume->holds = scene->holds[v];
    for (size_t i = 0; i < n && volume->n_holds < MAX_ATTACHMENTS; i++) {
        const Api__AzVolumeAttachment *attachment = as_attachment(objects[i]);
        bool leaving = kube_is_deleting(objects[i]->metadata);
        bool primary = attachment_wants(attachment, ROLE_PRIMARY) && !leaving;

        if (!attachment->spec || !attachment->spec->node_name)
            continue;
        const struct node_info *row =
            node_infos_find(controller->node_infos, attachment->spec->node_name);
        scene->holds[v][volume->n_holds++] = (struct placement_hold){
            .node = row->index, /* attachments have given it a row */
            .primary = primary,
            .leaving = leaving,
            .useful = !primary && !leaving && is_useful(scene, row, volume->zone),
        };
    }
}

/* What another task is making at this moment counts as if it were there. */
static void gather_assumed(struct scene *scene, size_t v)
{
    const struct node_infos *table = scene->controller->node_infos;
    struct placement_volume *volume = &scene->volumes[v];
    const char *name = scene->group.volumes[v]->metadata->name;
    const struct assumed_attachment *assumed = NULL;

    while ((assumed = node_infos_next_assumed(table, assumed)))
        if (strcmp(assumed->volume, name) == 0 && volume->n_holds < MAX_ATTACHMENTS)
            scene->holds[v][volume->n_holds++] = (struct placement_hold){
                .node = node_infos_find(table, assumed->node)->index, .useful = true};
}

static unsigned wish_of(const Api__AzVolume *volume)
{
    int wish = volume->spec->max_mount_replica_count;

    return wish > 0 ? (unsigned)wish : 0;
}

static void gather_volume(struct scene *scene, size_t v)
{
    const Api__AzVolume *volume = as_volume(scene->group.volumes[v]);
    struct placement_volume *ret = &scene->volumes[v];
    unsigned primaries = 0;

    scene->zones[v] = volume_zone(volume, scene->controller->settings.driver_name);
    ret->zone = scene->zones[v];
    gather_holds(scene, v);
    gather_assumed(scene, v);
    for (size_t i = 0; i < ret->n_holds; i++)
        primaries += ret->holds[i].primary;
    ret->wanted =
        replicas_wanted(wish_of(volume), primaries ? primaries : 1, volume_max_shares(volume));
}

/* ---- is there anything to be done? ---- */

static bool has_replica_on(const struct placement_volume *volume, size_t node)
{
    for (size_t i = 0; i < volume->n_holds; i++)
        if (volume->holds[i].node == node)
            return volume->holds[i].useful;
    return false;
}

static unsigned count_useful(const struct placement_volume *volume)
{
    unsigned n = 0;

    for (size_t i = 0; i < volume->n_holds; i++)
        n += volume->holds[i].useful;
    return n;
}

/* All that are wanted are there, with nobody's replicas but where the others have theirs. That is
 * so nearly always, and spares a look at all nodes. */
static bool is_settled(const struct scene *scene)
{
    const struct placement_volume *own = &scene->volumes[scene->own];

    for (size_t v = 0; v < scene->group.n_volumes; v++) {
        const struct placement_volume *volume = &scene->volumes[v];
        unsigned together = 0, useful = count_useful(volume);

        for (size_t i = 0; i < volume->n_holds; i++) {
            const struct placement_hold *hold = &volume->holds[i];

            if (v == scene->own && !hold->primary && !hold->leaving && !hold->useful)
                return false;
            together += hold->useful && has_replica_on(own, hold->node);
        }
        unsigned fewer = own->wanted < volume->wanted ? own->wanted : volume->wanted;
        if (useful != volume->wanted || together != fewer)
            return false;
    }
    return true;
}

/* ---- nodes ---- */

/* A node that comes back has its pods' volumes mounted until it has ended them. Their disks were
 * detached meanwhile, and must not come to be under those mounts again. */
static bool is_still_used(const struct scene *scene, const struct node_info *row)
{
    const char *driver_name = scene->controller->settings.driver_name;

    for (size_t v = 0; v < scene->group.n_volumes; v++) {
        const Api__AzVolume *volume = as_volume(scene->group.volumes[v]);

        if (volume_is_created(volume) &&
            volume_in_use_of(row->node, NULL, driver_name, volume->status->detail->volume__id) ==
                VOLUME_IN_USE_MOUNTED)
            return true;
    }
    return false;
}

static enum unschedulable_reason refusal_of(const struct scene *scene, const struct node_info *row)
{
    if (!node_info_is_ready(scene->controller->node_infos, row))
        return UNSCHEDULABLE_NOT_READY;
    enum unschedulable_reason reason = judge(scene, row);
    return !reason && is_still_used(scene, row) ? UNSCHEDULABLE_IN_USE : reason;
}

static void gather_nodes(struct scene *scene)
{
    const struct node_infos *table = scene->controller->node_infos;
    size_t n = node_infos_count(table);

    scene->nodes = mem_alloc(n * sizeof *scene->nodes);
    for (size_t i = 0; i < n; i++) {
        const struct node_info *row = node_infos_at(table, i);
        enum unschedulable_reason reason = refusal_of(scene, row);

        scene->nodes[i] = (struct placement_node){
            .name = row->name,
            .zone = row->zone,
            .fault_domain = row->fault_domain,
            .pool = row->pool,
            .spot = row->spot,
            .reason = reason,
            .preference = reason ? 0 : preference(scene, row),
            .free_slots = node_info_free_slots(row),
            .load = row->primaries,
        };
    }
    /* The pod is there. */
    for (size_t v = 0; v < scene->group.n_volumes; v++)
        for (size_t i = 0; i < scene->volumes[v].n_holds; i++)
            if (scene->holds[v][i].primary)
                scene->nodes[scene->holds[v][i].node].reason = UNSCHEDULABLE_HAS_ATTACHMENT;
}

/* ---- the answer ---- */

static void add_target(struct replica_view *view, const struct node_info *row, bool has_slot)
{
    char *name = mem_strdup(row->name);

    view->target_nodes[view->n_targets] = name;
    view->targets[view->n_targets++] = (struct replica_target){name, has_slot};
}

static void stay_where_they_are(const struct scene *scene, struct replica_view *view)
{
    const struct placement_volume *own = &scene->volumes[scene->own];

    for (size_t i = 0; i < own->n_holds; i++)
        if (own->holds[i].useful)
            add_target(view, node_infos_at(scene->controller->node_infos, own->holds[i].node),
                       true);
}

static void explain(const struct placement_snapshot *in, const struct scene *scene,
                    struct replica_view *view)
{
    struct unschedulable_reasons reasons;
    unsigned missing = view->wanted - (unsigned)view->n_targets;

    placement_explain(in, scene->found, scene->own, &reasons);
    CLEANUP(freep) char *text = unschedulable_reasons_text(&reasons);
    const struct err *unreadable = scene->selectors[scene->own].unreadable;
    view->why = mem_printf("%u of %u replicas of volume %s cannot be placed: %s%s%s", missing,
                           view->wanted, scene->group.volumes[scene->own]->metadata->name, text,
                           unreadable ? "; replicaNodeSelector: " : "",
                           unreadable ? err_message(unreadable) : "");
}

static void solve(struct scene *scene, struct replica_view *view)
{
    gather_nodes(scene);
    scene->found = mem_alloc(scene->group.n_volumes * sizeof *scene->found);
    struct placement_snapshot in = {
        .nodes = scene->nodes,
        .n_nodes = node_infos_count(scene->controller->node_infos),
        .volumes = scene->volumes,
        .n_volumes = scene->group.n_volumes,
    };

    placement_solve(&in, scene->found);
    const struct placement *own = &scene->found[scene->own];
    for (size_t i = 0; i < own->n; i++) {
        const struct node_info *row = node_infos_at(scene->controller->node_infos, own->nodes[i]);

        add_target(view, row, node_info_free_slots(row) > 0);
    }
    if (own->n < view->wanted)
        explain(&in, scene, view);
}

void replica_view_place(const struct controller *controller, const struct kube_object *volume,
                        struct replica_view *view)
{
    CLEANUP(scene_freep) struct scene *scene = NULL;

    view->max_shares = volume_max_shares(as_volume(volume));
    if (wish_of(as_volume(volume)) == 0)
        return; /* nothing is wanted anywhere */
    scene = mem_alloc(sizeof *scene);
    scene->controller = controller;
    colocation_find(controller, volume, &scene->group);
    for (size_t i = 0; i < scene->group.n_pods; i++)
        add_judge(scene, scene->group.pods[i]);
    if (scene->n_judges == 0)
        add_judge(scene, NULL);
    /* All of them, before the first volume's replicas are judged by them. */
    for (size_t v = 0; v < scene->group.n_volumes; v++)
        replica_selector_of(as_volume(scene->group.volumes[v]), &scene->selectors[v]);
    for (size_t v = 0; v < scene->group.n_volumes; v++) {
        gather_volume(scene, v);
        if (scene->group.volumes[v] == volume)
            scene->own = v;
    }
    view->wanted = scene->volumes[scene->own].wanted;
    for (size_t i = 0; i < view->n_attachments; i++) {
        const struct node_info *row =
            node_infos_find(controller->node_infos, view->attachments[i].node);

        view->attachments[i].useful = has_replica_on(&scene->volumes[scene->own], row->index);
    }
    if (is_settled(scene))
        stay_where_they_are(scene, view);
    else
        solve(scene, view);
}
