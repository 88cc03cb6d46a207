#include "controller/attachment/attacher_calls.h"

#include <stdlib.h>
#include <string.h>

#include "controller/cache/node_attachment.h"
#include "controller/cache/published.h"
#include "lib/base/alloc.h"
#include "lib/rt/group.h"

enum {
    PAUSE_MS = 1000, /* if none comes for so long, none is expected */
    MOST_MS = 2000,
};

/* The VM of a node to which calls are expected. */
struct expecting {
    struct list link;
    struct attacher_calls *calls;
    char *node, *instance_id;
    struct waiters changed;
};

struct attacher_calls {
    struct controller *controller;
    struct task_group *group;
    struct list nodes; /* of struct expecting */
};

struct attacher_calls *attacher_calls_start(struct controller *controller, struct task_group *group)
{
    struct attacher_calls *calls = mem_alloc(sizeof *calls);

    *calls = (struct attacher_calls){.controller = controller, .group = group};
    list_init(&calls->nodes);
    return calls;
}

void attacher_calls_free(struct attacher_calls *calls)
{
    free(calls);
}

/* ---- which are to come ---- */

/* For now: published already, or that has failed, and it is tried again nobody knows when. */
static bool is_settled(const struct kube_object *object)
{
    const Api__VolumeAttachmentStatus *status = as_volume_attachment(object)->status;

    return !kube_is_deleting(object->metadata) && status &&
           (status->attached || status->attach_error);
}

static bool is_to_be_published(const struct kube_object *attachment)
{
    return !attachment || attachment_lun(as_attachment(attachment)) == NO_LUN;
}

/* Its unpublish, if that detaches the disk: what has replicas becomes one, as a rule. */
static bool is_to_be_detached(const struct controller *controller,
                              const struct kube_object *attachment)
{
    const Api__AzVolumeAttachmentSpec *spec = attachment ? as_attachment(attachment)->spec : NULL;
    const struct kube_object *volume =
        spec && spec->volume_name ? volume_of_name(controller, spec->volume_name) : NULL;
    bool stays = controller->settings.on_unpublish == ON_UNPUBLISH_DEMOTE && volume &&
                 volume_replicas_requested(as_volume(volume)) > 0;

    return spec && !stays && !kube_is_deleting(attachment->metadata) &&
           attachment_wants(as_attachment(attachment), ROLE_PRIMARY);
}

static bool is_to_come(const struct controller *controller, const struct kube_object *object)
{
    if (is_settled(object) || !volume_attachment_is_ours(controller, object))
        return false;
    CLEANUP(freep) char *volume = volume_of_volume_attachment(controller, object);
    if (!volume)
        return false;
    const struct kube_object *attachment =
        node_attachment(controller, volume, as_volume_attachment(object)->spec->node_name);
    return kube_is_deleting(object->metadata) ? is_to_be_detached(controller, attachment)
                                              : is_to_be_published(attachment);
}

size_t attacher_calls_to_come(const struct controller *controller, const char *node)
{
    size_t n, count = 0;
    struct kube_object *const *objects =
        store_find(controller->volume_attachments_by_node, node, &n);

    for (size_t i = 0; i < n; i++)
        count += is_to_come(controller, objects[i]);
    return count;
}

/* ---- waiting for them ---- */

static struct expecting *find(const struct attacher_calls *calls, const char *node)
{
    LIST_FOREACH(&calls->nodes, link) {
        struct expecting *expecting = CONTAINER_OF(link, struct expecting, link);

        if (strcmp(expecting->node, node) == 0)
            return expecting;
    }
    return NULL;
}

/* Until none is to come any more, none has come for a while, or it has been long enough. */
static struct err *await(struct task *self, struct expecting *expecting)
{
    const struct controller *controller = expecting->calls->controller;
    uint64_t now = loop_now(controller->loop), limit = now + MOST_MS, pause = now + PAUSE_MS;
    size_t left = attacher_calls_to_come(controller, expecting->node), before = left;

    while (left > 0) {
        TRY(wait_for_change(self, &expecting->changed, pause < limit ? pause : limit));
        left = attacher_calls_to_come(controller, expecting->node);
        if (left != before)
            pause = loop_now(controller->loop) + PAUSE_MS;
        before = left;
    }
    return NULL;
}

static void announce(const struct expecting *expecting, bool coming)
{
    struct cloud *cloud = expecting->calls->controller->cloud;

    cloud->ops->instance_announce(cloud, expecting->instance_id, coming);
}

static void end(struct expecting *expecting)
{
    announce(expecting, false);
    list_remove(&expecting->link);
    free(expecting->node);
    free(expecting->instance_id);
    free(expecting);
}

static void run(struct task *self, void *arg)
{
    struct expecting *expecting = arg;

    err_free(await(self, expecting)); /* it has been long enough, or the process ends */
    end(expecting);
}

void attacher_calls_expect(const struct controller *controller, const char *node,
                           const char *instance_id)
{
    struct attacher_calls *calls = controller->leading->attacher_calls;

    if (find(calls, node) || attacher_calls_to_come(controller, node) == 0)
        return;
    struct expecting *expecting = mem_alloc(sizeof *expecting);
    *expecting = (struct expecting){
        .calls = calls, .node = mem_strdup(node), .instance_id = mem_strdup(instance_id)};
    waiters_init(&expecting->changed);
    list_append(&calls->nodes, &expecting->link);
    announce(expecting, true);
    if (!group_spawn(calls->group, "attacher's calls", run, expecting))
        end(expecting);
}

void attacher_calls_changed(const struct controller *controller, const char *node)
{
    struct expecting *expecting =
        controller->leading ? find(controller->leading->attacher_calls, node) : NULL;

    if (expecting)
        waiters_wake(&expecting->changed);
}
