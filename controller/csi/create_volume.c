/* CreateVolume: an AzVolume is written, and watched until its reconciler has made the disk. */

#include <inttypes.h>
#include <string.h>

#include "controller/cache/disk_pv.h"
#include "controller/cache/volume_name.h"
#include "controller/csi/content_source.h"
#include "controller/csi/new_volume.h"
#include "controller/csi/service.h"
#include "controller/volume/adoption.h"
#include "controller/volume/disk.h"
#include "controller/volume/failed_creation.h"
#include "controller/volume/modification.h"
#include "controller/volume/persistent_volume.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/cloud.h"
#include "provisioner-lib/records/access_mode.h"
#include "provisioner-lib/records/az_error.h"
#include "provisioner-lib/records/names.h"

/* ---- CreateVolume: the request ---- */

static struct err *check_size(struct task *self, struct cloud *cloud,
                              const Csi__V1__CapacityRange *range,
                              const struct volume_parameters *parameters)
{
    struct disk_limits limits;
    int64_t gib;

    TRY(csi_size_of_range(range, &gib));
    TRY(cloud->ops->disk_limits(self, cloud, parameters, gib, &limits));
    return volume_parameters_check_size(parameters, gib, &limits);
}

static struct err *check_create(const Csi__V1__CreateVolumeRequest *request,
                                struct volume_parameters *ret_parameters)
{
    CLEANUP(freep)
    struct parameter *list = PARAMETER_LIST(request->parameters, request->n_parameters);
    size_t n_mutable = request->n_mutable_parameters;
    CLEANUP(freep)
    struct parameter *mutable = PARAMETER_LIST(request->mutable_parameters, n_mutable);
    CLEANUP(freep)
    struct parameter *all = parameters_overridden(list, request->n_parameters, mutable, n_mutable);
    CLEANUP(freep)
    struct parameter *secrets = PARAMETER_LIST(request->secrets, request->n_secrets);
    CLEANUP(volume_parameters_fini) struct volume_parameters only_mutable = {0};
    bool multi_node =
        capabilities_are_multi_node(request->volume_capabilities, request->n_volume_capabilities);

    if (!request->name[0])
        return err_new(ERR_INVALID, "name is missing");
    if (request->n_volume_capabilities == 0)
        return err_new(ERR_INVALID, "volume_capabilities is missing");
    TRY(csi_refuse_secrets(secrets, request->n_secrets, "disks", "provisioner", "StorageClass"));
    TRY(volume_parameters_parse_mutable(mutable, n_mutable, &only_mutable));
    TRY(volume_parameters_parse(all, request->n_parameters + n_mutable, multi_node,
                                ret_parameters));
    return capabilities_check(request->volume_capabilities, request->n_volume_capabilities,
                              ret_parameters->max_shares);
}

/* ---- CreateVolume: a volume of that name that is there already ---- */

/* It may have grown since it was created. */
static int64_t volume_size_bytes(const Api__AzVolume *volume)
{
    const Api__AzVolumeDetail *detail = volume->status ? volume->status->detail : NULL;

    return detail ? detail->capacity__bytes : volume_requested_gib(volume) * GIB;
}

static bool same_parameters(const Api__AzVolumeSpec *spec,
                            const Csi__V1__CreateVolumeRequest *request)
{
    size_t n = request->n_parameters;
    CLEANUP(freep) struct parameter *wanted = PARAMETER_LIST(request->parameters, n);
    CLEANUP(freep) struct parameter *has = PARAMETER_LIST(spec->parameters, spec->n_parameters);

    return n == spec->n_parameters && parameters_include(has, n, wanted, n);
}

static struct err *belongs_to(const char *pv, const struct volume_parameters *parameters)
{
    return err_new(ERR_EXISTS,
                   "the disk %s of parameter diskName is that of PersistentVolume %s, not of %s: "
                   "every claim needs another name, for instance by the template "
                   "${pv.metadata.name}",
                   parameters->disk_name, pv, parameters->pv_name);
}

/* Its disk is somebody's, and nobody may have a second PersistentVolume of it. */
static struct err *check_made_here(const struct controller *controller,
                                   const struct kube_object *object,
                                   const Csi__V1__CreateVolumeRequest *request)
{
    if (!volume_adopted_id(as_volume(object)))
        return NULL;
    const char *disk = adoption_disk(controller, as_volume(object));
    return err_new(ERR_EXISTS,
                   "volume %s cannot be created: AzVolume %s belongs to disk %s, whose "
                   "PersistentVolume was created by hand",
                   request->name, object->metadata->name, disk ? disk : "(unknown)");
}

/* A StorageClass may give the disks of several claims one name. */
static struct err *check_same_pv(const Api__AzVolume *volume,
                                 const struct volume_parameters *parameters)
{
    const char *pv =
        volume->spec->persistent_volume ? volume->spec->persistent_volume : "(unnamed)";

    if (!parameters->disk_name || strcmp(pv, parameters->pv_name) == 0)
        return NULL;
    return belongs_to(pv, parameters);
}

/* The other claim's volume may have lost its AzVolume; another one in its place would keep it from
 * being found again. */
static struct err *check_no_other_pv(const struct controller *controller, const char *disk_id,
                                     const struct volume_parameters *parameters)
{
    const struct kube_object *pv =
        parameters->disk_name ? pv_of_disk(controller, disk_id, NULL) : NULL;

    if (!pv || strcmp(pv->metadata->name, parameters->pv_name) == 0)
        return NULL;
    return belongs_to(pv->metadata->name, parameters);
}

static struct err *check_same(const Api__AzVolume *volume,
                              const Csi__V1__CreateVolumeRequest *request)
{
    const Csi__V1__CapacityRange *wants = request->capacity_range;
    int64_t required = wants ? wants->required_bytes : 0, limit = wants ? wants->limit_bytes : 0;
    int64_t has = volume_size_bytes(volume);

    if (has < required || (limit && has > limit))
        return err_new(ERR_EXISTS,
                       "volume %s already exists with %" PRId64 " bytes, which is not between "
                       "required_bytes %" PRId64 " and limit_bytes %" PRId64,
                       request->name, has, required, limit);
    if (!same_parameters(volume->spec, request))
        return err_new(ERR_EXISTS,
                       "volume %s already exists with different parameters: its StorageClass has "
                       "been made anew since it was requested. To have these, make the claim anew",
                       request->name);
    return content_source_check_same(volume, request);
}

/* A merge patch keeps what it does not name. */
static void drop(json_t *spec, const char *map, const char *key)
{
    if (!json_object_get(spec, map))
        json_object_set_new(spec, map, json_object());
    if (!json_object_get(json_object_get(spec, map), key))
        json_object_set_new(json_object_get(spec, map), key, json_null());
}

/* A creation that failed for good begins anew, as this request has it; with the parameter diskName
 * that may be another claim's. The leader may have been about to forget it, and have asked for the
 * disk to be deleted with it: that must not outlast the attempt that failed. */
static struct err *begin_anew(struct task *self, struct controller *controller,
                              const struct kube_object *object, const char *disk,
                              const Csi__V1__CreateVolumeRequest *request,
                              const struct volume_parameters *parameters)
{
    CLEANUP(kube_object_unrefp) struct kube_object *with_spec = NULL;
    json_t *spec = new_volume_spec_json(disk, request, parameters);
    const Api__AzVolumeSpec *old = as_volume(object)->spec;
    CLEANUP(err_freep)
    struct err *other_source = content_source_check_same(as_volume(object), request);

    for (size_t i = 0; i < old->n_parameters; i++)
        drop(spec, "parameters", old->parameters[i]->key);
    for (size_t i = 0; i < old->n_mutable_parameters; i++)
        drop(spec, "mutableParameters", old->mutable_parameters[i]->key);
    if (!request->volume_content_source)
        json_object_set_new(spec, "contentVolumeSource", json_null());
    json_t *labels =
        volume_pv_labels_json(parameters->pv_name, parameters->pvc_name, parameters->pvc_namespace);
    json_t *changes = json_pack("{s:{s:o}, s:o}", "metadata", "labels", labels, "spec", spec);
    TRY(csi_api_error(cached_patch(self, controller->kube, controller->volumes, object,
                                   if_unchanged(object, changes), &with_spec)));
    json_t *notes = json_pack("{s:n, s:n}", ANNOTATION_FORGET_AFTER, ANNOTATION_DELETE_REQUEST);
    if (other_source) {
        json_object_set_new(notes, ANNOTATION_SOURCE_FILESYSTEM, json_null());
        json_object_set_new(notes, ANNOTATION_SOURCE_UUIDS, json_null());
    }
    json_t *status = json_pack("{s:{s:s, s:n, s:o}}", "status", "state", "Pending", "error",
                               "annotation", notes);
    return csi_api_error(cached_patch_status(self, controller->kube, controller->volumes, with_spec,
                                             if_unchanged(with_spec, status), NULL));
}

/* ---- CreateVolume ---- */

/* What there is of that name, if it is none of somebody else's. */
static struct err *look_up(struct task *self, struct controller *controller, const char *name,
                           const Csi__V1__CreateVolumeRequest *request, struct kube_object **ret)
{
    TRY(csi_api_error(cached_get(self, controller->kube, controller->volumes,
                                 controller->settings.namespace_, name, ret)));
    if (kube_is_deleting((*ret)->metadata))
        return err_new(ERR_BUSY, "volume %s is being deleted", request->name);
    return check_made_here(controller, *ret, request);
}

/* Where nothing was made yet, a request that differs is not refused for good: what is under way may
 * fail and begin anew, and its caller has to hear what was made, to have it deleted. */
static struct err *check_kept(const struct kube_object *object,
                              const Csi__V1__CreateVolumeRequest *request,
                              const struct volume_parameters *parameters)
{
    TRY(check_same_pv(as_volume(object), parameters));
    struct err *differs = check_same(as_volume(object), request);
    if (differs && !volume_is_created(as_volume(object)))
        return err_as(differs, ERR_BUSY);
    TRY(differs);
    return request->n_mutable_parameters > 0 ? modification_check_kept(as_volume(object)) : NULL;
}

/* The request has the size and the zone of its source. */
static struct err *write_volume(struct task *self, struct controller *controller, const char *name,
                                const char *disk, const Csi__V1__CreateVolumeRequest *request,
                                const struct volume_parameters *parameters)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    CLEANUP(json_decrefp) json_t *json = new_volume_json(name, disk, request, parameters);
    struct err *err = csi_api_error(cached_create(self, controller->kube, controller->volumes,
                                                  controller->settings.namespace_, json, &object));

    if (err && err_kind(err) == ERR_EXISTS) {
        err_free(err);
        TRY(look_up(self, controller, name, request, &object));
        return creation_has_failed(as_volume(object))
                   ? begin_anew(self, controller, object, disk, request, parameters)
                   : check_kept(object, request, parameters);
    }
    TRY(err);
    return request->n_mutable_parameters > 0 ? modification_check_kept(as_volume(object)) : NULL;
}

/* The source of what is under way may be gone, and so are its size and its zone: what has ended
 * since begins anew at the next call only, which looks at the source. */
static struct err *join_volume(struct task *self, struct controller *controller, const char *name,
                               const Csi__V1__CreateVolumeRequest *request,
                               const struct volume_parameters *parameters)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    CLEANUP(err_freep) struct err *err = look_up(self, controller, name, request, &object);

    if (err && err_kind(err) != ERR_NOT_FOUND)
        return TAKE_PTR(err);
    if (err || creation_has_failed(as_volume(object)))
        return err_new(ERR_BUSY, "the creation of volume %s has just ended without a disk",
                       request->name);
    return check_kept(object, request, parameters);
}

static struct err *wait_created(struct task *self, struct rpc_call *call, const char *name,
                                struct kube_object **ret)
{
    struct controller *controller = call->ctx;
    CLEANUP(freep) char *key = kube_key(controller->settings.namespace_, name);

    for (;;) {
        struct kube_object *object = store_get(controller->volumes, key);

        if (!object)
            return err_new(ERR_BUSY, "volume %s was deleted while it was being created", name);
        if (volume_is_created(as_volume(object))) {
            *ret = kube_object_ref(object);
            return NULL;
        }
        CLEANUP(kube_object_unrefp) struct kube_object *seen = kube_object_ref(object);
        if (creation_has_failed(as_volume(seen)) && as_volume(seen)->status->error) {
            TRY(csi_api_error(failed_creation_note(self, controller, seen)));
            return az_error_take(as_volume(seen)->status->error);
        }
        struct err *err = store_wait(self, controller->volumes, key, csi_wait_deadline(call));
        if (err)
            return csi_waited_in_vain(
                as_volume(seen)->status ? as_volume(seen)->status->error : NULL, err);
    }
}

static Csi__V1__Topology *answer_topology(struct arena *arena, const Api__AzTopology *topology)
{
    Csi__V1__Topology *answer = arena_alloc(arena, sizeof *answer);

    csi__v1__topology__init(answer);
    answer->segments = arena_alloc(arena, topology->n_segments * sizeof *answer->segments);
    for (size_t i = 0; i < topology->n_segments; i++) {
        Csi__V1__Topology__SegmentsEntry *entry = arena_alloc(arena, sizeof *entry);

        csi__v1__topology__segments_entry__init(entry);
        entry->key = arena_strdup(arena, topology->segments[i]->key);
        entry->value = arena_strdup(arena, topology->segments[i]->value);
        answer->segments[answer->n_segments++] = entry;
    }
    return answer;
}

static void answer_volume(struct arena *arena, const Api__AzVolume *made,
                          Csi__V1__CreateVolumeResponse *response)
{
    const Api__AzVolumeDetail *detail = made->status->detail;
    Csi__V1__Volume *volume = arena_alloc(arena, sizeof *volume);

    csi__v1__volume__init(volume);
    volume->volume_id = arena_strdup(arena, detail->volume__id);
    volume->capacity_bytes = detail->capacity__bytes;
    volume->content_source = content_source_of(arena, made);
    volume->volume_context =
        arena_alloc(arena, detail->n_parameters * sizeof *volume->volume_context);
    for (size_t i = 0; i < detail->n_parameters; i++) {
        Csi__V1__Volume__VolumeContextEntry *entry = arena_alloc(arena, sizeof *entry);

        csi__v1__volume__volume_context_entry__init(entry);
        entry->key = arena_strdup(arena, detail->parameters[i]->key);
        entry->value = arena_strdup(arena, detail->parameters[i]->value);
        volume->volume_context[volume->n_volume_context++] = entry;
    }
    volume->accessible_topology =
        arena_alloc(arena, detail->n_accessible__topology * sizeof *volume->accessible_topology);
    for (size_t i = 0; i < detail->n_accessible__topology; i++)
        volume->accessible_topology[volume->n_accessible_topology++] =
            answer_topology(arena, detail->accessible__topology[i]);
    response->volume = volume;
}

/* CSI knows a volume by its name: whatever else a repeated call has, it means what was made of that
 * name. Other disks that have it are not meant. */
static struct err *name_of_new(const struct controller *controller, const char *disk_id,
                               const struct volume_parameters *parameters, char **ret)
{
    CLEANUP(freep) char *plain = NULL;

    TRY(volume_name_of_id(disk_id, &plain));
    const struct kube_object *volume = volume_of_name(controller, plain);
    if (parameters->disk_name || !volume || volume_adopted_id(as_volume(volume)))
        return volume_name_of_disk(controller, disk_id, ret);
    *ret = TAKE_PTR(plain);
    return NULL;
}

/* What it is a copy of may be gone by now. */
static bool is_under_way(const struct controller *controller, const char *name)
{
    const struct kube_object *volume = volume_of_name(controller, name);

    return volume && !creation_has_failed(as_volume(volume));
}

/* The caller takes such an error for the last word and may never ask again. So it is one only if
 * nothing is under way that this controller has not heard of, and what is left of an attempt that
 * failed goes by itself. */
static struct err *refuse(struct task *self, struct controller *controller, const char *name,
                          struct err *refusal)
{
    CLEANUP(err_freep) struct err *owned = refusal;
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    struct err *err = csi_api_error(cached_get(self, controller->kube, controller->volumes,
                                               controller->settings.namespace_, name, &object));

    TRY(err_unless(err, ERR_NOT_FOUND));
    if (!object || kube_is_deleting(object->metadata))
        return TAKE_PTR(owned);
    if (!creation_has_failed(as_volume(object)))
        return NULL;
    TRY(csi_api_error(failed_creation_note(self, controller, object)));
    return TAKE_PTR(owned);
}

/* `ret_joins`: it is under way, as it was asked for at first. */
static struct err *make_possible(struct task *self, struct rpc_call *call, const char *name,
                                 const struct volume_parameters *parameters,
                                 Csi__V1__CreateVolumeRequest *io, bool *ret_joins)
{
    struct controller *controller = call->ctx;
    Csi__V1__CreateVolumeRequest possible = *io;
    struct err *err = NULL;

    *ret_joins = is_under_way(controller, name);
    if (!*ret_joins)
        err = content_source_apply(self, controller, call->arena, parameters, &possible);
    if (!err)
        err = check_size(self, controller->cloud, possible.capacity_range, parameters);
    if (!err) {
        *io = possible;
        return NULL;
    }
    bool is_final = !err_is_transient(err) && err_kind(err) != ERR_CANCELED;
    *ret_joins = true; /* if it is not refused */
    return is_final ? refuse(self, controller, name, err) : err;
}

static struct err *create_volume(struct task *self, struct rpc_call *call, const char *disk_id,
                                 const char *disk, const Csi__V1__CreateVolumeRequest *request,
                                 const struct volume_parameters *parameters,
                                 struct kube_object **ret)
{
    struct controller *controller = call->ctx;
    CLEANUP(freep) char *name = NULL;
    Csi__V1__CreateVolumeRequest possible = *request;
    bool joins;

    TRY(name_of_new(controller, disk_id, parameters, &name));
    TRY(make_possible(self, call, name, parameters, &possible, &joins));
    TRY(joins ? join_volume(self, controller, name, request, parameters)
              : write_volume(self, controller, name, disk, &possible, parameters));
    return wait_created(self, call, name, ret);
}

struct err *csi_create_volume(struct task *self, struct rpc_call *call, const void *message,
                              void *ret)
{
    struct controller *controller = call->ctx;
    const Csi__V1__CreateVolumeRequest *request = message;
    CLEANUP(volume_parameters_fini) struct volume_parameters parameters = {0};
    CLEANUP(kube_object_unrefp) struct kube_object *volume = NULL;
    CLEANUP(freep) char *plain = NULL;
    CLEANUP(freep) char *id = NULL;

    TRY(check_create(request, &parameters));
    CLEANUP(freep)
    char *disk =
        parameters.disk_name ? mem_strdup(parameters.disk_name) : disk_name_of(request->name);
    TRY(controller->cloud->ops->disk_id(
        controller->cloud, &(struct cloud_disk_spec){.name = disk, .parameters = &parameters},
        &id));
    TRY(check_no_other_pv(controller, id, &parameters));
    TRY(volume_name_of_id(id, &plain));
    TRY(in_flight_begin(&controller->csi_calls, plain));
    struct err *err = create_volume(self, call, id, disk, request, &parameters, &volume);
    in_flight_end(&controller->csi_calls, plain);
    TRY(err);
    answer_volume(call->arena, as_volume(volume), ret);
    return NULL;
}
