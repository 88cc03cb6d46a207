#include "node/registration.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/api/pluginregistration.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/rt/backoff.h"
#include "node/left_mount.h"

#define SCHEME "unix://"

enum { RETRY_LEAST_MS = 1000, RETRY_MOST_MS = 5 * 60 * 1000 };

char *registration_endpoint(const char *folder, const char *driver_name)
{
    return mem_printf(SCHEME "%s/%s-reg.sock", folder, driver_name);
}

static struct err *get_info(struct task *self, struct rpc_call *call, const void *request,
                            void *ret)
{
    struct node *node = call->ctx;
    Pluginregistration__PluginInfo *response = ret;

    (void)self, (void)request;
    left_mounts_kubelet_began(node);
    response->type = arena_strdup(call->arena, "CSIPlugin");
    response->name = arena_strdup(call->arena, node->settings.driver_name);
    response->endpoint = arena_strdup(call->arena, node->settings.kubelet_endpoint);
    response->supported_versions = arena_alloc(call->arena, sizeof(char *));
    response->supported_versions[0] = arena_strdup(call->arena, "1.0.0");
    response->n_supported_versions = 1;
    return NULL;
}

/* The same error again, which may come for long, is no news. */
static void set_registration_error(struct node *node, const char *why)
{
    if (!node->registration_error || strcmp(node->registration_error, why) != 0)
        log_error("kubelet could not register the plug-in: %s", why);
    free(node->registration_error);
    node->registration_error = mem_strdup(why);
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
        node->registrations++;
        free(TAKE_PTR(node->registration_error));
    } else {
        set_registration_error(node, request->error);
    }
    node_changed(node);
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

/* ---- asking again ---- */

struct registration {
    struct node *node;
    char *socket;
    char *away; /* kubelet passes over names that begin with a dot */
};

static void registration_free(struct registration *registration)
{
    free(registration->socket);
    free(registration->away);
    free(registration);
}
DEFINE_CLEANUP(struct registration, registration_free)

/* A socket that is away already was left there by a failure. */
static void appear_again(const struct registration *registration)
{
    if ((rename(registration->socket, registration->away) == 0 || errno == ENOENT) &&
        rename(registration->away, registration->socket) == 0)
        log_debug("asked kubelet for registration");
    else
        log_error("%s: %s", registration->socket, strerror(errno));
}

static void run(struct task *self, void *arg)
{
    CLEANUP(registration_freep) struct registration *registration = arg;
    struct node *node = registration->node;
    struct backoff backoff = {.least_ms = RETRY_LEAST_MS, .most_ms = RETRY_MOST_MS};

    while (!task_is_cancelled(self)) {
        if (node->registered)
            backoff_reset(&backoff);
        if (!node->registration_error) {
            err_free(wait_for_change(self, &node->changed, TIMER_NEVER));
            continue;
        }
        err_free(task_sleep(self, backoff_next(&backoff, loop_random(node->loop))));
        if (node->registration_error && !node->stopping)
            appear_again(registration);
    }
}

void registration_start(struct node *node, struct task_group *group, const char *endpoint)
{
    const char *socket = endpoint + strlen(SCHEME), *name = strrchr(socket, '/') + 1;
    struct registration *registration = mem_alloc(sizeof *registration);

    *registration = (struct registration){
        .node = node,
        .socket = mem_strdup(socket),
        .away = mem_printf("%.*s.%s", (int)(name - socket), socket, name),
    };
    if (!group_spawn(group, "registration", run, registration))
        registration_free(registration);
}
