#include "controller/app.h"

#include <stdlib.h>

#include "controller/cache/informers.h"
#include "controller/failover/deleted_nodes.h"
#include "controller/routing/object_events.h"
#include "controller/routing/replica_events.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/kube/cluster_id.h"
#include "lib/rt/backoff.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/azure/azure.h"

/* As many as there are connections to the API server. A thousand calls that come at once would each
 * hold a document that waits for one of them. */
enum { MOST_PUBLISHES = 32 };

enum { CLUSTER_ID_LEAST_MS = 200, CLUSTER_ID_MOST_MS = 5 * 1000 }; /* between attempts to read it */

void app_init(struct app *app, struct loop *loop, const struct flags *flags)
{
    *app = (struct app){
        .controller = {.loop = loop, .settings = flags->settings},
        .flags = flags,
    };
    semaphore_init(&app->controller.publishes, MOST_PUBLISHES);
    waiters_init(&app->controller.adoptions.ended);
    group_init(&app->background, loop);
    group_init(&app->cloud_tasks, loop);
}

static bool may_write(void *ctx)
{
    return app_leads(ctx);
}

static void event_failed(void *ctx, const struct err *err)
{
    (void)ctx;
    log_warning("writing an event failed: %s", err_message(err));
}

void app_connect_cluster(struct app *app, struct kube *kube, struct http_transport *http,
                         const struct kube_config *config)
{
    struct controller *controller = &app->controller;

    controller->kube = kube;
    leader_guard_init(&app->kube_guard, http, may_write, app);
    controller->leader_kube = kube_new(controller->loop, &app->kube_guard.transport, config);
    controller->events =
        events_new(&app->background, &(struct events_config){
                                         .kube = controller->kube,
                                         .controller = controller->settings.driver_name,
                                         .instance = app->flags->pod_name,
                                         .failed = event_failed,
                                     });
}

void app_connect_cloud(struct app *app, struct azure_config *config,
                       struct http_transport *resource_manager, struct http_transport *metadata)
{
    leader_guard_init(&app->cloud_guard, resource_manager, may_write, app);
    app->controller.cloud = azure_cloud_new(&app->cloud_tasks, config, app->flags->cloud_cache,
                                            &app->cloud_guard.transport, metadata);
}

/* Without it no disk could be told from one of another cluster. */
static struct err *read_cluster_id(struct task *self, struct app *app)
{
    struct controller *controller = &app->controller;
    struct backoff backoff = {.least_ms = CLUSTER_ID_LEAST_MS, .most_ms = CLUSTER_ID_MOST_MS};
    struct err *err;

    while ((err = kube_cluster_id(self, controller->kube, &app->cluster_id)) &&
           err_kind(err) != ERR_CANCELED) {
        log_warning("not serving CSI yet: %s", err_message(err));
        err_free(err);
        TRY(task_sleep(self, backoff_next(&backoff, loop_random(controller->loop))));
    }
    TRY(err);
    controller->creator = (struct disk_creator){.driver = controller->settings.driver_name,
                                                .cluster = app->cluster_id};
    return NULL;
}

struct err *app_read_cluster(struct task *self, struct app *app)
{
    struct controller *controller = &app->controller;

    informers_init(controller);
    object_events_start(controller);
    replica_events_start(controller);
    informers_start(controller, &app->background);
    TRY(read_cluster_id(self, app));
    return informers_wait_synced(self, controller);
}

void app_campaign(struct app *app, void (*lost)(void *ctx), void *ctx)
{
    const struct flags *flags = app->flags;
    char uuid[UUID_SIZE];

    random_uuid(loop_random(app->controller.loop), uuid);
    app->identity = mem_printf("%s_%s", flags->pod_name, uuid);
    app->leader = leader_new(&(struct leader_config){
        .controller = &app->controller,
        .lease = {.namespace_ = flags->lease_namespace,
                  .name = flags->lease_name,
                  .identity = app->identity,
                  .duration_ms = flags->lease_duration_ms,
                  .renew_deadline_ms = flags->renew_deadline_ms,
                  .retry_period_ms = flags->retry_period_ms},
        .lost = lost,
        .ctx = ctx,
    });
}

bool app_leads(const struct app *app)
{
    return leader_leads(app->leader);
}

void app_resign(struct task *self, struct app *app)
{
    struct leader *leader = TAKE_PTR(app->leader); /* from here on nothing is sent */

    /* What Azure is doing goes on without being watched, or the next leader would have to wait for
     * it: it finds in the models what becomes of it, as after a crash. */
    group_close(self, &app->cloud_tasks);
    leader_stop(self, leader);
}

void app_close(struct task *self, struct app *app)
{
    struct controller *controller = &app->controller;

    app_resign(self, app);
    group_close(self, &app->background);
    azure_cloud_free(controller->cloud);
    events_free(controller->events);
    replica_events_stop(controller);
    deleted_nodes_free(controller);
    informers_free(controller);
    kube_free(controller->leader_kube);
    free(app->identity);
    free(app->cluster_id);
}
