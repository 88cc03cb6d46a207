#include "controller/cache/pod_filter.h"

#include <stdlib.h>

#include "controller/cache/colocation.h"
#include "lib/base/alloc.h"
#include "lib/kube/pod_claim.h"

static void add_volume_topologies(const struct controller *controller, const Api__Pod *pod,
                                  struct pod_filter *ret)
{
    for (size_t i = 0; pod->spec && i < pod->spec->n_volumes; i++) {
        CLEANUP(freep) char *claim = pod_claim_key(pod, pod->spec->volumes[i]);
        size_t n = 0;
        struct kube_object *const *found = claim ? volumes_of_claim(controller, claim, &n) : NULL;

        for (size_t k = 0; k < n; k++) {
            const Api__PersistentVolumeSpec *spec = KUBE_AS(Api__PersistentVolume, found[k])->spec;

            if (spec->node_affinity && spec->node_affinity->required)
                ARRAY_ADD(ret->volumes, ret->n_volumes) = spec->node_affinity->required;
        }
    }
}

void pod_filter_find(const struct controller *controller, const Api__Pod *pod,
                     struct pod_filter *ret)
{
    const struct surroundings surroundings = {
        .nodes = controller->nodes,
        .namespaces = controller->namespaces,
        .pods_by_label = controller->pods_by_label,
        .repelling_pods = controller->repelling_pods,
    };
    const char *name = pod && pod->spec ? pod->spec->node_name : NULL;
    const struct kube_object *current = name ? store_get(controller->nodes, name) : NULL;

    *ret = (struct pod_filter){0};
    if (pod)
        add_volume_topologies(controller, pod, ret);
    ret->filter = node_filter_new(pod, current ? KUBE_AS(Api__Node, current) : NULL, ret->volumes,
                                  ret->n_volumes, &surroundings);
}

void pod_filter_fini(struct pod_filter *filter)
{
    node_filter_free(filter->filter);
    free(filter->volumes);
}
