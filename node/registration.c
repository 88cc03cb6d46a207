#include "node/registration.h"

#include "lib/api/pluginregistration.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"

char *registration_endpoint(const char *folder, const char *driver_name)
{
    return mem_printf("unix://%s/%s-reg.sock", folder, driver_name);
}

static struct err *get_info(struct task *self, struct rpc_call *call, const void *request,
                            void *ret)
{
    const struct node *node = call->ctx;
    Pluginregistration__PluginInfo *response = ret;

    (void)self, (void)request;
    response->type = arena_strdup(call->arena, "CSIPlugin");
    response->name = arena_strdup(call->arena, node->settings.driver_name);
    response->endpoint = arena_strdup(call->arena, node->settings.kubelet_endpoint);
    response->supported_versions = arena_alloc(call->arena, sizeof(char *));
    response->supported_versions[0] = arena_strdup(call->arena, "1.0.0");
    response->n_supported_versions = 1;
    return NULL;
}

static struct err *notify_registration_status(struct task *self, struct rpc_call *call,
                                              const void *message, void *ret)
{
    const Pluginregistration__RegistrationStatus *request = message;
    struct node *node = call->ctx;

    (void)self, (void)ret;
    node->registered = request->plugin_registered;
    if (request->plugin_registered) {
        log_info("registered with kubelet");
        node_changed(node);
        return NULL;
    }
    log_error("kubelet could not register the plug-in: %s", request->error);
    node_stop(node, true);
    return NULL;
}

static const struct rpc_method methods[] = {
    {"GetInfo", get_info},
    {"NotifyRegistrationStatus", notify_registration_status},
};

struct rpc_service registration_service(struct node *node)
{
    return (struct rpc_service){
        .descriptor = &pluginregistration__registration__descriptor,
        .methods = methods,
        .n_methods = COUNT_OF(methods),
        .ctx = node,
    };
}
