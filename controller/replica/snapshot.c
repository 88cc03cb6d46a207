#include "controller/replica/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "controller/attachment/snapshot.h"
#include "controller/cache/colocation.h"
#include "controller/cache/pod_filter.h"
#include "controller/cache/published.h"
#include "controller/cache/volume_in_use.h"
#include "controller/replica/node_selector.h"
#include "controller/scheduling/node_info.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/records/names.h"

void replica_work_fini(struct replica_work *work)
{
    for (size_t i = 0; i < work->n_attachments; i++)
        kube_object_unref(work->objects[i]);
    for (size_t i = 0; i < work->n_targets; i++)
        free(work->target_nodes[i]);
    free(work->why);
}

static bool is_attached(const Api__AzVolumeAttachment *attachment)
{
    return strcmp(attachment_state(attachment), STATE_ATTACHED) == 0;
}

void replica_work_gather(const struct controller *controller, const struct kube_object *volume,
                         struct replica_work *ret)
{
    size_t n;
    struct kube_object *const *objects =
        attachments_of_volume(controller, volume->metadata->name, &n);

    *ret = (struct replica_work){0};
    for (size_t i = 0; i < n && ret->n_attachments < MAX_ATTACHMENTS; i++) {
        const Api__AzVolumeAttachment *attachment = as_attachment(objects[i]);
        bool leaving = kube_is_deleting(objects[i]->metadata);
        bool primary = attachment_wants(attachment, ROLE_PRIMARY) && !leaving;
        bool published = primary || (!leaving && kubernetes_has_replica(controller, attachment));

        if (!attachment->spec || !attachment->spec->node_name)
            continue;
        ret->has_primary |= primary;
        ret->primary_attached |= primary && attachment_has_come(controller, objects[i]);
        ret->objects[ret->n_attachments] = kube_object_ref(objects[i]);
        ret->attachments[ret->n_attachments++] =
            (struct replica_attachment){.node = attachment->spec->node_name,
                                        .primary = published,
                                        .leaving = leaving,
                                        .attached = is_attached(attachment)};
    }
}

/* ---- what the pods allow ---- */

/* Everything that one placement depends on; the solver's placement_snapshot points into it. */
struct placement_input {
    const struct controller *controller;
    struct colocation group;
    struct pod_filter *filters; /* one per pod of the group; if it has no pod, one of no pod */
    size_t n_filters;

    struct replica_selector selectors[MAX_COLOCATED_VOLUMES];
    struct placement_volume volumes[MAX_COLOCATED_VOLUMES];
    struct placement_hold holds[MAX_COLOCATED_VOLUMES][MAX_ATTACHMENTS];
    char *zones[MAX_COLOCATED_VOLUMES];
    size_t own; /* index of the volume whose replicas are placed */

    struct placement_node *nodes; /* parallel to the rows of node_infos */
    struct placement *found;
};

static void placement_input_free(struct placement_input *input)
{
    if (!input)
        return;
    for (size_t i = 0; i < input->n_filters; i++)
        pod_filter_fini(&input->filters[i]);
    for (size_t v = 0; v < input->group.n_volumes; v++) {
        replica_selector_fini(&input->selectors[v]);
        free(input->zones[v]);
    }
    free(input->filters);
    free(input->nodes);
    free(input->found);
    free(input);
}
DEFINE_CLEANUP(struct placement_input, placement_input_free)

static void add_filter(struct placement_input *input, const Api__Pod *pod)
{
    pod_filter_find(input->controller, pod, &ARRAY_ADD(input->filters, input->n_filters));
}

/* A node that one of the volumes does not allow is useless for the others too: there, the pod would
 * wait for that volume. */
static bool is_selected(const struct placement_input *input, const Api__Node *node)
{
    for (size_t v = 0; v < input->group.n_volumes; v++)
        if (!replica_selector_allows(&input->selectors[v], node))
            return false;
    return true;
}

/* Pods that run on one node move together, so another node must allow all of them. If they run on
 * several nodes, a replica is useful wherever one of them may run. */
static enum unschedulable_reason filter_node(const struct placement_input *input,
                                             const struct node_info *row)
{
    enum unschedulable_reason first = UNSCHEDULABLE_NONE;

    if (!row->node)
        return UNSCHEDULABLE_NOT_READY;
    if (!is_selected(input, KUBE_AS(Api__Node, row->node)))
        return UNSCHEDULABLE_REPLICA_SELECTOR;
    for (size_t i = 0; i < input->n_filters; i++) {
        enum unschedulable_reason reason =
            node_filter_check(input->filters[i].filter, KUBE_AS(Api__Node, row->node));

        if (reason && !input->group.shared)
            return reason;
        if (!reason && input->group.shared)
            return UNSCHEDULABLE_NONE;
        first = first ? first : reason;
    }
    return first;
}

static int score_node(const struct placement_input *input, const struct node_info *row)
{
    int sum = 0;

    for (size_t i = 0; i < input->n_filters; i++)
        sum += node_filter_score(input->filters[i].filter, KUBE_AS(Api__Node, row->node));
    return sum;
}

/* ---- volumes ---- */

/* A pod runs on the replica's node: whatever its constraints say now, the replica is about to be
 * promoted. */
static bool has_pod(const struct placement_input *input, const struct node_info *row)
{
    for (size_t i = 0; i < input->group.n_pods; i++) {
        const Api__PodSpec *spec = input->group.pods[i]->spec;

        if (spec && spec->node_name && strcmp(spec->node_name, row->name) == 0)
            return true;
    }
    return false;
}

static bool is_useful(const struct placement_input *input, const struct node_info *row,
                      const char *zone)
{
    bool zone_fits = zone[0] == '\0' || strcmp(zone, row->zone) == 0;

    return zone_fits && !node_info_is_unreachable(input->controller->node_infos, row) &&
           (has_pod(input, row) || filter_node(input, row) == UNSCHEDULABLE_NONE);
}

static void gather_holds(struct placement_input *input, size_t v)
{
    const struct controller *controller = input->controller;
    struct placement_volume *volume = &input->volumes[v];
    size_t n;
    struct kube_object *const *objects =
        attachments_of_volume(controller, input->group.volumes[v]->metadata->name, &n);

    volume->holds = input->holds[v];
    for (size_t i = 0; i < n && volume->n_holds < MAX_ATTACHMENTS; i++) {
        const Api__AzVolumeAttachment *attachment = as_attachment(objects[i]);
        bool leaving = kube_is_deleting(objects[i]->metadata);
        bool primary = attachment_wants(attachment, ROLE_PRIMARY) && !leaving;

        if (!attachment->spec || !attachment->spec->node_name)
            continue;
        const struct node_info *row =
            node_infos_find(controller->node_infos, attachment->spec->node_name);
        input->holds[v][volume->n_holds++] = (struct placement_hold){
            .node = row->index, /* attachments have given it a row */
            .primary = primary,
            .leaving = leaving,
            .useful = !primary && !leaving && is_useful(input, row, volume->zone),
            .asked = attachment_is_asked_for(attachment, loop_wall_us(controller->loop)),
        };
    }
}

/* An attachment that another task is creating at this moment counts as if it existed. */
static void gather_assumed(struct placement_input *input, size_t v)
{
    const struct node_infos *table = input->controller->node_infos;
    struct placement_volume *volume = &input->volumes[v];
    const char *name = input->group.volumes[v]->metadata->name;
    const struct assumed_attachment *assumed = NULL;

    while ((assumed = node_infos_next_assumed(table, assumed)))
        if (strcmp(assumed->volume, name) == 0 && volume->n_holds < MAX_ATTACHMENTS)
            input->holds[v][volume->n_holds++] = (struct placement_hold){
                .node = node_infos_find(table, assumed->node)->index, .useful = true};
}

static void gather_volume(struct placement_input *input, size_t v)
{
    const Api__AzVolume *volume = as_volume(input->group.volumes[v]);
    struct placement_volume *ret = &input->volumes[v];
    unsigned primaries = 0;

    input->zones[v] = volume_zone(volume, input->controller->settings.driver_name);
    ret->zone = input->zones[v];
    gather_holds(input, v);
    gather_assumed(input, v);
    for (size_t i = 0; i < ret->n_holds; i++)
        primaries += ret->holds[i].primary;
    ret->wanted = replicas_wanted(volume_replicas_requested(volume), primaries ? primaries : 1,
                                  volume_max_shares(volume));
}

/* ---- does anything have to change? ---- */

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

/* Every volume has the wanted number of replicas, on the same nodes as far as the numbers allow.
 * This is nearly always so, and spares reading all nodes. */
static bool is_settled(const struct placement_input *input)
{
    const struct placement_volume *own = &input->volumes[input->own];

    for (size_t v = 0; v < input->group.n_volumes; v++) {
        const struct placement_volume *volume = &input->volumes[v];
        unsigned together = 0, useful = count_useful(volume);

        for (size_t i = 0; i < volume->n_holds; i++) {
            const struct placement_hold *hold = &volume->holds[i];

            if (v == input->own && !hold->primary && !hold->leaving && !hold->useful)
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

/* A node that comes back keeps its pods' volumes mounted until it has ended the pods. Their disks
 * have been detached in the meantime, and must not appear under those mounts again. */
static bool is_still_used(const struct placement_input *input, const struct node_info *row)
{
    const char *driver_name = input->controller->settings.driver_name;

    for (size_t v = 0; v < input->group.n_volumes; v++) {
        const Api__AzVolume *volume = as_volume(input->group.volumes[v]);

        if (volume_is_created(volume) &&
            volume_in_use_of(row->node, NULL, driver_name, volume->status->detail->volume__id) ==
                VOLUME_IN_USE_MOUNTED)
            return true;
    }
    return false;
}

static enum unschedulable_reason unschedulable_reason_of(const struct placement_input *input,
                                                         const struct node_info *row)
{
    if (!node_info_is_ready(input->controller->node_infos, row))
        return UNSCHEDULABLE_NOT_READY;
    enum unschedulable_reason reason = filter_node(input, row);
    return !reason && is_still_used(input, row) ? UNSCHEDULABLE_IN_USE : reason;
}

static void gather_nodes(struct placement_input *input)
{
    const struct node_infos *table = input->controller->node_infos;
    size_t n = node_infos_count(table);

    input->nodes = mem_alloc(n * sizeof *input->nodes);
    for (size_t i = 0; i < n; i++) {
        const struct node_info *row = node_infos_at(table, i);
        enum unschedulable_reason reason = unschedulable_reason_of(input, row);

        input->nodes[i] = (struct placement_node){
            .name = row->name,
            .zone = row->zone,
            .fault_domain = row->fault_domain,
            .pool = row->pool,
            .spot = row->spot,
            .reason = reason,
            .preference = reason ? 0 : score_node(input, row),
            .free_slots = node_info_free_slots(row),
            .load = row->primaries,
        };
    }
    /* The pod runs on the primary's node. */
    for (size_t v = 0; v < input->group.n_volumes; v++)
        for (size_t i = 0; i < input->volumes[v].n_holds; i++)
            if (input->holds[v][i].primary)
                input->nodes[input->holds[v][i].node].reason = UNSCHEDULABLE_HAS_ATTACHMENT;
}

/* ---- the result ---- */

static void add_target(struct replica_work *work, const struct node_info *row, bool has_slot)
{
    char *name = mem_strdup(row->name);

    work->target_nodes[work->n_targets] = name;
    work->targets[work->n_targets++] = (struct replica_target){name, has_slot};
}

static void keep_targets(const struct placement_input *input, struct replica_work *work)
{
    const struct placement_volume *own = &input->volumes[input->own];

    for (size_t i = 0; i < own->n_holds; i++)
        if (own->holds[i].useful)
            add_target(work, node_infos_at(input->controller->node_infos, own->holds[i].node),
                       true);
}

static void explain(const struct placement_snapshot *snapshot, const struct placement_input *input,
                    struct replica_work *work)
{
    struct unschedulable_reasons reasons;
    unsigned missing = work->wanted - (unsigned)work->n_targets;

    placement_explain(snapshot, input->found, input->own, &reasons);
    CLEANUP(freep) char *text = unschedulable_reasons_text(&reasons);
    const struct err *unreadable = input->selectors[input->own].unreadable;
    work->why = mem_printf("%u of %u replicas of volume %s cannot be placed: %s%s%s", missing,
                           work->wanted, input->group.volumes[input->own]->metadata->name, text,
                           unreadable ? "; replicaNodeSelector: " : "",
                           unreadable ? err_message(unreadable) : "");
}

static void solve(struct placement_input *input, struct replica_work *work)
{
    gather_nodes(input);
    input->found = mem_alloc(input->group.n_volumes * sizeof *input->found);
    struct placement_snapshot snapshot = {
        .nodes = input->nodes,
        .n_nodes = node_infos_count(input->controller->node_infos),
        .volumes = input->volumes,
        .n_volumes = input->group.n_volumes,
    };

    placement_solve(&snapshot, input->found);
    const struct placement *own = &input->found[input->own];
    for (size_t i = 0; i < own->n; i++) {
        const struct node_info *row = node_infos_at(input->controller->node_infos, own->nodes[i]);

        add_target(work, row, node_info_free_slots(row) > 0);
    }
    if (own->n < work->wanted)
        explain(&snapshot, input, work);
}

void replica_work_place(const struct controller *controller, const struct kube_object *volume,
                        struct replica_work *work)
{
    CLEANUP(placement_input_freep) struct placement_input *input = NULL;

    work->max_shares = volume_max_shares(as_volume(volume));
    if (volume_replicas_requested(as_volume(volume)) == 0)
        return; /* the volume wants no replicas */
    input = mem_alloc(sizeof *input);
    input->controller = controller;
    colocation_find(controller, volume, &input->group);
    for (size_t i = 0; i < input->group.n_pods; i++)
        add_filter(input, input->group.pods[i]);
    if (input->n_filters == 0)
        add_filter(input, NULL);
    /* All selectors first: whether a replica is useful depends on all of them. */
    for (size_t v = 0; v < input->group.n_volumes; v++)
        replica_selector_of(as_volume(input->group.volumes[v]), &input->selectors[v]);
    for (size_t v = 0; v < input->group.n_volumes; v++) {
        gather_volume(input, v);
        if (input->group.volumes[v] == volume)
            input->own = v;
    }
    work->wanted = input->volumes[input->own].wanted;
    for (size_t i = 0; i < work->n_attachments; i++) {
        const struct node_info *row =
            node_infos_find(controller->node_infos, work->attachments[i].node);

        work->attachments[i].useful = has_replica_on(&input->volumes[input->own], row->index);
    }
    if (is_settled(input))
        keep_targets(input, work);
    else
        solve(input, work);
}
