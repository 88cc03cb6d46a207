#include "controller/failover/stand_in.h"

#include <string.h>

#include "controller/failover/taint.h"
#include "lib/base/alloc.h"
#include "lib/json/codec.h"
#include "lib/kube/node.h"

/* What Kubernetes itself says of a Node's condition. */
#define CONDITION_TAINTS "node.kubernetes.io/"

/* The cloud's node manager sets providerID, addresses and zone where it finds this taint, and takes
 * it away. */
#define UNINITIALIZED "node.cloudprovider.kubernetes.io/uninitialized"

/* Kubelet sets it when it registers, and at no other time. */
#define REGISTERED "volumes.kubernetes.io/controller-managed-attach-detach"

static json_t *labels_json(const Api__ObjectMeta *metadata)
{
    json_t *labels = json_object();

    for (size_t i = 0; i < metadata->n_labels; i++)
        json_object_set_new(labels, metadata->labels[i]->key,
                            json_string(metadata->labels[i]->value));
    return labels;
}

static void add_taint(json_t *taints, const char *key, json_t *value, const char *effect)
{
    json_array_append_new(
        taints, json_pack("{s:s, s:o, s:s}", "key", key, "value", value, "effect", effect));
}

static bool is_kept(const Api__Taint *taint)
{
    return taint->key && strncmp(taint->key, CONDITION_TAINTS, strlen(CONDITION_TAINTS)) != 0 &&
           strcmp(taint->key, UNINITIALIZED) != 0;
}

static json_t *taints_json(const Api__Node *node)
{
    const Api__NodeSpec *spec = node->spec;
    json_t *taints = json_array();

    for (size_t i = 0; spec && i < spec->n_taints; i++)
        if (is_kept(spec->taints[i]))
            json_array_append_new(taints, json_encode(&spec->taints[i]->base));
    if (spec && spec->provider_id)
        add_taint(taints, UNINITIALIZED, json_string("true"), "NoSchedule");
    add_taint(taints, TAINT_OUT_OF_SERVICE,
              json_sprintf(FAILOVER_TAINT_STAND_IN_VALUE "%s", node_boot_id(node)), "NoExecute");
    return taints;
}

json_t *stand_in_json(const struct kube_object *deleted)
{
    const Api__Node *node = KUBE_AS(Api__Node, deleted);

    return json_pack("{s:{s:s, s:o}, s:{s:o}}", "metadata", "name", deleted->metadata->name,
                     "labels", labels_json(deleted->metadata), "spec", "taints", taints_json(node));
}

bool stand_in_is_registered(const struct kube_object *node)
{
    return kube_annotation(node->metadata, REGISTERED) != NULL;
}
