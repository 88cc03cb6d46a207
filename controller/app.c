#include "controller/app.h"

#include <stdlib.h>

#include "controller/cache/informers.h"
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

void instance_init(struct instance *instance, struct loop *loop, const struct flags *flags)
{
    *instance = (struct instance){
        .controller = {.loop = loop, .settings = flags->settings},
        .flags = flags,
    };
    list_init(&instance->controller.claims);
    semaphore_init(&instance->controller.publishes, MOST_PUBLISHES);
    group_init(&instance->background, loop);
    group_init(&instance->cloud_tasks, loop);
}

static bool may_write(void *ctx)
{
    return instance_leads(ctx);
}

static void event_failed(void *ctx, const struct err *err)
{
    (void)ctx;
    log_warning("an event was not written: %s", err_message(err));
}

void instance_connect_cluster(struct instance *instance, struct kube *kube,
                              struct http_transport *http, const struct kube_config *config)
{
    struct controller *controller = &instance->controller;

    controller->kube = kube;
    leader_guard_init(&instance->kube_guard, http, may_write, instance);
    controller->leader_kube = kube_new(controller->loop, &instance->kube_guard.transport, config);
    controller->events =
        events_new(&instance->background, &(struct events_config){
                                              .kube = controller->kube,
                                              .controller = controller->settings.driver_name,
                                              .instance = instance->flags->pod_name,
                                              .failed = event_failed,
                                          });
}

void instance_connect_cloud(struct instance *instance, struct azure_config *config,
                            struct http_transport *resource_manager,
                            struct http_transport *metadata)
{
    leader_guard_init(&instance->cloud_guard, resource_manager, may_write, instance);
    instance->controller.cloud =
        azure_cloud_new(&instance->cloud_tasks, config, instance->flags->cloud_cache,
                        &instance->cloud_guard.transport, metadata);
}

/* Without it no disk could be told from one of another cluster. */
static struct err *read_cluster_id(struct task *self, struct instance *instance)
{
    struct controller *controller = &instance->controller;
    struct backoff backoff = {.least_ms = CLUSTER_ID_LEAST_MS, .most_ms = CLUSTER_ID_MOST_MS};
    struct err *err;

    while ((err = kube_cluster_id(self, controller->kube, &instance->cluster_id)) &&
           err_kind(err) != ERR_CANCELED) {
        log_warning("CSI is not served yet: %s", err_message(err));
        err_free(err);
        TRY(task_sleep(self, backoff_next(&backoff, loop_random(controller->loop))));
    }
    TRY(err);
    controller->creator = (struct disk_creator){.driver = controller->settings.driver_name,
                                                .cluster = instance->cluster_id};
    return NULL;
}

struct err *instance_read_cluster(struct task *self, struct instance *instance)
{
    struct controller *controller = &instance->controller;

    informers_init(controller);
    object_events_start(controller);
    replica_events_start(controller);
    informers_start(controller, &instance->background);
    TRY(read_cluster_id(self, instance));
    return informers_wait_synced(self, controller);
}

void instance_stand(struct instance *instance, void (*lost)(void *ctx), void *ctx)
{
    const struct flags *flags = instance->flags;
    char uuid[UUID_SIZE];

    random_uuid(loop_random(instance->controller.loop), uuid);
    instance->identity = mem_printf("%s_%s", flags->pod_name, uuid);
    instance->leader = leader_new(&(struct leader_config){
        .controller = &instance->controller,
        .lease = {.namespace_ = flags->lease_namespace,
                  .name = flags->lease_name,
                  .identity = instance->identity,
                  .duration_ms = flags->lease_duration_ms,
                  .renew_deadline_ms = flags->renew_deadline_ms,
                  .retry_period_ms = flags->retry_period_ms},
        .lost = lost,
        .ctx = ctx,
    });
}

bool instance_leads(const struct instance *instance)
{
    return leader_leads(instance->leader);
}

void instance_step_down(struct task *self, struct instance *instance)
{
    struct leader *leader = TAKE_PTR(instance->leader); /* from here on nothing is sent */

    /* What Azure is doing goes on without being watched, or the next leader would have to wait for
     * it: it finds in the models what becomes of it, as after a crash. */
    group_close(self, &instance->cloud_tasks);
    leader_stop(self, leader);
}

void instance_close(struct task *self, struct instance *instance)
{
    struct controller *controller = &instance->controller;

    instance_step_down(self, instance);
    group_close(self, &instance->background);
    azure_cloud_free(controller->cloud);
    events_free(controller->events);
    replica_events_stop(controller);
    informers_free(controller);
    kube_free(controller->leader_kube);
    free(instance->identity);
    free(instance->cluster_id);
}
