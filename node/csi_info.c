/* NodeGetInfo and NodeGetCapabilities. */

#include "lib/api/csi.pb-c.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "node/csi_service.h"
#include "node/informers.h"
#include "node/zone.h"

enum { LIMIT_WAIT_MS = 30 * 1000 };

/* ---- NodeGetInfo ---- */

static void add_segment(struct arena *arena, Csi__V1__Topology *topology, const char *key,
                        const char *value)
{
    Csi__V1__Topology__SegmentsEntry *entry = arena_alloc(arena, sizeof *entry);

    csi__v1__topology__segments_entry__init(entry);
    entry->key = arena_strdup(arena, key);
    entry->value = arena_strdup(arena, value);
    topology->segments[topology->n_segments++] = entry;
}

/* The driver's own segment is there on nodes without a zone, too: volumes without one match it. */
static Csi__V1__Topology *topology_of(const struct node *node, struct arena *arena,
                                      const char *zone)
{
    Csi__V1__Topology *topology = arena_alloc(arena, sizeof *topology);

    csi__v1__topology__init(topology);
    topology->segments = arena_alloc(arena, 2 * sizeof *topology->segments);
    add_segment(arena, topology, arena_printf(arena, ZONE_OF_DRIVER, node->settings.driver_name),
                zone);
    if (zone[0])
        add_segment(arena, topology, ZONE_OF_KUBERNETES, zone);
    return topology;
}

/* The controller knows the VM's size and its other disks, and writes what they allow into our
 * AzDriverNode. For a size that nobody knows that is as many as there are LUNs, more than which no
 * VM takes from this driver. A node without any place says 1, which is the least that can be said:
 * by 0 CSI leaves it to the orchestrator, and Kubernetes knows no limit then. */
static struct err *await_limit(struct task *self, struct node *node, uint64_t deadline,
                               int64_t *ret_limit)
{
    int limit;

    if (node->settings.volume_attach_limit >= 0) {
        *ret_limit = node->settings.volume_attach_limit;
        return NULL;
    }
    while ((limit = informers_slot_limit(node)) < 0) {
        CLEANUP(err_freep) struct err *err = wait_for_change(self, &node->changed, deadline);

        if (err && err_kind(err) == ERR_TIMEOUT)
            return err_new(ERR_UNAVAILABLE,
                           "the controller has not yet written to AzDriverNode %s how many disks "
                           "can be attached to this node's VM",
                           node->settings.node_id);
        if (err)
            return TAKE_PTR(err);
    }
    *ret_limit = limit > 0 ? limit : 1;
    return NULL;
}

struct err *csi_get_info(struct task *self, struct rpc_call *call, const void *request, void *ret)
{
    struct node *node = call->ctx;
    Csi__V1__NodeGetInfoResponse *response = ret;
    uint64_t deadline = csi_wait_deadline(node, call);
    uint64_t limit_deadline = loop_now(node->loop) + LIMIT_WAIT_MS;
    CLEANUP(freep) char *zone = NULL;

    (void)request;
    TRY(zone_find(self, node, deadline, &zone));
    TRY(await_limit(self, node, limit_deadline < deadline ? limit_deadline : deadline,
                    &response->max_volumes_per_node));
    response->node_id = arena_strdup(call->arena, node->settings.node_id);
    response->accessible_topology = topology_of(node, call->arena, zone);
    return NULL;
}

/* ---- NodeGetCapabilities ---- */

#define RPC_TYPE(name) CSI__V1__NODE_SERVICE_CAPABILITY__RPC__TYPE__##name

static const Csi__V1__NodeServiceCapability__RPC__Type capabilities[] = {
    RPC_TYPE(STAGE_UNSTAGE_VOLUME),     RPC_TYPE(EXPAND_VOLUME),
    RPC_TYPE(GET_VOLUME_STATS),         RPC_TYPE(VOLUME_CONDITION),
    RPC_TYPE(SINGLE_NODE_MULTI_WRITER),
};

struct err *csi_get_capabilities(struct task *self, struct rpc_call *call, const void *request,
                                 void *ret)
{
    Csi__V1__NodeGetCapabilitiesResponse *response = ret;

    (void)self, (void)request;
    response->capabilities =
        arena_alloc(call->arena, COUNT_OF(capabilities) * sizeof *response->capabilities);
    for (size_t i = 0; i < COUNT_OF(capabilities); i++) {
        Csi__V1__NodeServiceCapability *capability = arena_alloc(call->arena, sizeof *capability);
        Csi__V1__NodeServiceCapability__RPC *rpc = arena_alloc(call->arena, sizeof *rpc);

        csi__v1__node_service_capability__init(capability);
        csi__v1__node_service_capability__rpc__init(rpc);
        rpc->type = capabilities[i];
        capability->type_case = CSI__V1__NODE_SERVICE_CAPABILITY__TYPE_RPC;
        capability->rpc = rpc;
        response->capabilities[response->n_capabilities++] = capability;
    }
    return NULL;
}
