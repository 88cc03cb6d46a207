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
    return mem_printf("pod %s has no PersistentVolumeClaim that exists", chain->pod->key);
}

static bool claim_unbound(const struct dependency_chain *chain)
{
    return chain->claim && !chain->pv && !chain->volume;
}

static char *why_unbound(const struct dependency_chain *chain)
{
    char *warning = last_warning(chain->cluster, "PersistentVolumeClaim", chain->claim);

    return warning ? warning
                   : mem_strdup("no PersistentVolume is bound to it; with WaitForFirstConsumer "
                                "that begins when a pod with it has been placed on a node");
}

static bool other_driver(const struct dependency_chain *chain)
{
    const Api__PersistentVolumeSpec *spec =
        chain->pv ? KUBE_AS(Api__PersistentVolume, chain->pv)->spec : NULL;

    return chain->pv && !pv_is_of_driver(spec, chain->cluster->view.driver_name);
}

static char *why_other_driver(const struct dependency_chain *chain)
{
    return mem_printf("PersistentVolume %s is not of %s", chain->pv->metadata->name,
                      chain->cluster->view.driver_name);
}

static bool no_record(const struct dependency_chain *chain)
{
    return (chain->pv || chain->attachment) && !chain->volume;
}

static char *why_no_record(const struct dependency_chain *chain)
{
    return chain->pv
               ? mem_printf("there is no AzVolume for %s", persistent_volume_handle(chain->pv))
               : mem_printf("there is no AzVolume %s", attachment_volume(chain->attachment));
}

static bool volume_going(const struct dependency_chain *chain)
{
    return chain->volume && kube_is_deleting(chain->volume->metadata);
}

static char *why_going(const struct dependency_chain *chain)
{
    if (chain->attachment)
        return mem_printf("AzVolumeAttachment %s has to go first",
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
                      "Azure has not made the disk yet");
}

static bool node_gone(const struct dependency_chain *chain)
{
    return chain->node_name && !chain->node;
}

static char *why_node_gone(const struct dependency_chain *chain)
{
    return mem_printf("there is no Node %s", chain->node_name);
}

static bool unused(const struct dependency_chain *chain)
{
    return chain->volume && !chain->volume_attachment &&
           !(chain->attachment && attachment_wants(as_attachment(chain->attachment), ROLE_PRIMARY));
}

static char *why_unused(const struct dependency_chain *chain)
{
    char *warning = last_warning(chain->cluster, "Pod", chain->pod);

    return warning ? warning : mem_strdup("no VolumeAttachment wants it on a node");
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
        return mem_printf("there is no AzDriverNode %s", chain->node_name);
    return mem_printf("AzDriverNode %s: last heartbeat %s, %s", chain->node_name,
                      status && status->last_heartbeat_time ? status->last_heartbeat_time : "never",
                      status && status->ready_for_volume_allocation ? "ready then" : "not ready");
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
                          : "the driver has not been asked, or has not answered");
}

static bool no_primary(const struct dependency_chain *chain)
{
    return chain->volume_attachment &&
           !(chain->attachment && attachment_wants(as_attachment(chain->attachment), ROLE_PRIMARY));
}

static char *why_no_primary(const struct dependency_chain *chain)
{
    return mem_printf("VolumeAttachment %s says attached, and node %s has no primary",
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
    return error_text(error_of(chain), "nothing has failed so far");
}

static char *why_attaching(const struct dependency_chain *chain)
{
    const struct cloud_slot *slot = slot_of(chain);

    if (error_of(chain))
        return why_state(chain);
    if (!chain->machine_known)
        return mem_strdup("nothing has failed so far; --cloud-config shows Azure's side");
    if (!chain->machine)
        return mem_printf("node %s has no VM in Azure", chain->node_name);
    if (!slot)
        return mem_strdup("the VM's model does not have the disk yet");
    return mem_printf("the VM's model has the disk at LUN %d%s", slot->lun,
                      chain->machine->state == CLOUD_INSTANCE_SETTLED ? ""
                                                                      : ", and is being changed");
}

static bool machine_differs(const struct dependency_chain *chain)
{
    return is_stage(chain, "attached") && chain->machine_known && !slot_of(chain);
}

static char *why_machine_differs(const struct dependency_chain *chain)
{
    return mem_printf("the record says attached, and the VM of node %s does not have the disk",
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
                   : mem_printf("kubelet on node %s does not say that it uses the volume",
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
        return mem_printf("node %s takes volumes", chain->node_name);
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
    {"no volume", pod_without_volume, why_without_volume, "kubectl describe the pod"},
    {"waiting for a volume", claim_unbound, why_unbound,
     "kubectl describe the claim; look at its StorageClass and at the external-provisioner's log"},
    {"not a volume of this driver", other_driver, why_other_driver,
     "ask the driver that it belongs to"},
    {"without a record", no_record, why_no_record,
     "see that azdisk-controller runs and one of its replicas leads (kubectl get lease); it takes "
     "over volumes when they are published"},
    {"being deleted", volume_going, why_going, "wait; if it stays, azdiskctl check"},
    {"being created", not_created, why_not_created,
     "nothing, while Azure works; a wrong parameter or a quota has to be mended, and the "
     "controller tries again by itself"},
    {"detaching", detaching, why_state,
     "wait: Azure takes up to a minute; of a VM that does not run, longer"},
    {"node is gone", node_gone, why_node_gone, "delete the pod if it still exists"},
    {"not in use", unused, why_unused,
     "see why no pod with it is placed: kubectl describe the pod"},
    {"waiting for another node", held_elsewhere, why_held,
     "the pod there must end first; if its node is off for certain, taint it "
     "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"},
    {"node does not answer", node_unready, why_node_unready, "kubectl describe the node"},
    {"node plug-in does not answer", plugin_silent, why_plugin_silent,
     "look at the pod azdisk-node on that node"},
    {"waiting to be published", not_asked, why_not_asked,
     "look at the logs of external-attacher and azdisk-controller"},
    {"published without a primary", no_primary, why_no_primary, "azdiskctl check"},
    {"attach or detach failed", failed, why_state,
     "the controller tries again by itself; mend what the cause names"},
    {"changing its role", promoting, why_state,
     "wait: it takes no call to Azure; if it stays, see that azdisk-controller leads"},
    {"being attached", waiting, why_attaching,
     "wait: Azure takes up to a minute; azuredisk_azure_budget_wait_seconds shows throttling"},
    {"detached behind the driver's back", machine_differs, why_machine_differs, "azdiskctl check"},
    {"being mounted", not_mounted, why_not_mounted,
     "kubectl describe the pod; look at the log of azdisk-node on that node"},
    {"in order", always, why_in_order, "nothing"},
};

struct diagnosis diagnose(const struct dependency_chain *chain)
{
    size_t i = 0;

    while (!stages[i].applies(chain))
        i++;
    return (struct diagnosis){stages[i].stage, stages[i].cause(chain), stages[i].next};
}
