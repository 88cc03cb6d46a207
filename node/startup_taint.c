#include "node/startup_taint.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/rt/backoff.h"

#define KEY "%s/agent-not-ready" /* of the driver's name; as upstream's driver has it */

enum { RETRY_LEAST_MS = 1000, RETRY_MOST_MS = 5 * 60 * 1000 };

json_t *startup_taint_patch(const Api__NodeSpec *spec, const char *key)
{
    json_t *patch = json_array();

    /* From the last: what is removed moves nothing that is still to be removed. */
    for (size_t i = spec ? spec->n_taints : 0; i-- > 0;) {
        CLEANUP(freep) char *taint = mem_printf("/spec/taints/%zu", i);
        CLEANUP(freep) char *its_key = mem_printf("%s/key", taint);

        if (!spec->taints[i]->key || strcmp(spec->taints[i]->key, key) != 0)
            continue;
        json_array_append_new(
            patch, json_pack("{s:s, s:s, s:s}", "op", "test", "path", its_key, "value", key));
        json_array_append_new(patch, json_pack("{s:s, s:s}", "op", "remove", "path", taint));
    }
    if (json_array_size(patch) > 0)
        return patch;
    json_decref(patch);
    return NULL;
}

bool startup_taint_may_go(const Api__CSINode *csi_node, const char *driver_name)
{
    const Api__CSINodeSpec *spec = csi_node->spec;

    for (size_t i = 0; spec && i < spec->n_drivers; i++)
        if (spec->drivers[i]->name && strcmp(spec->drivers[i]->name, driver_name) == 0)
            return true;
    return false;
}

static struct err *remove_taint(struct task *self, struct node *node)
{
    const char *name = node->settings.node_id, *driver = node->settings.driver_name;
    CLEANUP(freep) char *key = mem_printf(KEY, driver);
    CLEANUP(kube_object_unrefp) struct kube_object *csi_node = NULL;
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    TRY(kube_get(self, node->kube, &CSI_NODES, NULL, name, &csi_node));
    if (!startup_taint_may_go(KUBE_AS(Api__CSINode, csi_node), driver))
        return err_new(ERR_UNAVAILABLE, "CSINode %s does not name driver %s yet", name, driver);
    TRY(kube_get(self, node->kube, &NODES, NULL, name, &object));
    CLEANUP(json_decrefp)
    json_t *patch = startup_taint_patch(KUBE_AS(Api__Node, object)->spec, key);
    if (!patch)
        return NULL;
    TRY(kube_json_patch(self, node->kube, &NODES, NULL, name, patch));
    log_info("node %s: removed taint %s", name, key);
    return NULL;
}

/* A Node that was deleted comes back with its taint, and its kubelet registers the plug-in anew. */
static void run(struct task *self, void *arg)
{
    struct node *node = arg;
    struct backoff backoff = {.least_ms = RETRY_LEAST_MS, .most_ms = RETRY_MOST_MS};
    unsigned done = 0;

    while (!task_is_cancelled(self)) {
        unsigned registrations = node->registrations;
        CLEANUP(err_freep) struct err *err = node_check_ready(node);

        if (err || done == registrations) {
            err_free(wait_for_change(self, &node->changed, TIMER_NEVER));
            continue;
        }
        err = remove_taint(self, node);
        if (!err) {
            done = registrations;
            backoff_reset(&backoff);
            continue;
        }
        if (err_kind(err) != ERR_CANCELED)
            log_warning("the startup taint of node %s cannot be removed yet: %s",
                        node->settings.node_id, err_message(err));
        err_free(task_sleep(self, backoff_next(&backoff, loop_random(node->loop))));
    }
}

void startup_taint_start(struct node *node, struct task_group *group)
{
    group_spawn(group, "startup taint", run, node);
}
