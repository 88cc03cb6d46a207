#include "controller/volume/modification.h"

#include <stdlib.h>
#include <string.h>

#include "controller/volume/disk.h"
#include "controller/volume/user.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/disk_sku.h"
#include "provisioner-lib/records/az_error.h"

enum { EVENT_PERCENT = 20 };

/* ---- when ---- */

static bool is_cached(const Api__AzVolume *volume, const struct caching_disk *disk)
{
    CLEANUP(volume_parameters_fini) struct volume_parameters parameters = {0};
    CLEANUP(err_freep) struct err *err = volume_parse_existing(volume, &parameters);

    return err || caching_of(parameters.caching, disk) != CACHING_NONE;
}

/* By what is on record of the disk, which is what it is attached with. */
static bool modifies_attached(const Api__AzVolume *volume, const char *sku)
{
    const struct caching_disk disk = volume_disk(volume);

    return !sku || (disk.sku && disk_sku_changes_attached(disk.sku, sku, disk.max_shares,
                                                          is_cached(volume, &disk)));
}

void modification_gather(const Api__AzVolume *volume, struct volume_snapshot *ret)
{
    CLEANUP(volume_parameters_fini) struct volume_parameters wanted = {0};

    ret->modifying = volume_is_modifying(volume);
    if (!ret->modifying)
        return;
    CLEANUP(err_freep) struct err *err = volume_parse_mutable(volume, &wanted);
    ret->modifies_attached = err || modifies_attached(volume, wanted.sku);
}

struct err *modification_check_possible(const struct controller *controller,
                                        const struct kube_object *object)
{
    const Api__AzVolume *volume = as_volume(object);
    const struct caching_disk disk = volume_disk(volume);
    CLEANUP(volume_parameters_fini) struct volume_parameters wanted = {0};

    TRY(volume_parse_mutable(volume, &wanted));
    if (modifies_attached(volume, wanted.sku))
        return NULL;
    CLEANUP(freep)
    char *why = mem_printf("a %s disk%s becomes a %s disk only while no VM has it",
                           disk.sku ? disk.sku : "managed",
                           disk.max_shares > 1        ? " that is shared"
                           : is_cached(volume, &disk) ? " with host caching"
                                                      : "",
                           wanted.sku);
    return volume_user_check_none(controller, object, "be modified", why);
}

/* ---- whether ---- */

struct err *modification_check(const struct cloud_disk *disk,
                               const struct volume_parameters *wanted,
                               const struct disk_limits *limits)
{
    const char *sku = wanted->sku ? wanted->sku : disk->sku;
    const char *obstacle = disk_sku_change_obstacle(disk->sku, sku);
    const struct volume_parameters as_modified = {
        .sku = sku, .max_shares = disk->max_shares, .iops = wanted->iops, .mbps = wanted->mbps};

    if (obstacle)
        return err_new(ERR_INVALID, "parameter skuName: %s cannot become %s: %s", disk->sku, sku,
                       obstacle);
    return volume_parameters_check_modified(&as_modified, disk->size_bytes / GIB, limits);
}

/* ---- what is on record ---- */

/* A merge patch keeps what it does not name. */
static json_t *replacement(const struct parameter *old, size_t n_old, const struct parameter *new,
                           size_t n_new)
{
    json_t *json = json_object();

    parameters_unset(json, old, n_old);
    parameters_set(json, new, n_new);
    return json;
}

json_t *modification_wish_json(const Api__AzVolume *volume, const struct parameter *parameters,
                               size_t n)
{
    size_t n_old = volume->spec->n_mutable_parameters;
    CLEANUP(freep) struct parameter *old = PARAMETER_LIST(volume->spec->mutable_parameters, n_old);

    return json_pack("{s:{s:o}}", "spec", "mutableParameters",
                     replacement(old, n_old, parameters, n));
}

struct err *modification_check_kept(const Api__AzVolume *volume)
{
    if (volume->spec->n_mutable_parameters > 0)
        return NULL;
    return err_new(ERR_PRECONDITION,
                   "AzVolume %s does not keep spec.mutableParameters: update the custom resource "
                   "definitions (kubectl apply -f crds/)",
                   volume->metadata->name);
}

json_t *modification_unknown_json(void)
{
    return json_pack("{s:{s:n}}", "status", "mutableParameters");
}

json_t *modification_begin_json(void)
{
    return json_pack("{s:{s:n}}", "status", "modifyError");
}

void modification_add_done(const Api__AzVolume *volume, json_t *status)
{
    const Api__AzVolumeStatus *before = volume->status;
    size_t n = volume->spec->n_mutable_parameters,
           n_had = before ? before->n_mutable_parameters : 0;
    CLEANUP(freep) struct parameter *list = PARAMETER_LIST(volume->spec->mutable_parameters, n);
    CLEANUP(freep) struct parameter *had = PARAMETER_LIST(before->mutable_parameters, n_had);

    if (n + n_had > 0)
        json_object_set_new(status, "mutableParameters", replacement(had, n_had, list, n));
}

/* ---- carrying it out ---- */

struct modification {
    struct controller *controller;
    const struct kube_object *volume;
    bool converts; /* it is to be of a kind, which it may be already */
    int percent;   /* of its data that the disk has by now */
};

static bool is_done(const struct modification *modification)
{
    return !modification->converts || modification->percent == 100;
}

/* Even if somebody has written to the AzVolume meanwhile: the disk is so. */
static struct err *record(struct task *self, void *ctx, const struct cloud_disk *disk)
{
    struct modification *modification = ctx;
    struct controller *controller = modification->controller;
    const Api__AzVolume *volume = as_volume(modification->volume);
    json_t *status = volume_disk_changed_json(controller, volume, disk);

    modification->percent = disk->percent;
    if (is_done(modification))
        modification_add_done(volume, status);
    return cached_patch_status(
        self, controller->leader_kube, controller->volumes, modification->volume,
        if_same(modification->volume, json_pack("{s:o}", "status", status)), NULL);
}

/* Of these, events tell. */
static int steps_of(int percent)
{
    return percent == 100 ? -1 : percent / EVENT_PERCENT;
}

void modification_tell_progress(const struct controller *controller,
                                const struct kube_object *before, int percent)
{
    const Api__AzVolume *volume = as_volume(before);

    if (volume_is_modifying(volume) && steps_of(percent) > steps_of(volume_percent(volume)))
        events_record(controller->events, &AZ_VOLUMES, volume->metadata, EVENT_NORMAL,
                      "DiskConverting", "Modify",
                      "Azure is converting disk %s, or copying its data; %d %% is done. The disk "
                      "can be used meanwhile, but it is slower and cannot grow",
                      volume->status->detail->volume__id, percent);
}

static void tell(const struct modification *modification)
{
    const struct controller *controller = modification->controller;
    const struct kube_object *volume = modification->volume;

    if (is_done(modification))
        events_record(controller->events, &AZ_VOLUMES, volume->metadata, EVENT_NORMAL,
                      "DiskModified", "Modify",
                      "Disk %s has been modified as the VolumeAttributesClass requires",
                      as_volume(volume)->status->detail->volume__id);
    else
        modification_tell_progress(controller, volume, modification->percent);
}

/* It is not tried again before ControllerModifyVolume is called again, as csi-resizer does. */
static struct err *refuse(struct task *self, const struct modification *modification,
                          struct err *why)
{
    struct controller *controller = modification->controller;
    const struct kube_object *volume = modification->volume;
    CLEANUP(err_freep)
    struct err *err = err_kind(why) == ERR_EXISTS ? err_as(why, ERR_INVALID) : why;

    events_record(controller->events, &AZ_VOLUMES, volume->metadata, EVENT_WARNING,
                  "DiskModifyFailed", "Modify", "Disk %s cannot be modified: %s",
                  as_volume(volume)->status->detail->volume__id, err_message(err));
    return cached_patch_status(
        self, controller->leader_kube, controller->volumes, volume,
        if_unchanged(volume, json_pack("{s:{s:o}}", "status", "modifyError", az_error_json(err))),
        NULL);
}

static struct err *change_disk(struct task *self, struct modification *modification)
{
    struct cloud *cloud = modification->controller->cloud;
    const Api__AzVolume *volume = as_volume(modification->volume);
    CLEANUP(volume_parameters_fini) struct volume_parameters wanted = {0};

    TRY(volume_parse_mutable(volume, &wanted));
    modification->converts = wanted.sku != NULL;
    return cloud->ops->disk_change(self, cloud, volume->status->detail->volume__id,
                                   &(struct cloud_disk_change){.sku = wanted.sku,
                                                               .iops = wanted.iops,
                                                               .mbps = wanted.mbps,
                                                               .record = record,
                                                               .ctx = modification});
}

struct err *modification_carry_out(struct task *self, struct controller *controller,
                                   const struct kube_object *object)
{
    struct modification modification = {.controller = controller, .volume = object};
    struct err *err = change_disk(self, &modification);

    if (err && !err_is_transient(err) && err_kind(err) != ERR_CANCELED)
        return refuse(self, &modification, err);
    if (err)
        return err;
    tell(&modification);
    return NULL;
}
