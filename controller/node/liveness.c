#include "controller/node/liveness.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/kube/node.h"
#include "provisioner-lib/records/driver_node.h"

struct node_liveness_plan node_liveness_decide(const struct node_liveness_snapshot *in)
{
    int64_t limit = (int64_t)in->limit_ms * 1000, silence = in->now_us - in->heard_us;

    if (in->node_ready)
        return (struct node_liveness_plan){0};
    if (heartbeat_is_stale(in->heard_us, in->now_us, in->limit_ms))
        return (struct node_liveness_plan){.unreachable = true};
    return (struct node_liveness_plan){.again_ms = (uint64_t)(limit - silence) / 1000 + 1};
}

static const char *heartbeat_of(const struct kube_object *driver_node)
{
    const Api__AzDriverNodeStatus *status = KUBE_AS(Api__AzDriverNode, driver_node)->status;

    return status ? status->last_heartbeat_time : NULL;
}

static struct node_liveness_plan decide(const struct controller *controller,
                                        const struct kube_object *node, const char *heartbeat)
{
    struct node_liveness_snapshot in = {.node_ready = node_is_ready(KUBE_AS(Api__Node, node)),
                                        .now_us = loop_wall_us(controller->loop),
                                        .limit_ms = controller->settings.heartbeat_limit_ms};

    in.heard_us = timestamp_noted(heartbeat);
    return node_liveness_decide(&in);
}

/* The nodes of the replicas, to which a pod could move; free() it. */
static char *replicas_of(const struct controller *controller, const char *volume)
{
    size_t n;
    struct kube_object *const *objects = attachments_of_volume(controller, volume, &n);
    char *list = mem_strdup("");

    for (size_t i = 0; i < n; i++) {
        const Api__AzVolumeAttachment *attachment = as_attachment(objects[i]);

        if (attachment_wants(attachment, ROLE_PRIMARY) || kube_is_deleting(objects[i]->metadata))
            continue;
        char *longer = mem_printf("%s%s%s", list, *list ? ", " : "", attachment->spec->node_name);
        free(list);
        list = longer;
    }
    if (!*list) {
        free(list);
        list = mem_strdup("none");
    }
    return list;
}

static void report_volume(const struct controller *controller, const char *volume, const char *node,
                          const char *since)
{
    CLEANUP(freep) char *replicas = replicas_of(controller, volume);
    const struct kube_object *object = volume_of_name(controller, volume);

    if (object)
        events_record(
            controller->events, &AZ_VOLUMES, object->metadata, EVENT_WARNING,
            "PublishedOnUnreachableNode", "Wait",
            "Nothing has been heard since %s from node %s, to which the volume is published; its "
            "pod may still be running there. Kubernetes releases the volume for another node when "
            "the node comes back, immediately after the node gets the taint "
            "node.kubernetes.io/out-of-service (set it only if the machine is off), or 6 minutes "
            "after the pod is force-deleted. Replicas are attached on: %s",
            node, since, replicas);
}

uint64_t node_liveness_report(const struct controller *controller, const struct kube_object *node,
                              const struct kube_object *driver_node)
{
    const char *name = node->metadata->name, *heartbeat = heartbeat_of(driver_node);
    const char *since = heartbeat ? heartbeat : "its start";
    struct node_liveness_plan plan = decide(controller, node, heartbeat);
    unsigned published = 0;
    size_t n;
    struct kube_object *const *objects = store_find(controller->attachments_by_node, name, &n);

    for (size_t i = 0; i < n && plan.unreachable; i++) {
        const Api__AzVolumeAttachment *attachment = as_attachment(objects[i]);

        if (!attachment_wants(attachment, ROLE_PRIMARY) || !attachment->spec->volume_name)
            continue;
        published++;
        report_volume(controller, attachment->spec->volume_name, name, since);
    }
    if (published)
        events_record(
            controller->events, &NODES, node->metadata, EVENT_WARNING, "NodeUnreachable", "Wait",
            "Nothing has been heard from kubelet or the Azure disk plug-in on this node since %s; "
            "%u published volume%s be attached to another node before Kubernetes releases this one",
            since, published, published == 1 ? " cannot" : "s cannot");
    return plan.again_ms;
}
