#include "azdiskctl/install_check.h"

#include "azdiskctl/check.h"
#include "azdiskctl/document.h"
#include "azdiskctl/facts.h"
#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/base/timestamp.h"
#include "provisioner-lib/records/driver_node.h"

/* ---- what there is ---- */

/* It is renewed every few seconds; the limit leaves room for clocks that differ. */
static const char *leader_of(const struct cluster *cluster, const struct kube_object *lease)
{
    const Api__LeaseSpec *spec = lease ? KUBE_AS(Api__Lease, lease)->spec : NULL;

    if (!spec || same_text(spec->holder_identity, "") ||
        heartbeat_is_stale(timestamp_noted(spec->renew_time), cluster->now_us,
                           cluster->heartbeat_limit_ms))
        return NULL;
    return spec->holder_identity;
}

json_t *install_check_document(const struct cluster *cluster,
                               const struct install_check_lease *lease, json_t *check)
{
    CLEANUP(overview_fini) struct overview overview = overview_of(cluster);
    CLEANUP(freep) struct kube_object **nodes = objects_sorted(&cluster->view.driver_nodes);
    json_t *list = json_array();

    for (size_t i = 0; i < cluster->view.driver_nodes.n; i++)
        json_array_append_new(list, facts_json(&overview, KIND_NODES, nodes[i]));
    return json_pack("{s:{s:o, s:o, s:b}, s:s?, s:o, s:o}", "lease", "namespace",
                     typed_name(lease->namespace_), "name", typed_name(lease->name), "exists",
                     lease->object != NULL, "leader", leader_of(cluster, lease->object), "nodes",
                     list, "check", check);
}

/* ---- what is said of it ---- */

/* Not of nodes that are off or gone: these are not the driver's. */
static bool is_broken(const json_t *node)
{
    static const char *const states[] = {"PluginSilent", "PluginNotReady"};

    for (size_t i = 0; i < COUNT_OF(states); i++)
        if (same_text(text_of(node, "state"), states[i]))
            return true;
    return false;
}

static size_t count_broken(const json_t *nodes)
{
    const json_t *node;
    size_t i, n = 0;

    json_array_foreach(nodes, i, node)
        n += is_broken(node);
    return n;
}

bool install_check_is_clean(const json_t *document)
{
    const json_t *nodes = json_object_get(document, "nodes");

    return text_of(document, "leader") && json_array_size(nodes) && !count_broken(nodes) &&
           check_is_clean(json_object_get(document, "check"));
}

static void write_nodes(const json_t *nodes, struct buffer *out)
{
    size_t broken = count_broken(nodes);
    const json_t *node;
    size_t i;

    json_array_foreach(nodes, i, node) {
        const char *heard = text_of(node, "heartbeat");

        if (is_broken(node))
            buffer_printf(out, "Node plug-in on %s: %s, last heartbeat %s\n", text_of(node, "name"),
                          text_of(node, "state"), heard ? heard : "never");
    }
    if (!json_array_size(nodes))
        buffer_printf(out, "Node plug-ins: none has reported yet\n");
    else
        buffer_printf(out, "Node plug-ins: %zu of %zu in order\n", json_array_size(nodes) - broken,
                      json_array_size(nodes));
}

static void write_leader(const json_t *document, struct buffer *out)
{
    const json_t *lease = json_object_get(document, "lease");
    const char *leader = text_of(document, "leader");

    if (leader)
        buffer_printf(out, "Controller: %s leads\n", leader);
    else if (json_is_true(json_object_get(lease, "exists")))
        buffer_printf(out, "Controller: none leads, or its Lease is not renewed any more\n");
    else
        buffer_printf(out, "Controller: there is no Lease %s in namespace %s (see -n, and LEASE)\n",
                      text_of(lease, "name"), text_of(lease, "namespace"));
}

void install_check_text(const json_t *document, struct buffer *out)
{
    write_leader(document, out);
    write_nodes(json_object_get(document, "nodes"), out);
    check_text(json_object_get(document, "check"), out);
}
