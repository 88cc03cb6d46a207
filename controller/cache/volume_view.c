#include "controller/cache/volume_view.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/records/access_mode.h"
#include "provisioner-lib/records/names.h"

bool volume_is_created(const Api__AzVolume *volume)
{
    return volume->status && volume->status->detail && volume->status->detail->volume__id;
}

/* Upstream's driver notes "true" where this one notes the disk's id. */
static const char *id_or_null(const char *id)
{
    return id && strncasecmp(id, "/subscriptions/", strlen("/subscriptions/")) == 0 ? id : NULL;
}

const char *volume_recorded_disk(const Api__AzVolume *volume)
{
    const char *noted = id_or_null(volume_adopted_id(volume));

    if (volume_is_created(volume))
        return volume->status->detail->volume__id;
    return noted ? noted : kube_annotation(volume->metadata, ANNOTATION_DISK);
}

const char *volume_parameter(const Api__AzVolume *volume, const char *name)
{
    const Api__AzVolumeSpec *spec = volume->spec;
    CLEANUP(freep)
    struct parameter *list = PARAMETER_LIST(spec->parameters, spec->n_parameters);

    return parameter_find(list, spec->n_parameters, name);
}

static const char *or_noted(const char *parameter, const Api__AzVolume *volume, const char *note)
{
    return parameter && *parameter ? parameter : volume_annotation(volume, note);
}

unsigned volume_max_shares(const Api__AzVolume *volume)
{
    const char *shares =
        or_noted(volume_parameter(volume, "maxShares"), volume, ANNOTATION_DISK_MAX_SHARES);
    unsigned long number = shares ? strtoul(shares, NULL, 10) : 1;

    return number >= 1 && number <= MAX_SHARES_LIMIT ? (unsigned)number : 1;
}

/* The disk has the last word; a volume that was made before it was asked says what it is. */
struct caching_disk volume_disk(const Api__AzVolume *volume)
{
    const Api__AzVolumeDetail *detail = volume->status ? volume->status->detail : NULL;
    const char *sku = volume_annotation(volume, ANNOTATION_DISK_SKU);
    const char *shares = volume_annotation(volume, ANNOTATION_DISK_MAX_SHARES);

    sku = sku ? sku : volume_parameter(volume, "skuName");
    return (struct caching_disk){
        .sku = sku ? sku : volume_parameter(volume, "storageAccountType"),
        .max_shares = shares ? (int)strtol(shares, NULL, 10) : (int)volume_max_shares(volume),
        .size_gib = detail ? detail->capacity__bytes >> 30 : 0,
    };
}

struct err *volume_parse_parameters(const Api__AzVolume *volume, struct volume_parameters *ret)
{
    const Api__AzVolumeSpec *spec = volume->spec;
    CLEANUP(freep)
    struct parameter *list = PARAMETER_LIST(spec->parameters, spec->n_parameters);

    return volume_parameters_parse(list, spec->n_parameters, volume_is_multi_node(volume), ret);
}

struct err *volume_parse_existing(const Api__AzVolume *volume, struct volume_parameters *ret)
{
    const Api__AzVolumeSpec *spec = volume->spec;
    CLEANUP(freep)
    struct parameter *list = PARAMETER_LIST(spec->parameters, spec->n_parameters);

    return volume_parameters_parse_existing(list, spec->n_parameters, volume_is_multi_node(volume),
                                            ret);
}

bool volume_is_multi_node(const Api__AzVolume *volume)
{
    for (size_t i = 0; i < volume->spec->n_volume_capability; i++)
        if (access_mode_is_multi_node(volume->spec->volume_capability[i]->access__mode))
            return true;
    return false;
}

/* A zone-redundant disk lists several zones, a regional one the empty zone. */
char *volume_zone(const struct controller *controller, const Api__AzVolume *volume)
{
    const Api__AzVolumeDetail *detail = volume->status->detail;
    CLEANUP(freep) char *key = mem_printf(ZONE_OF_DRIVER, controller->settings.driver_name);

    if (detail->n_accessible__topology != 1)
        return mem_strdup("");
    const Api__AzTopology *topology = detail->accessible__topology[0];
    const char *zone = KUBE_MAP_GET(topology->segments, topology->n_segments, key);
    return mem_strdup(zone ? zone : "");
}

json_t *attachment_json(const Api__AzVolume *volume, const char *node, const char *role)
{
    const char *name = volume->metadata->name;
    const Api__AzVolumeDetail *detail = volume->status->detail;
    json_t *context = json_object();

    for (size_t i = 0; i < detail->n_parameters; i++)
        json_object_set_new(context, detail->parameters[i]->key,
                            json_string(detail->parameters[i]->value));
    return json_pack("{s:{s:[s], s:{s:s, s:s, s:s}}, s:{s:s, s:s, s:s, s:o, s:s}}", "metadata",
                     "finalizers", FINALIZER_ATTACHMENT, "labels", LABEL_NODE, node, LABEL_VOLUME,
                     name, LABEL_ROLE, role, "spec", "volumeName", name, "volume_id",
                     detail->volume__id, "nodeName", node, "volume_context", context, "role", role);
}

json_t *attachment_role_json(const struct kube_object *attachment, const char *role)
{
    bool promoted = strcmp(role, ROLE_PRIMARY) == 0;

    return json_pack("{s:{s:s, s:{s:s, s:s}}, s:{s:s}}", "metadata", "resourceVersion",
                     attachment->metadata->resource_version, "labels", LABEL_ROLE, role,
                     LABEL_ROLE_CHANGE, promoted ? ROLE_CHANGE_PROMOTED : ROLE_CHANGE_DEMOTED,
                     "spec", "role", role);
}

const char *attachment_word(const Api__AzVolumeAttachment *attachment)
{
    return attachment->status && attachment->status->state ? attachment->status->state : "";
}

json_t *attachment_detach_request_json(const struct kube_object *attachment)
{
    return json_pack("{s:{s:s}, s:{s:s, s:{s:s}}}", "metadata", "resourceVersion",
                     attachment->metadata->resource_version, "status", "state",
                     attachment_word(as_attachment(attachment)), "annotation",
                     ANNOTATION_DETACH_REQUEST, "crdProvisioner");
}

bool node_is_ready(const Api__Node *node)
{
    for (size_t i = 0; node->status && i < node->status->n_conditions; i++) {
        const Api__NodeCondition *condition = node->status->conditions[i];

        if (condition->type && strcmp(condition->type, "Ready") == 0)
            return condition->status && strcmp(condition->status, "True") == 0;
    }
    return false;
}

bool node_is_schedulable(const Api__Node *node)
{
    if (!node->spec)
        return true;
    for (size_t i = 0; i < node->spec->n_taints; i++) {
        const char *effect = node->spec->taints[i]->effect;

        if (effect && strcmp(effect, "PreferNoSchedule") != 0)
            return false;
    }
    return !node->spec->unschedulable;
}
