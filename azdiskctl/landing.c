#include "azdiskctl/landing.h"

#include <string.h>

#include "azdiskctl/diagnosis.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/kube/pv_source.h"
#include "lib/kube/selector.h"

/* ---- the node, for the pod ---- */

/* Kubernetes's own, which go when the node is ready: whether it is, is asked for itself. */
static const Api__Taint *repelling_taint(const Api__Node *node, const Api__Pod *pod)
{
    for (size_t i = 0; node->spec && i < node->spec->n_taints; i++) {
        const Api__Taint *taint = node->spec->taints[i];

        if (!same_text(taint->effect, "PreferNoSchedule") &&
            !is_tolerated(taint, pod->spec->tolerations, pod->spec->n_tolerations))
            return taint;
    }
    return NULL;
}

static bool is_selected(const Api__PodSpec *pod, const Api__ObjectMeta *node)
{
    const Api__NodeAffinity *affinity = pod->affinity ? pod->affinity->node_affinity : NULL;

    for (size_t i = 0; i < pod->n_node_selector; i++) {
        const char *value = kube_label(node, pod->node_selector[i]->key);

        if (!value || strcmp(value, pod->node_selector[i]->value) != 0)
            return false;
    }
    return !affinity || node_selector_matches(
                            affinity->required_during_scheduling_ignored_during_execution, node);
}

/* Why the node would not take the pod; NULL if it would. */
static char *why_not_node(const struct cluster *cluster, const Api__Pod *pod, const char *name)
{
    const struct kube_object *object = find_by(&cluster->view.nodes, key_name, name);
    const struct kube_object *plugin = find_by(&cluster->view.driver_nodes, key_name, name);

    if (!object)
        return mem_printf("there is no Node %s", name);
    const Api__Node *node = KUBE_AS(Api__Node, object);
    if (!node_is_ready(node))
        return mem_printf("Node %s is not Ready", name);
    if (node->spec && node->spec->unschedulable)
        return mem_printf("Node %s is cordoned", name);
    const Api__Taint *taint = repelling_taint(node, pod);
    if (taint)
        return mem_printf("the pod does not tolerate the taint %s of Node %s", taint->key, name);
    if (!is_selected(pod->spec, object->metadata))
        return mem_printf("Node %s does not match the pod's nodeSelector or node affinity", name);
    if (!plugin_is_ready(cluster, plugin))
        return mem_printf("the node plug-in of %s is not ready, or has been silent for too long",
                          name);
    return NULL;
}

/* ---- the node, for a volume ---- */

const struct kube_object *attachment_on(const struct cluster *cluster,
                                        const struct kube_object *volume, const char *node)
{
    const struct object_list *list = &cluster->view.attachments;

    for (size_t i = 0; i < list->n; i++)
        if (same_text(attachment_volume(list->items[i]), volume->metadata->name) &&
            same_text(attachment_node(list->items[i]), node) &&
            !kube_is_deleting(list->items[i]->metadata))
            return list->items[i];
    return NULL;
}

static char *why_not_zone(const struct cluster *cluster, const struct kube_object *volume,
                          const char *node_name)
{
    const struct kube_object *node = find_by(&cluster->view.nodes, key_name, node_name);
    const char *here = node_zone(cluster, node);

    if (!volume_is_created(as_volume(volume)))
        return NULL;
    CLEANUP(freep) char *zone = volume_zone(as_volume(volume), cluster->view.driver_name);
    if (!*zone || same_text(zone, here))
        return NULL;
    return mem_printf("volume %s is in zone %s, and Node %s in zone %s", volume->metadata->name,
                      zone, node_name, here ? here : "-");
}

/* "a, b"; NULL: there are none. free() it. */
static char *replica_nodes(const struct cluster *cluster, const struct kube_object *volume)
{
    const struct object_list *list = &cluster->view.attachments;
    char *nodes = NULL;

    for (size_t i = 0; i < list->n; i++) {
        const struct kube_object *attachment = list->items[i];
        const char *node = attachment_node(attachment);

        if (!node || !same_text(attachment_volume(attachment), volume->metadata->name) ||
            !attachment_wants(as_attachment(attachment), ROLE_REPLICA) ||
            kube_is_deleting(attachment->metadata))
            continue;
        char *longer = nodes ? mem_printf("%s, %s", nodes, node) : mem_strdup(node);
        free(nodes);
        nodes = longer;
    }
    return nodes;
}

static struct landing landing(enum landing_state state, char *why)
{
    return (struct landing){state, why};
}

static struct landing landing_of_volume(const struct cluster *cluster,
                                        const struct dependency_chain *chain, const char *node)
{
    if (!chain->volume)
        return landing(LANDING_NO_REPLICA,
                       mem_printf("there is no AzVolume of PersistentVolume %s yet",
                                  chain->pv->metadata->name));
    const char *name = chain->volume->metadata->name;
    const struct kube_object *attachment = attachment_on(cluster, chain->volume, node);
    char *other_zone = why_not_zone(cluster, chain->volume, node);
    if (other_zone)
        return landing(LANDING_UNFIT, other_zone);
    if (!attachment) {
        CLEANUP(freep) char *nodes = replica_nodes(cluster, chain->volume);
        return landing(
            LANDING_NO_REPLICA,
            nodes ? mem_printf("volume %s has no replica on node %s, but on %s", name, node, nodes)
                  : mem_printf("volume %s has no replica", name));
    }
    const char *stage = attachment_stage(attachment);
    if (strcmp(stage, "attached") != 0)
        return landing(LANDING_COMING, mem_printf("the attachment of volume %s to node %s is %s",
                                                  name, node, stage));
    const char *unready = attachment_unready_reason(as_attachment(attachment));
    return unready ? landing(LANDING_COMING,
                             mem_printf("the replica of volume %s on node %s is not ready: %s",
                                        name, node, unready))
                   : landing(LANDING_READY, NULL);
}

/* ---- all of it ---- */

bool chain_is_ours(const struct dependency_chain *chain)
{
    const Api__PersistentVolumeSpec *spec =
        chain->pv ? KUBE_AS(Api__PersistentVolume, chain->pv)->spec : NULL;

    return chain->volume || pv_is_of_driver(spec, chain->cluster->view.driver_name);
}

/* A volume that is bound to its node, as local ones of other drivers are, takes the pod back there.
 */
static char *why_not_volumes(const struct dependency_chains *chains, const char *name)
{
    const struct kube_object *node = find_by(&chains->items[0].cluster->view.nodes, key_name, name);

    for (size_t i = 0; i < chains->n; i++) {
        const struct kube_object *pv = chains->items[i].pv;
        const Api__PersistentVolumeSpec *spec =
            pv ? KUBE_AS(Api__PersistentVolume, pv)->spec : NULL;

        if (spec && spec->node_affinity &&
            !node_selector_matches(spec->node_affinity->required, node->metadata))
            return mem_printf("PersistentVolume %s cannot be used on Node %s (its nodeAffinity)",
                              pv->metadata->name, name);
    }
    return NULL;
}

/* The worst of the volumes counts: the pod waits for the last one. */
struct landing landing_on(const struct cluster *cluster, const struct dependency_chains *chains,
                          const char *node)
{
    struct landing worst = {LANDING_READY, NULL};
    char *why = why_not_node(cluster, KUBE_AS(Api__Pod, chains->items[0].pod), node);

    if (!why)
        why = why_not_volumes(chains, node);
    if (why)
        return landing(LANDING_UNFIT, why);
    for (size_t i = 0; i < chains->n; i++) {
        if (!chain_is_ours(&chains->items[i]))
            continue;
        struct landing one = landing_of_volume(cluster, &chains->items[i], node);

        if (one.state > worst.state) {
            free(worst.why);
            worst = one;
        } else {
            free(one.why);
        }
    }
    return worst;
}

static unsigned count_primaries(const struct cluster *cluster, const char *node)
{
    const struct object_list *list = &cluster->view.attachments;
    unsigned n = 0;

    for (size_t i = 0; i < list->n; i++)
        n += same_text(attachment_node(list->items[i]), node) &&
             attachment_wants(as_attachment(list->items[i]), ROLE_PRIMARY);
    return n;
}

const char *landing_best(const struct cluster *cluster, const struct dependency_chains *chains,
                         const char *from, enum landing_state *ret_state)
{
    const struct object_list *nodes = &cluster->view.nodes;
    const char *best = NULL;
    unsigned least = 0;

    *ret_state = LANDING_UNFIT;
    for (size_t i = 0; i < nodes->n; i++) {
        const char *name = nodes->items[i]->metadata->name;

        if (same_text(name, from))
            continue;
        struct landing found = landing_on(cluster, chains, name);
        unsigned n = count_primaries(cluster, name);
        free(found.why);
        if (found.state == LANDING_UNFIT || found.state > *ret_state ||
            (best && found.state == *ret_state &&
             (n > least || (n == least && strcmp(name, best) > 0))))
            continue;
        best = name;
        least = n;
        *ret_state = found.state;
    }
    return best;
}
