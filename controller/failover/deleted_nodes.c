#include "controller/failover/deleted_nodes.h"

#include <string.h>

#include "controller/failover/taint.h"
#include "lib/base/alloc.h"
#include "lib/base/hash.h"

/* More Nodes than are failed over before their volumes are released otherwise. */
enum { MOST = 64 };

struct deleted_node {
    struct kube_object *node; /* referenced */
    UT_hash_handle hh;        /* by its name */
};

static struct deleted_node *find(const struct controller *controller, const char *name)
{
    struct deleted_node *entry;

    HASH_FIND_STR(controller->deleted_nodes, name, entry);
    return entry;
}

static void forget(struct controller *controller, struct deleted_node *entry)
{
    HASH_DEL(controller->deleted_nodes, entry);
    kube_object_unref(entry->node);
    free(entry);
}

static void forget_name(struct controller *controller, const char *name)
{
    struct deleted_node *entry = find(controller, name);

    if (entry)
        forget(controller, entry);
}

static void remember(struct controller *controller, struct kube_object *node)
{
    struct deleted_node *entry = mem_alloc(sizeof *entry);

    entry->node = kube_object_ref(node);
    HASH_ADD_KEYPTR(hh, controller->deleted_nodes, node->metadata->name,
                    strlen(node->metadata->name), entry);
    if (HASH_COUNT(controller->deleted_nodes) > MOST)
        forget(controller, controller->deleted_nodes); /* the oldest */
}

static bool has_primary(const struct controller *controller, const char *node)
{
    size_t n;
    struct kube_object *const *found = store_find(controller->attachments_by_node, node, &n);

    for (size_t i = 0; i < n; i++)
        if (attachment_wants(as_attachment(found[i]), ROLE_PRIMARY) ||
            attachment_is(as_attachment(found[i]), ROLE_PRIMARY))
            return true;
    return false;
}

static bool is_stand_in(const struct kube_object *node)
{
    return failover_taint_is_stand_in(KUBE_AS(Api__Node, node));
}

/* A stand-in (stand_in.h) comes and goes in place of the Node that is remembered. */
void deleted_nodes_note(struct controller *controller, struct kube_object *before,
                        struct kube_object *after)
{
    struct kube_object *node = after ? after : before;

    if (!controller->settings.node_grace_period_ms || is_stand_in(node))
        return;
    forget_name(controller, node->metadata->name);
    if (!after && has_primary(controller, node->metadata->name))
        remember(controller, node);
}

struct kube_object *deleted_node(const struct controller *controller, const char *name)
{
    const struct deleted_node *entry = find(controller, name);

    return entry ? entry->node : NULL;
}

void deleted_nodes_free(struct controller *controller)
{
    HASH_FOREACH(controller->deleted_nodes, entry)
        forget(controller, entry);
}
