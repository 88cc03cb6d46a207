#include "controller/attachment/dangling_attach.h"

#include <string.h>
#include <strings.h>

#include "controller/cache/informers.h"
#include "controller/cache/published.h"
#include "lib/base/alloc.h"
#include "lib/kube/node.h"
#include "provisioner-lib/audit/cluster_view.h"
#include "provisioner-lib/records/names.h"

/* ---- deciding ---- */

bool dangling_attach_decide(const struct dangling_snapshot *in, size_t *ret_owner)
{
    bool is_why = in->max_shares > 0 && in->n_owners >= (size_t)in->max_shares;

    if (!in->ours || !in->for_primary || in->used_elsewhere || !is_why)
        return false;
    for (size_t i = 0; i < in->n_owners; i++)
        if (!in->owners[i].here && !in->owners[i].on_record) {
            *ret_owner = i;
            return true;
        }
    return false;
}

/* ---- who uses it ---- */

static const char *node_of(const struct attachment_work *work)
{
    return work->attachment->spec->node_name;
}

static bool is_published_elsewhere(const struct attachment_work *work)
{
    size_t n;
    CLEANUP(freep)
    struct kube_object **volume_attachments =
        volume_attachments_of(work->controller, work->attachment->spec->volume_name, &n);

    for (size_t i = 0; i < n; i++)
        if (strcmp(as_volume_attachment(volume_attachments[i])->spec->node_name, node_of(work)) !=
            0)
            return true;
    return false;
}

static bool is_in_use_elsewhere(const struct attachment_work *work)
{
    STORE_FOREACH(work->controller->nodes, node)
        if (strcmp(node->metadata->name, node_of(work)) != 0 &&
            node_uses_volume(KUBE_AS(Api__Node, node), work->controller->settings.driver_name,
                             work->in.disk_id))
            return true;
    return false;
}

/* The VM of a Node, as far as it says which; free() it. */
static char *vm_of(const struct controller *controller, const struct kube_object *node)
{
    char *id = NULL;

    err_free(controller->cloud->ops->instance_id(controller->cloud, node->metadata->name,
                                                 node_provider_id(KUBE_AS(Api__Node, node)), &id));
    return id;
}

static const struct kube_object *node_of_vm(const struct controller *controller, const char *vm)
{
    STORE_FOREACH(controller->nodes, node) {
        CLEANUP(freep) char *id = vm_of(controller, node);

        if (id && strcasecmp(id, vm) == 0)
            return node;
    }
    return NULL;
}

/* What the VM's kubelet says now, which the cache may be behind. */
static struct err *ask_kubelet(struct task *self, const struct attachment_work *work,
                               const char *vm, bool *ret_uses)
{
    struct controller *controller = work->controller;
    const struct kube_object *node = node_of_vm(controller, vm);
    CLEANUP(kube_object_unrefp) struct kube_object *now = NULL;

    *ret_uses = false;
    if (!node)
        return NULL;
    struct err *err =
        kube_get(self, controller->leader_kube, &NODES, NULL, node->metadata->name, &now);
    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return NULL;
    }
    TRY(err);
    *ret_uses = node_uses_volume(KUBE_AS(Api__Node, now), controller->settings.driver_name,
                                 work->in.disk_id);
    return NULL;
}

/* ---- who is on record ---- */

static bool is_on_record(const struct attachment_work *work, const char *vm)
{
    size_t n;
    struct kube_object *const *objects =
        attachments_of_volume(work->controller, work->attachment->spec->volume_name, &n);
    const struct kube_object *node = node_of_vm(work->controller, vm);

    for (size_t i = 0; i < n; i++) {
        const Api__AzVolumeAttachment *attachment = as_attachment(objects[i]);
        const char *recorded = attachment_annotation(attachment, ANNOTATION_VM);

        if ((recorded && strcasecmp(recorded, vm) == 0) ||
            (node && attachment->spec->node_name &&
             strcmp(node->metadata->name, attachment->spec->node_name) == 0))
            return true;
    }
    return false;
}

/* ---- ending it ---- */

static void tell(const struct attachment_work *work, const char *vm)
{
    events_record(work->controller->events, &AZ_VOLUME_ATTACHMENTS, work->object->metadata,
                  EVENT_WARNING, "DanglingAttachEnded", "Attach",
                  "Disk %s was attached to VM %s, but no record says so and nothing uses the disk "
                  "there. It has been detached so that it can be attached to node %s",
                  work->in.disk_id, vm, node_of(work));
}

static bool find_owner(const struct attachment_work *work, const struct cloud_disk *disk,
                       size_t *ret)
{
    CLEANUP(freep)
    struct dangling_owner *owners = mem_alloc((disk->n_instances + 1) * sizeof *owners);

    for (size_t i = 0; i < disk->n_instances; i++)
        owners[i] = (struct dangling_owner){
            .here = strcasecmp(disk->instances[i], work->instance_id) == 0,
            .on_record = is_on_record(work, disk->instances[i]),
        };
    return dangling_attach_decide(
        &(struct dangling_snapshot){
            .ours = !volume_adopted_id(work->volume),
            .for_primary = work->in.wanted == ROLE_IS_PRIMARY && !work->in.deleting,
            .used_elsewhere = is_published_elsewhere(work) || is_in_use_elsewhere(work),
            .max_shares = disk->max_shares,
            .owners = owners,
            .n_owners = disk->n_instances,
        },
        ret);
}

struct err *dangling_attach_end(struct task *self, const struct attachment_work *work,
                                const struct cloud_disk *disk, bool *ret_ended)
{
    struct cloud *cloud = work->controller->cloud;
    size_t owner;
    bool uses;

    *ret_ended = false;
    if (!find_owner(work, disk, &owner))
        return NULL;
    TRY(informers_catch_up_volume_attachments(self, work->controller));
    TRY(ask_kubelet(self, work, disk->instances[owner], &uses));
    if (uses || !find_owner(work, disk, &owner))
        return NULL;
    TRY(cloud->ops->disk_detach(self, cloud,
                                &(struct cloud_detach){.instance_id = disk->instances[owner],
                                                       .disk_id = work->in.disk_id,
                                                       .urgency = CLOUD_IN_THE_WAY}));
    tell(work, disk->instances[owner]);
    *ret_ended = true;
    return NULL;
}
