#include "lib/rpc/csi_identity.h"

#include "lib/base/alloc.h"

static struct err *get_plugin_info(struct task *self, struct rpc_call *call, const void *request,
                                   void *response)
{
    const struct csi_identity *identity = call->ctx;
    Csi__V1__GetPluginInfoResponse *info = response;

    (void)self;
    (void)request;
    info->name = arena_strdup(call->arena, identity->driver_name);
    info->vendor_version = arena_strdup(call->arena, VERSION);
    return NULL;
}

static Csi__V1__PluginCapability *capability(struct arena *arena, const struct csi_capability *row)
{
    Csi__V1__PluginCapability *of = arena_alloc(arena, sizeof *of);

    csi__v1__plugin_capability__init(of);
    of->type_case = row->of;
    if (row->of == CSI__V1__PLUGIN_CAPABILITY__TYPE_SERVICE) {
        of->service = arena_alloc(arena, sizeof *of->service);
        csi__v1__plugin_capability__service__init(of->service);
        of->service->type = (Csi__V1__PluginCapability__Service__Type)row->type;
    } else {
        of->volume_expansion = arena_alloc(arena, sizeof *of->volume_expansion);
        csi__v1__plugin_capability__volume_expansion__init(of->volume_expansion);
        of->volume_expansion->type = (Csi__V1__PluginCapability__VolumeExpansion__Type)row->type;
    }
    return of;
}

static struct err *get_plugin_capabilities(struct task *self, struct rpc_call *call,
                                           const void *request, void *response)
{
    const struct csi_identity *identity = call->ctx;
    Csi__V1__GetPluginCapabilitiesResponse *answer = response;

    (void)self;
    (void)request;
    answer->n_capabilities = identity->n_capabilities;
    answer->capabilities =
        arena_alloc(call->arena, identity->n_capabilities * sizeof *answer->capabilities);
    for (size_t i = 0; i < identity->n_capabilities; i++)
        answer->capabilities[i] = capability(call->arena, &identity->capabilities[i]);
    return NULL;
}

static struct err *probe(struct task *self, struct rpc_call *call, const void *request,
                         void *response)
{
    const struct csi_identity *identity = call->ctx;
    Csi__V1__ProbeResponse *answer = response;

    (void)self;
    (void)request;
    answer->ready = arena_alloc(call->arena, sizeof *answer->ready);
    google__protobuf__bool_value__init(answer->ready);
    answer->ready->value = identity->is_ready(identity->ctx);
    return NULL;
}

struct rpc_service csi_identity_service(struct csi_identity *identity)
{
    static const struct rpc_method methods[] = {
        {"GetPluginInfo", get_plugin_info},
        {"GetPluginCapabilities", get_plugin_capabilities},
        {"Probe", probe},
    };

    return (struct rpc_service){&csi__v1__identity__descriptor, methods, COUNT_OF(methods),
                                identity};
}
