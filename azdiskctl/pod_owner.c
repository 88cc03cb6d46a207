#include "azdiskctl/pod_owner.h"

#include <string.h>

#include "azdiskctl/document.h"
#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/text.h"
#include "lib/kube/object.h"

enum { LARGEST_OWNER = 16 * 1024 * 1024, LONGEST_SELECTOR = 8 * 1024 };

/* Of a pod that kubelet runs from a file, and that the API server only shows. */
static const char mirror[] = "kubernetes.io/config.mirror";

static const struct api_resource owners[] = {
    {"apps", "v1", "replicasets", "ReplicaSet", true, NULL},
    {"apps", "v1", "statefulsets", "StatefulSet", true, NULL},
    {"", "v1", "replicationcontrollers", "ReplicationController", true, NULL},
    {"batch", "v1", "jobs", "Job", true, NULL},
};

const Api__OwnerReference *pod_controller(const Api__Pod *pod)
{
    const Api__ObjectMeta *metadata = pod->metadata;

    for (size_t i = 0; i < metadata->n_owner_references; i++)
        if (metadata->owner_references[i]->controller)
            return metadata->owner_references[i];
    return NULL;
}

enum pod_kind pod_kind_of(const Api__Pod *pod)
{
    const Api__OwnerReference *owner = pod_controller(pod);

    if (kube_annotation(pod->metadata, mirror))
        return POD_BOUND;
    if (!owner || !owner->kind || !owner->name)
        return POD_ALONE;
    return strcmp(owner->kind, "DaemonSet") == 0 || strcmp(owner->kind, "Node") == 0 ? POD_BOUND
                                                                                     : POD_MOVABLE;
}

char *pod_owner_refusal(const Api__OwnerReference *reference, const json_t *owner)
{
    const json_t *metadata = json_object_get(owner, "metadata");
    const json_t *wanted = json_object_get(json_object_get(owner, "spec"), "replicas");
    const json_t *there = json_object_get(json_object_get(owner, "status"), "replicas");

    if (!owner || !same_text(text_of(metadata, "uid"), reference->uid))
        return mem_printf("%s %s, which has made it, does not exist any more", reference->kind,
                          reference->name);
    if (text_of(metadata, "deletionTimestamp"))
        return mem_printf("%s %s is being deleted", reference->kind, reference->name);
    if (json_is_true(json_object_get(json_object_get(owner, "spec"), "suspend")))
        return mem_printf("%s %s is suspended", reference->kind, reference->name);
    if (wanted && json_integer_value(wanted) < json_integer_value(there))
        return mem_printf("%s %s is being scaled down from %d to %d pods", reference->kind,
                          reference->name, (int)json_integer_value(there),
                          (int)json_integer_value(wanted));
    return NULL;
}

char *pod_owner_selector(const json_t *owner)
{
    const json_t *selector = json_object_get(json_object_get(owner, "spec"), "selector");
    const json_t *labels = json_object_get(selector, "matchLabels"), *value;
    struct buffer text;
    const char *key;

    /* A ReplicationController has the labels themselves there. */
    if (!labels && !json_object_get(selector, "matchExpressions"))
        labels = selector;
    buffer_init(&text, LARGEST_OWNER);
    json_object_foreach((json_t *)(uintptr_t)labels, key, value)
        if (json_is_string(value))
            buffer_printf(&text, "%s%s=%s", text.length ? "," : "", key, json_string_value(value));
    CLEANUP(freep) char *whole = buffer_take(&text);
    return *whole && strlen(whole) <= LONGEST_SELECTOR ? TAKE_PTR(whole) : NULL;
}

static const struct api_resource *resource_of(const Api__OwnerReference *reference)
{
    for (size_t i = 0; i < COUNT_OF(owners); i++) {
        CLEANUP(freep)
        char *version = owners[i].group[0] ? mem_printf("%s/%s", owners[i].group, owners[i].version)
                                           : mem_strdup(owners[i].version);

        if (strcmp(owners[i].kind, reference->kind) == 0 &&
            same_text(version, reference->api_version))
            return &owners[i];
    }
    return NULL;
}

struct err *pod_owner_read(struct task *self, struct kube *kube, const char *namespace_,
                           const Api__OwnerReference *reference, bool *ret_known, json_t **ret)
{
    const struct api_resource *resource = resource_of(reference);
    CLEANUP(json_decrefp) json_t *list = NULL;

    *ret_known = resource != NULL;
    *ret = NULL;
    if (!resource)
        return NULL;
    CLEANUP(freep) char *field = mem_printf("metadata.name=%s", reference->name);
    TRY(kube_list_page(self, kube, resource, namespace_,
                       &(struct kube_query){.field_selector = field}, &list));
    json_t *found = json_array_get(json_object_get(list, "items"), 0);
    *ret = found ? json_incref(found) : NULL;
    return NULL;
}
