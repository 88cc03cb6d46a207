#include "azdiskctl/diagnosis.h"

#include <string.h>
#include <strings.h>

#include "azdiskctl/event.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/kube/pv_source.h"
#include "provisioner-lib/records/driver_node.h"

/* ---- small questions ---- */

static bool is_stage(const struct dependency_chain *chain, const char *stage)
{
    return chain->attachment && strcmp(attachment_stage(chain->attachment), stage) == 0;
}

static const Api__AzError *error_of(const struct dependency_chain *chain)
{
    const Api__AzVolumeAttachmentStatus *status =
        chain->attachment ? KUBE_AS(Api__AzVolumeAttachment, chain->attachment)->status : NULL;

    return status ? status->error : NULL;
}

static char *error_text(const Api__AzError *error, const char *otherwise)
{
    if (!error || !error->message)
        return mem_strdup(otherwise);
    return error->code ? mem_printf("%s: %s", error->code, error->message)
                       : mem_strdup(error->message);
}

static const Api__AzVolumeStatus *volume_status(const struct dependency_chain *chain)
{
    return KUBE_AS(Api__AzVolume, chain->volume)->status;
}

bool plugin_is_ready(const struct cluster *cluster, const struct kube_object *plugin)
{
    const Api__AzDriverNodeStatus *status =
        plugin ? KUBE_AS(Api__AzDriverNode, plugin)->status : NULL;

    return status && status->ready_for_volume_allocation &&
           !heartbeat_is_stale(driver_node_heard_us(KUBE_AS(Api__AzDriverNode, plugin)),
                               cluster->now_us, cluster->heartbeat_limit_ms);
}

static const struct cloud_slot *slot_of(const struct dependency_chain *chain)
{
    const char *disk = chain->attachment ? attachment_disk_id(chain->attachment) : NULL;

    for (size_t i = 0; disk && chain->machine && i < chain->machine->n_slots; i++)
        if (strcasecmp(chain->machine->slots[i].disk_id, disk) == 0)
            return &chain->machine->slots[i];
    return NULL;
}

/* ---- the stages: does it apply, and why ---- */

static bool pod_without_volume(const struct dependency_chain *chain)
{
    return chain->pod && !chain->claim;
}

static char *why_without_volume(const struct dependency_chain *chain)
{
    return mem_printf("pod %s uses no existing PersistentVolumeClaim", chain->pod->key);
}

static bool claim_unbound(const struct dependency_chain *chain)
{
    return chain->claim && !chain->pv && !chain->volume;
}

static char *why_unbound(const struct dependency_chain *chain)
{
    char *warning = last_warning(chain->cluster, "PersistentVolumeClaim", chain->claim);

    return warning ? warning
                   : mem_strdup(
                         "no PersistentVolume is bound to the claim; with WaitForFirstConsumer, "
                         "provisioning starts when a pod that uses the claim has been scheduled");
}

static bool other_driver(const struct dependency_chain *chain)
{
    const Api__PersistentVolumeSpec *spec =
        chain->pv ? KUBE_AS(Api__PersistentVolume, chain->pv)->spec : NULL;

    return chain->pv && !pv_is_of_driver(spec, chain->cluster->view.driver_name);
}

static char *why_other_driver(const struct dependency_chain *chain)
{
    return mem_printf("PersistentVolume %s does not belong to driver %s", chain->pv->metadata->name,
                      chain->cluster->view.driver_name);
}

static bool no_record(const struct dependency_chain *chain)
{
    return (chain->pv || chain->attachment) && !chain->volume;
}

static char *why_no_record(const struct dependency_chain *chain)
{
    return chain->pv
               ? mem_printf("no AzVolume exists for %s", persistent_volume_handle(chain->pv))
               : mem_printf("AzVolume %s does not exist", attachment_volume(chain->attachment));
}

static bool volume_going(const struct dependency_chain *chain)
{
    return chain->volume && kube_is_deleting(chain->volume->metadata);
}

static char *why_going(const struct dependency_chain *chain)
{
    if (chain->attachment)
        return mem_printf("AzVolumeAttachment %s must be deleted first",
                          chain->attachment->metadata->name);
    return error_text(volume_status(chain) ? volume_status(chain)->error : NULL,
                      "Azure is deleting the disk");
}

static bool not_created(const struct dependency_chain *chain)
{
    return chain->volume && !volume_disk_id(chain->volume);
}

static char *why_not_created(const struct dependency_chain *chain)
{
    return error_text(volume_status(chain) ? volume_status(chain)->error : NULL,
                      "Azure has not created the disk yet");
}

static bool node_gone(const struct dependency_chain *chain)
{
    return chain->node_name && !chain->node;
}

static char *why_node_gone(const struct dependency_chain *chain)
{
    return mem_printf("Node %s does not exist", chain->node_name);
}

static bool unused(const struct dependency_chain *chain)
{
    return chain->volume && !chain->volume_attachment &&
           !(chain->attachment && attachment_wants(as_attachment(chain->attachment), ROLE_PRIMARY));
}

static char *why_unused(const struct dependency_chain *chain)
{
    char *warning = last_warning(chain->cluster, "Pod", chain->pod);

    return warning ? warning : mem_strdup("no VolumeAttachment requests the volume on a node");
}

static bool node_unready(const struct dependency_chain *chain)
{
    return chain->node && !node_is_ready(KUBE_AS(Api__Node, chain->node));
}

static char *why_node_unready(const struct dependency_chain *chain)
{
    return mem_printf("Node %s is not Ready", chain->node_name);
}

static bool plugin_silent(const struct dependency_chain *chain)
{
    return chain->node && !plugin_is_ready(chain->cluster, chain->plugin);
}

static char *why_plugin_silent(const struct dependency_chain *chain)
{
    const Api__AzDriverNodeStatus *status =
        chain->plugin ? KUBE_AS(Api__AzDriverNode, chain->plugin)->status : NULL;

    if (!chain->plugin)
        return mem_printf("AzDriverNode %s does not exist", chain->node_name);
    return mem_printf("AzDriverNode %s: last heartbeat %s, %s", chain->node_name,
                      status && status->last_heartbeat_time ? status->last_heartbeat_time : "never",
                      status && status->ready_for_volume_allocation ? "ready at that time"
                                                                    : "not ready");
}

static bool held_elsewhere(const struct dependency_chain *chain)
{
    return chain->rival && !is_stage(chain, "attached");
}

static char *why_held(const struct dependency_chain *chain)
{
    return mem_printf("the volume is primary on node %s", attachment_node(chain->rival));
}

static bool not_asked(const struct dependency_chain *chain)
{
    return chain->volume_attachment && !volume_attachment_is_attached(chain->volume_attachment) &&
           !(chain->attachment && attachment_wants(as_attachment(chain->attachment), ROLE_PRIMARY));
}

static char *why_not_asked(const struct dependency_chain *chain)
{
    const Api__VolumeAttachmentStatus *status =
        KUBE_AS(Api__VolumeAttachment, chain->volume_attachment)->status;
    const Api__VolumeError *error = status ? status->attach_error : NULL;

    return mem_strdup(error && error->message
                          ? error->message
                          : "the driver has not been called, or has not answered");
}

static bool no_primary(const struct dependency_chain *chain)
{
    return chain->volume_attachment &&
           !(chain->attachment && attachment_wants(as_attachment(chain->attachment), ROLE_PRIMARY));
}

static char *why_no_primary(const struct dependency_chain *chain)
{
    return mem_printf("VolumeAttachment %s is attached, but node %s has no primary attachment",
                      chain->volume_attachment->metadata->name, chain->node_name);
}

static bool failed(const struct dependency_chain *chain)
{
    return is_stage(chain, "failed");
}

static bool detaching(const struct dependency_chain *chain)
{
    return is_stage(chain, "detaching");
}

static bool promoting(const struct dependency_chain *chain)
{
    return is_stage(chain, "promoting") || is_stage(chain, "demoting");
}

static bool waiting(const struct dependency_chain *chain)
{
    return is_stage(chain, "waiting") || is_stage(chain, "attaching");
}

static char *why_state(const struct dependency_chain *chain)
{
    return error_text(error_of(chain), "no error so far");
}

static char *why_attaching(const struct dependency_chain *chain)
{
    const struct cloud_slot *slot = slot_of(chain);

    if (error_of(chain))
        return why_state(chain);
    if (!chain->machine_known)
        return mem_strdup("no error so far; use --cloud-config to see Azure's view");
    if (!chain->machine)
        return mem_printf("node %s has no VM in Azure", chain->node_name);
    if (!slot)
        return mem_strdup("the VM's model does not contain the disk yet");
    return mem_printf("the VM's model contains the disk at LUN %d%s", slot->lun,
                      chain->machine->state == CLOUD_INSTANCE_SETTLED
                          ? ""
                          : ", but the VM is still being updated");
}

static bool machine_differs(const struct dependency_chain *chain)
{
    return is_stage(chain, "attached") && chain->machine_known && !slot_of(chain);
}

static char *why_machine_differs(const struct dependency_chain *chain)
{
    return mem_printf("the disk is recorded as attached, but the VM of node %s does not have it",
                      chain->node_name);
}

static bool not_mounted(const struct dependency_chain *chain)
{
    return is_stage(chain, "attached") && chain->volume_attachment && chain->node &&
           !node_uses_volume(KUBE_AS(Api__Node, chain->node), chain->cluster->view.driver_name,
                             attachment_disk_id(chain->attachment));
}

static char *why_not_mounted(const struct dependency_chain *chain)
{
    char *warning = last_warning(chain->cluster, "Pod", chain->pod);

    return warning ? warning
                   : mem_printf("kubelet on node %s does not report the volume as in use",
                                chain->node_name);
}

static bool always(const struct dependency_chain *chain)
{
    (void)chain;
    return true;
}

static char *why_in_order(const struct dependency_chain *chain)
{
    if (!chain->attachment)
        return mem_printf("node %s accepts volumes", chain->node_name);
    return mem_printf("attached to node %s as %s at LUN %d", chain->node_name,
                      attachment_is(as_attachment(chain->attachment), ROLE_PRIMARY) ? ROLE_PRIMARY
                                                                                    : ROLE_REPLICA,
                      attachment_lun(as_attachment(chain->attachment)));
}

/* ---- the table ---- */

static const struct {
    const char *stage;
    bool (*applies)(const struct dependency_chain *chain);
    char *(*cause)(const struct dependency_chain *chain);
    const char *next;
} stages[] = {
    {"no volume", pod_without_volume, why_without_volume, "run kubectl describe on the pod"},
    {"waiting for a volume", claim_unbound, why_unbound,
     "run kubectl describe on the claim; check its StorageClass and the log of "
     "external-provisioner"},
    {"not a volume of this driver", other_driver, why_other_driver,
     "use the tools of the driver that the volume belongs to"},
    {"without a record", no_record, why_no_record,
     "check that azdisk-controller is running and that one of its pods is the leader (kubectl get "
     "lease); it creates the AzVolume when the volume is published"},
    {"being deleted", volume_going, why_going, "wait; if it does not finish, run azdiskctl check"},
    {"being created", not_created, why_not_created,
     "wait while Azure creates the disk; if the cause is a wrong parameter or a quota, fix it, and "
     "the controller tries again automatically"},
    {"detaching", detaching, why_state,
     "wait: Azure takes up to a minute, or longer if the VM is not running"},
    {"node is gone", node_gone, why_node_gone, "delete the pod if it still exists"},
    {"not in use", unused, why_unused,
     "find out why no pod that uses the volume is scheduled: run kubectl describe on the pod"},
    {"waiting for another node", held_elsewhere, why_held,
     "the pod on that node must end first; only if the node is certainly powered off, taint it "
     "with node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"},
    {"node does not answer", node_unready, why_node_unready, "run kubectl describe on the node"},
    {"node plug-in does not answer", plugin_silent, why_plugin_silent,
     "check the pod azdisk-node on that node"},
    {"waiting to be published", not_asked, why_not_asked,
     "check the logs of external-attacher and azdisk-controller"},
    {"published without a primary", no_primary, why_no_primary, "run azdiskctl check"},
    {"attach or detach failed", failed, why_state,
     "fix the cause; the controller tries again automatically"},
    {"changing its role", promoting, why_state,
     "wait: this takes no call to Azure; if it does not finish, check that a pod of "
     "azdisk-controller is the leader"},
    {"being attached", waiting, why_attaching,
     "wait: Azure takes up to a minute; azuredisk_azure_budget_wait_seconds shows throttling"},
    {"detached behind the driver's back", machine_differs, why_machine_differs,
     "run azdiskctl check"},
    {"being mounted", not_mounted, why_not_mounted,
     "run kubectl describe on the pod; check the log of azdisk-node on that node"},
    {"in order", always, why_in_order, "nothing"},
};

struct diagnosis diagnose(const struct dependency_chain *chain)
{
    size_t i = 0;

    while (!stages[i].applies(chain))
        i++;
    return (struct diagnosis){stages[i].stage, stages[i].cause(chain), stages[i].next};
}
