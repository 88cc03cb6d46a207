#include "lib/kube/cluster_id.h"

#include "lib/base/alloc.h"

struct err *kube_cluster_id(struct task *self, struct kube *kube, char **ret)
{
    const struct kube_query query = {.field_selector = "metadata.name=kube-system",
                                     .metadata_only = true};
    CLEANUP(json_decrefp) json_t *list = NULL;
    struct err *err = kube_list_page(self, kube, &NAMESPACES, NULL, &query, &list);

    if (err)
        return err_wrap(err, "reading namespace kube-system, whose UID identifies this cluster");
    const json_t *first = json_array_get(json_object_get(list, "items"), 0);
    const char *uid = json_string_value(json_object_get(json_object_get(first, "metadata"), "uid"));
    if (!uid)
        return err_new(
            ERR_UNAVAILABLE,
            "the namespace kube-system, whose UID identifies this cluster, does not exist yet");
    *ret = mem_strdup(uid);
    return NULL;
}
