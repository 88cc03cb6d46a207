#include "controller/failover/taint.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/kube/node.h"

/* What stands behind the prefix in the value of the taint; NULL: it is another one. */
static const char *after(const Api__Taint *taint, const char *prefix)
{
    if (!taint->key || strcmp(taint->key, TAINT_OUT_OF_SERVICE) != 0 || !taint->value ||
        strncmp(taint->value, prefix, strlen(prefix)) != 0)
        return NULL;
    return taint->value + strlen(prefix);
}

static const char *boot_id_of(const Api__Taint *taint)
{
    const char *deleted = after(taint, FAILOVER_TAINT_STAND_IN_VALUE);

    return deleted ? deleted : after(taint, FAILOVER_TAINT_VALUE);
}

const char *failover_taint_boot_id(const Api__Node *node)
{
    for (size_t i = 0; node->spec && i < node->spec->n_taints; i++)
        if (boot_id_of(node->spec->taints[i]))
            return boot_id_of(node->spec->taints[i]);
    return NULL;
}

static bool is_of_moved(const Api__Taint *taint)
{
    return same_text(taint->key, TAINT_FAILED_OVER);
}

const char *failover_taint_moved_boot_id(const Api__Node *node)
{
    for (size_t i = 0; node->spec && i < node->spec->n_taints; i++)
        if (is_of_moved(node->spec->taints[i]))
            return node->spec->taints[i]->value;
    return NULL;
}

bool failover_taint_is_stand_in(const Api__Node *node)
{
    for (size_t i = 0; node->spec && i < node->spec->n_taints; i++)
        if (after(node->spec->taints[i], FAILOVER_TAINT_STAND_IN_VALUE))
            return true;
    return false;
}

static json_t *if_version(const struct kube_object *node)
{
    return json_pack("{s:s, s:s, s:s}", "op", "test", "path", "/metadata/resourceVersion", "value",
                     node->metadata->resource_version);
}

/* `taint` is taken. */
static json_t *add_patch(const struct kube_object *object, json_t *taint)
{
    const Api__Node *node = KUBE_AS(Api__Node, object);

    if (node->spec && node->spec->n_taints > 0)
        return json_pack("[o, {s:s, s:s, s:o}]", if_version(object), "op", "add", "path",
                         "/spec/taints/-", "value", taint);
    return json_pack("[o, {s:s, s:s, s:[o]}]", if_version(object), "op", "add", "path",
                     "/spec/taints", "value", taint);
}

json_t *failover_taint_patch(const struct kube_object *object)
{
    const char *boot_id = node_boot_id(KUBE_AS(Api__Node, object));

    return add_patch(object, json_pack("{s:s, s:o, s:s}", "key", TAINT_OUT_OF_SERVICE, "value",
                                       json_sprintf(FAILOVER_TAINT_VALUE "%s", boot_id), "effect",
                                       "NoExecute"));
}

/* That of a boot before is replaced: a Node has one taint of a key and an effect. */
json_t *failover_moved_patch(const struct kube_object *object)
{
    const Api__Node *node = KUBE_AS(Api__Node, object);
    json_t *taint = json_pack("{s:s, s:s, s:s}", "key", TAINT_FAILED_OVER, "value",
                              node_boot_id(node), "effect", "NoSchedule");

    for (size_t i = 0; node->spec && i < node->spec->n_taints; i++)
        if (is_of_moved(node->spec->taints[i]))
            return json_pack("[o, {s:s, s:o, s:o}]", if_version(object), "op", "replace", "path",
                             json_sprintf("/spec/taints/%zu", i), "value", taint);
    return add_patch(object, taint);
}

json_t *failover_untaint_patch(const struct kube_object *object)
{
    const Api__Node *node = KUBE_AS(Api__Node, object);
    json_t *patch = json_pack("[o]", if_version(object));

    /* From the last: what is removed moves nothing that is still to be removed. */
    for (size_t i = node->spec ? node->spec->n_taints : 0; i-- > 0;) {
        CLEANUP(freep) char *path = mem_printf("/spec/taints/%zu", i);

        if (boot_id_of(node->spec->taints[i]) || is_of_moved(node->spec->taints[i]))
            json_array_append_new(patch, json_pack("{s:s, s:s}", "op", "remove", "path", path));
    }
    return patch;
}
