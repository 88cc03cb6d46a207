#include "controller/placement/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "controller/cache/colocation.h"
#include "controller/cache/node_attachment.h"
#include "controller/cache/pod_filter.h"
#include "controller/placement/reservations.h"
#include "controller/scheduling/node_info.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/placement/presence.h"

void placement_work_fini(struct placement_work *work)
{
    for (size_t i = 0; i < work->n_volumes; i++)
        free(work->volumes[i]);
    free(work->volumes);
    free(work->nodes);
}

/* ---- volumes ---- */

struct search {
    const struct controller *controller;
    struct placement_work *work;
};

static bool has_volume(const struct placement_work *work, const char *name)
{
    for (size_t i = 0; i < work->n_volumes; i++)
        if (strcmp(work->volumes[i], name) == 0)
            return true;
    return false;
}

/* Volumes that several nodes may use at once do not count, as in the extender: where they are
 * attached other pods use them, and to follow those would put all pods on one node. */
static void add_volume(void *ctx, const char *name)
{
    const struct search *search = ctx;
    const struct kube_object *object = volume_of_name(search->controller, name);
    struct placement_work *work = search->work;

    if (object && !volume_is_multi_node(as_volume(object)) && !has_volume(work, name))
        ARRAY_ADD(work->volumes, work->n_volumes) = mem_strdup(name);
}

/* ---- nodes that have them ---- */

static struct pick_node *node_of(struct placement_work *work, const char *name)
{
    for (size_t i = 0; i < work->n_nodes; i++)
        if (strcmp(work->nodes[i].name, name) == 0)
            return &work->nodes[i];
    struct pick_node *node = &ARRAY_ADD(work->nodes, work->n_nodes);
    *node = (struct pick_node){.name = name};
    return node;
}

/* Nodes that it is leaving have none of the disk. */
static void add_attachment(struct placement_work *work, const Api__AzVolumeAttachment *attachment)
{
    const char *name = attachment->spec ? attachment->spec->node_name : NULL;
    enum presence presence = attachment_presence(attachment);

    if (name && presence != PRESENCE_NONE)
        score_node_add(&node_of(work, name)->disks, presence);
}

static unsigned count_joining(const struct controller *controller,
                              const struct placement_work *work, const char *node)
{
    unsigned n = 0;

    for (size_t i = 0; i < work->n_volumes; i++) {
        const struct kube_object *object = node_attachment(controller, work->volumes[i], node);

        n += !object || !attachment_wants(as_attachment(object), ROLE_PRIMARY);
    }
    return n;
}

static unsigned count_places(const struct controller *controller, const struct placement_work *work,
                             const struct node_info *row)
{
    unsigned taken =
        row->primaries + reservations_count(controller, row->name, work->volumes, work->n_volumes);

    return row->slots > taken ? row->slots - taken : 0;
}

/* An attachment has given the node a row, but it may have no Node. */
static void describe(const struct controller *controller, const struct placement_work *work,
                     const struct pod_filter *filter, const char *asked_for, struct pick_node *node)
{
    const struct node_info *row = node_infos_find(controller->node_infos, node->name);

    node->disks.healthy = row && row->node && node_info_is_ready(controller->node_infos, row);
    if (!node->disks.healthy)
        return;
    node->disks.asked_for = asked_for && strcmp(asked_for, node->name) == 0;
    node->refusal = node_filter_check(filter->filter, KUBE_AS(Api__Node, row->node));
    node->preference = node_filter_score(filter->filter, KUBE_AS(Api__Node, row->node));
    node->joining = count_joining(controller, work, node->name);
    node->places = count_places(controller, work, row);
}

void placement_work_gather(const struct controller *controller, const Api__Pod *pod,
                           const char *asked_for, struct placement_work *ret)
{
    struct search search = {controller, ret};
    CLEANUP(pod_filter_fini) struct pod_filter filter = {0};

    *ret = (struct placement_work){0};
    pod_each_volume(controller, pod, add_volume, &search);
    for (size_t v = 0; v < ret->n_volumes; v++) {
        size_t n;
        struct kube_object *const *objects = attachments_of_volume(controller, ret->volumes[v], &n);

        for (size_t i = 0; i < n; i++)
            add_attachment(ret, as_attachment(objects[i]));
    }
    if (ret->n_nodes == 0)
        return;
    pod_filter_find(controller, pod, &filter);
    for (size_t i = 0; i < ret->n_nodes; i++)
        describe(controller, ret, &filter, asked_for, &ret->nodes[i]);
}
