#include "controller/csi/new_volume.h"

#include "controller/csi/content_source.h"
#include "controller/volume/persistent_volume.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/records/volume.h"

static json_t *capabilities_json(const Csi__V1__CreateVolumeRequest *request)
{
    json_t *list = json_array();

    for (size_t i = 0; i < request->n_volume_capabilities; i++) {
        const Csi__V1__VolumeCapability *capability = request->volume_capabilities[i];
        bool mount = capability->access_type_case == CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_MOUNT;
        json_t *json = json_pack("{s:i, s:i}", "access_type", mount, "access_mode",
                                 (int)capability->access_mode->mode);

        if (mount && capability->mount->fs_type[0])
            json_object_set_new(json, "fs_type", json_string(capability->mount->fs_type));
        if (mount && capability->mount->n_mount_flags) {
            json_t *flags = json_array();

            for (size_t f = 0; f < capability->mount->n_mount_flags; f++)
                json_array_append_new(flags, json_string(capability->mount->mount_flags[f]));
            json_object_set_new(json, "mount_flags", flags);
        }
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *topologies_json(Csi__V1__Topology *const *topologies, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *segments = json_object();

        for (size_t k = 0; k < topologies[i]->n_segments; k++)
            json_object_set_new(segments, topologies[i]->segments[k]->key,
                                json_string(topologies[i]->segments[k]->value));
        json_array_append_new(list, json_pack("{s:o}", "segments", segments));
    }
    return list;
}

static json_t *parameters_json(const struct parameter *list, size_t n)
{
    json_t *json = json_object();

    parameters_set(json, list, n);
    return json;
}

static json_t *source_json(const Csi__V1__VolumeContentSource *source)
{
    bool is_snapshot = source->type_case == CSI__V1__VOLUME_CONTENT_SOURCE__TYPE_SNAPSHOT;

    return json_pack("{s:i, s:s}", "content_source", is_snapshot ? SOURCE_SNAPSHOT : SOURCE_VOLUME,
                     "content_source_id", content_source_id(source));
}

json_t *new_volume_spec_json(const char *disk, const Csi__V1__CreateVolumeRequest *request,
                             const struct volume_parameters *parameters)
{
    const Csi__V1__TopologyRequirement *topology = request->accessibility_requirements;
    const Csi__V1__CapacityRange *range = request->capacity_range;
    size_t n = request->n_parameters, n_mutable = request->n_mutable_parameters;
    CLEANUP(freep) struct parameter *list = PARAMETER_LIST(request->parameters, n);
    CLEANUP(freep)
    struct parameter *mutable = PARAMETER_LIST(request->mutable_parameters, n_mutable);
    json_t *spec = json_pack("{s:s, s:i, s:o, s:o}", "volumeName", disk, "maxMountReplicaCount",
                             parameters->max_mount_replica_count, "volumeCapability",
                             capabilities_json(request), "parameters", parameters_json(list, n));

    if (range)
        json_object_set_new(spec, "capacityRange",
                            json_pack("{s:I, s:I}", "required_bytes",
                                      (json_int_t)range->required_bytes, "limit_bytes",
                                      (json_int_t)range->limit_bytes));
    if (request->volume_content_source)
        json_object_set_new(spec, "contentVolumeSource",
                            source_json(request->volume_content_source));
    if (n_mutable > 0)
        json_object_set_new(spec, "mutableParameters", parameters_json(mutable, n_mutable));
    if (topology)
        json_object_set_new(spec, "accessibilityRequirements",
                            json_pack("{s:o, s:o}", "requisite",
                                      topologies_json(topology->requisite, topology->n_requisite),
                                      "preferred",
                                      topologies_json(topology->preferred, topology->n_preferred)));
    if (parameters->pv_name)
        json_object_set_new(spec, "persistentVolume", json_string(parameters->pv_name));
    return spec;
}

json_t *new_volume_json(const char *name, const char *disk,
                        const Csi__V1__CreateVolumeRequest *request,
                        const struct volume_parameters *parameters)
{
    json_t *labels =
        volume_pv_labels_json(parameters->pv_name, parameters->pvc_name, parameters->pvc_namespace);

    return json_pack("{s:{s:s, s:[s], s:o}, s:o}", "metadata", "name", name, "finalizers",
                     FINALIZER_VOLUME, "labels", labels, "spec",
                     new_volume_spec_json(disk, request, parameters));
}
