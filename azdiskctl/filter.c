#include "azdiskctl/filter.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/kube/pod_claim.h"

/* ---- what it asks for ---- */

static const Api__Pod *pod_of(const struct filter *filter, const struct cluster *cluster)
{
    CLEANUP(freep) char *key = mem_printf("%s/%s", filter->pod_namespace, filter->pod);
    const struct kube_object *pod = find_object(&cluster->pods, key);

    return pod ? KUBE_AS(Api__Pod, pod) : NULL;
}

static bool has_node(const struct cluster *cluster, const char *name)
{
    return find_by(&cluster->view.nodes, key_name, name) ||
           find_by(&cluster->view.driver_nodes, key_name, name);
}

static bool has_zone(const struct cluster *cluster, const char *zone)
{
    const struct object_list *nodes = &cluster->view.nodes, *volumes = &cluster->view.volumes;

    for (size_t i = 0; i < nodes->n; i++)
        if (same_text(zone, node_zone(cluster, nodes->items[i])))
            return true;
    for (size_t i = 0; i < volumes->n; i++) {
        CLEANUP(freep) char *zones = volume_zones(cluster, volumes->items[i]);

        if (text_list_has(zones, zone))
            return true;
    }
    return false;
}

static void find_pod_volumes(struct filter *filter, const Api__Pod *pod,
                             const struct cluster *cluster)
{
    CLEANUP(overview_fini) struct overview overview = overview_of(cluster);
    CLEANUP(string_set_clear) struct string_set claims = {0};
    const struct object_list *volumes = &cluster->view.volumes;

    for (size_t i = 0; pod->spec && i < pod->spec->n_volumes; i++) {
        CLEANUP(freep) char *claim = pod_claim_key(pod, pod->spec->volumes[i]);

        if (claim)
            string_set_add(&claims, claim);
    }
    for (size_t i = 0; i < volumes->n; i++) {
        const struct kube_object *pv = overview_pv(&overview, volume_disk_id(volumes->items[i]));
        CLEANUP(freep) char *claim = claim_of_pv(pv);

        if (claim && string_set_has(&claims, claim))
            string_set_add(&filter->pod_volumes, key_name(volumes->items[i]));
    }
}

struct err *filter_start(struct filter *filter, const struct cluster *cluster)
{
    if (*filter->node && !has_node(cluster, filter->node))
        return err_new(ERR_NOT_FOUND, "--node: there is no node %s", filter->node);
    if (*filter->zone && !has_zone(cluster, filter->zone))
        return err_new(ERR_NOT_FOUND,
                       "--zone: no node and no volume is in zone %s (azdiskctl get nodes -o wide "
                       "shows zones)",
                       filter->zone);
    if (!*filter->pod)
        return NULL;

    const Api__Pod *pod = pod_of(filter, cluster);
    if (!pod)
        return err_new(ERR_NOT_FOUND, "--pod: there is no pod %s in namespace %s", filter->pod,
                       filter->pod_namespace);
    find_pod_volumes(filter, pod, cluster);
    return NULL;
}

void filter_fini(struct filter *filter)
{
    string_set_clear(&filter->pod_volumes);
}

/* ---- what an object is of ---- */

typedef bool attachment_fn(const struct filter *filter, const struct kube_object *attachment);

static bool is_on_node(const struct filter *filter, const struct kube_object *attachment)
{
    return same_text(attachment_node(attachment), filter->node);
}

static bool is_of_pod(const struct filter *filter, const struct kube_object *attachment)
{
    const char *volume = attachment_volume(attachment);

    return volume && string_set_has(&filter->pod_volumes, volume);
}

/* An attachment itself, one of the volume's, or one on the node. */
static bool has_attachment(const struct filter *filter, attachment_fn *applies,
                           const struct overview *overview, enum kind_id kind,
                           const struct kube_object *object)
{
    if (kind == KIND_ATTACHMENTS || kind == KIND_REPLICAS)
        return applies(filter, object);
    struct object_list attachments = object_index_find(
        kind == KIND_VOLUMES ? &overview->by_volume : &overview->by_node, key_name(object));

    for (size_t i = 0; i < attachments.n; i++)
        if (applies(filter, attachments.items[i]))
            return true;
    return false;
}

static bool is_in_zone(const struct cluster *cluster, enum kind_id kind,
                       const struct kube_object *object, const char *zone)
{
    if (kind == KIND_VOLUMES) {
        CLEANUP(freep) char *zones = volume_zones(cluster, object);

        return text_list_has(zones, zone) || strcmp(zones, "any") == 0;
    }
    const char *node = kind == KIND_NODES ? key_name(object) : attachment_node(object);
    return same_text(zone, node_zone(cluster, find_by(&cluster->view.nodes, key_name, node)));
}

bool filter_passes(const struct filter *filter, const struct overview *overview, enum kind_id kind,
                   const struct kube_object *object)
{
    if (*filter->node &&
        !(kind == KIND_NODES ? same_text(key_name(object), filter->node)
                             : has_attachment(filter, is_on_node, overview, kind, object)))
        return false;
    if (*filter->pod &&
        !(kind == KIND_VOLUMES ? string_set_has(&filter->pod_volumes, key_name(object))
                               : has_attachment(filter, is_of_pod, overview, kind, object)))
        return false;
    return !*filter->zone || is_in_zone(overview->cluster, kind, object, filter->zone);
}
