/* app.h - one azdisk-controller without its sockets: everything that it does, over transports
 * that are given to it.
 *
 * main.c gives it connections to a cluster and to Azure; the simulation (test/sim) gives it others
 * and a virtual loop. The calls are made in the order in which they are here.
 */
#pragma once

#include "controller/controller.h"
#include "controller/flags.h"
#include "controller/leader.h"
#include "lib/http/leader_guard.h"
#include "lib/kube/config.h"
#include "lib/rt/group.h"
#include "provisioner-lib/azure/config.h"

struct app {
    struct controller controller;
    const struct flags *flags;
    struct task_group background;  /* reflectors, events */
    struct task_group cloud_tasks; /* queues of VMs, tokens */
    struct leader_guard kube_guard, cloud_guard;
    char *cluster_id;
    char *identity; /* as a candidate */
    struct leader *leader;
};

/* What is pointed to, here and below, must outlive the app. */
void app_init(struct app *app, struct loop *loop, const struct flags *flags);

/* `kube` is for what any replica may do; what only the leader may goes through `http` as well. */
void app_connect_cluster(struct app *app, struct kube *kube, struct http_transport *http,
                         const struct kube_config *config);
/* As azure_cloud_new. */
void app_connect_cloud(struct app *app, struct azure_config *config,
                       struct http_transport *resource_manager, struct http_transport *metadata);

/* Reads the cluster; CSI calls may be served afterwards. */
struct err *app_read_cluster(struct task *self, struct app *app)
    __attribute__((warn_unused_result));

/* Becomes a candidate. `lost(ctx)`: the lease was lost, and the process must end now. */
void app_campaign(struct app *app, void (*lost)(void *ctx), void *ctx);
bool app_leads(const struct app *app);
/* Stops what a leader does, and gives the lease back. Before the CSI server is closed. */
void app_resign(struct task *self, struct app *app);

/* Ends and frees everything, however far it came. */
void app_close(struct task *self, struct app *app);
