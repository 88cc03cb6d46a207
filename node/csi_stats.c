/* NodeGetVolumeStats. */

#include "lib/api/csi.pb-c.h"
#include "node/csi_service.h"
#include "node/informers.h"
#include "node/volume_looks.h"
#include "provisioner-lib/records/fence_note.h"

/* Where the volume's disk is, whatever else is said of it: pods may still use it. */
static struct err *find_lun(const struct node *node, const char *volume_id, unsigned *ret_lun)
{
    const struct kube_object *object = informers_find_attachment(node, volume_id);
    int lun = object ? attachment_lun(as_attachment(object)) : NO_LUN;

    if (!object && !store_is_synced(node->attachments))
        return err_new(ERR_UNAVAILABLE, "the cluster's objects have not been read yet");
    if (lun == NO_LUN)
        return err_new(ERR_NOT_FOUND, "the volume is not attached to node %s",
                       node->settings.node_id);
    *ret_lun = (unsigned)lun;
    return NULL;
}

static void add_usage(struct arena *arena, Csi__V1__NodeGetVolumeStatsResponse *response,
                      Csi__V1__VolumeUsage__Unit unit, const struct usage_amount *amount)
{
    Csi__V1__VolumeUsage *usage = arena_alloc(arena, sizeof *usage);

    csi__v1__volume_usage__init(usage);
    usage->unit = unit;
    usage->total = (int64_t)amount->total;
    usage->used = (int64_t)amount->used;
    usage->available = (int64_t)amount->available;
    response->usage[response->n_usage++] = usage;
}

/* NULL: none. What the disk refuses needs not show in its file system yet. */
static const char *trouble_of(const struct node *node, const char *volume_id,
                              const struct volume_usage *usage)
{
    const struct kube_object *object = informers_find_attachment(node, volume_id);

    if (object && fence_note_is_lost(as_attachment(object)))
        return "another node has taken over the disk, which refuses the writes of this one";
    return usage->trouble;
}

static void answer(struct arena *arena, const struct volume_usage *usage, const char *trouble,
                   Csi__V1__NodeGetVolumeStatsResponse *response)
{
    Csi__V1__VolumeCondition *condition = arena_alloc(arena, sizeof *condition);

    csi__v1__volume_condition__init(condition);
    condition->abnormal = trouble != NULL;
    condition->message = arena_strdup(arena, trouble ? trouble : "no trouble found");
    response->volume_condition = condition;
    response->usage = arena_alloc(arena, 2 * sizeof *response->usage);
    if (!usage->has_amounts)
        return;
    add_usage(arena, response, CSI__V1__VOLUME_USAGE__UNIT__BYTES, &usage->bytes);
    if (!usage->raw)
        add_usage(arena, response, CSI__V1__VOLUME_USAGE__UNIT__INODES, &usage->inodes);
}

static struct err *see(struct task *self, struct rpc_call *call,
                       const Csi__V1__NodeGetVolumeStatsRequest *request, struct volume_usage *ret)
{
    struct node *node = call->ctx;
    unsigned lun;

    TRY(find_lun(node, request->volume_id, &lun));
    return volume_looks_see(self, node->looks, request->volume_id, request->volume_path, lun,
                            csi_wait_deadline(node, call), ret);
}

/* Without csi_claim: neither does it wait for a call for the volume, nor does such a call for it.
 */
struct err *csi_get_volume_stats(struct task *self, struct rpc_call *call, const void *message,
                                 void *ret)
{
    const Csi__V1__NodeGetVolumeStatsRequest *request = message;
    CLEANUP(usage_fini) struct volume_usage usage = {0};

    if (!request->volume_id[0])
        return err_new(ERR_INVALID, "volume_id is missing");
    if (!request->volume_path[0]) /* any other is one at which the volume may not be found */
        return err_new(ERR_INVALID, "volume_path is missing");
    struct err *err = see(self, call, request, &usage);
    if (err)
        return err_wrap(err, "volume %s", request->volume_id);
    answer(call->arena, &usage, trouble_of(call->ctx, request->volume_id, &usage), ret);
    return NULL;
}
