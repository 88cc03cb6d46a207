/* NodeExpandVolume: the disk has grown, and the device and the file system follow. */

#include <inttypes.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "node/csi_service.h"
#include "node/informers.h"
#include "node/volume_access.h"
#include "node/volume_record.h"
#include "provisioner-lib/records/access_mode.h"

/* A volume whose disk has grown. */
struct expansion {
    struct node *node;
    const Csi__V1__NodeExpandVolumeRequest *request;
    uint64_t deadline;
    struct kube_object *attachment;
    struct attachment_place place;
    struct volume_record record;
    struct device device;
};

static void expansion_fini(struct expansion *e)
{
    kube_object_unref(e->attachment);
    device_close(&e->device);
}

/* What the controller has on record. A claim's new size may be known here before the attachment's
 * record is. */
static struct err *read_record(struct task *self, struct expansion *e)
{
    const Csi__V1__CapacityRange *range = e->request->capacity_range;
    struct kube_object *object = informers_find_attachment(e->node, e->request->volume_id);

    if (!object)
        return err_new(ERR_NOT_FOUND, "it is not attached to node %s", e->node->settings.node_id);
    e->attachment = kube_object_ref(object);
    TRY(attachment_check(as_attachment(object), &e->place));
    TRY(volume_record_read(self, e->node, e->attachment, &e->place, e->request->volume_id,
                           e->deadline, &e->record));
    if (range && range->required_bytes > 0 && (uint64_t)range->required_bytes > e->record.size)
        return err_new(ERR_BUSY,
                       "its disk has %" PRIu64 " bytes on record, fewer than the %" PRId64
                       " that are required",
                       e->record.size, range->required_bytes);
    return NULL;
}

/* By what is mounted there, whatever the request says it is: that is proven since it was staged. */
static const struct filesystem *filesystem_of(const struct expansion *e)
{
    return e->record.has_filesystem ? filesystem_find(e->record.filesystem.type) : NULL;
}

static struct err *grow_filesystem(struct task *self, struct expansion *e)
{
    const char *staging = e->request->staging_target_path;
    const char *path = staging[0] ? staging : e->request->volume_path;
    const struct filesystem *type = filesystem_of(e);
    bool grown;

    if (!type)
        return err_new(ERR_BUSY, "its file system is not on record yet");
    return host_grow(self, e->node->host, &e->device, type, path, &grown);
}

/* A file system that is mounted for reading grows with the next mount for writing. */
static bool is_read_only(const struct expansion *e)
{
    const Csi__V1__VolumeCapability *capability = e->request->volume_capability;

    return e->place.read_only || (capability && capability->access_mode &&
                                  access_mode_is_read_only((int)capability->access_mode->mode));
}

static struct err *expand(struct task *self, struct expansion *e)
{
    struct host *host = e->node->host;
    bool raw;

    TRY(read_record(self, e));
    TRY(host_find(self, host, e->place.lun, e->deadline, &e->device));
    TRY(host_check_at(self, host, &e->device, e->request->volume_path, &raw));
    TRY(host_await_size(self, host, &e->device, e->record.size, e->deadline));
    if (!raw && !is_read_only(e))
        TRY(grow_filesystem(self, e));
    log_info("volume %s: %s has %" PRIu64 " bytes", e->request->volume_id, e->device.path,
             e->record.size);
    return NULL;
}

struct err *csi_expand_volume(struct task *self, struct rpc_call *call, const void *message,
                              void *ret)
{
    const Csi__V1__NodeExpandVolumeRequest *request = message;
    Csi__V1__NodeExpandVolumeResponse *response = ret;
    struct node *node = call->ctx;
    CLEANUP(csi_release) struct csi_claim claim = {0};
    CLEANUP(expansion_fini)
    struct expansion e = {.node = node,
                          .request = request,
                          .deadline = csi_wait_deadline(node, call),
                          .device = DEVICE_NONE};

    TRY(csi_claim(node, request->volume_id, &claim));
    if (!request->volume_path[0])
        return err_new(ERR_INVALID, "volume_path is missing");
    struct err *err = expand(self, &e);
    if (err)
        return err_wrap(err, "volume %s", request->volume_id);
    response->capacity_bytes = (int64_t)e.record.size;
    return NULL;
}
