#include "provisioner-lib/records/volume.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/records/access_mode.h"

const Api__AzVolume *as_volume(const struct kube_object *object)
{
    return KUBE_AS(Api__AzVolume, object);
}

const char *volume_state(const Api__AzVolume *volume)
{
    return volume->status && volume->status->state ? volume->status->state : "";
}

const char *volume_annotation(const Api__AzVolume *volume, const char *name)
{
    const Api__AzVolumeStatus *status = volume->status;

    return status ? KUBE_MAP_GET(status->annotation, status->n_annotation, name) : NULL;
}

/* It is in the metadata from the first, and in the status, where upstream has it, a moment later:
 * in that moment no disk may be made. */
const char *volume_adopted_id(const Api__AzVolume *volume)
{
    const char *id = volume_annotation(volume, ANNOTATION_PRE_PROVISIONED);

    return id ? id : kube_annotation(volume->metadata, ANNOTATION_PRE_PROVISIONED);
}

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

bool volume_disk_is_another(const Api__AzVolume *volume, const char *unique_id)
{
    const char *seen = volume_annotation(volume, ANNOTATION_DISK_UNIQUE_ID);

    return seen && *seen && unique_id && *unique_id && strcmp(seen, unique_id) != 0;
}

const char *volume_parameter(const Api__AzVolume *volume, const char *name)
{
    const Api__AzVolumeSpec *spec = volume->spec;

    if (!spec)
        return NULL;
    CLEANUP(freep)
    struct parameter *list = PARAMETER_LIST(spec->parameters, spec->n_parameters);

    return parameter_find(list, spec->n_parameters, name);
}

/* 0 if it does not say. */
static unsigned shares_of(const char *text)
{
    unsigned long number = text && *text ? strtoul(text, NULL, 10) : 0;

    return number <= MAX_SHARES_LIMIT ? (unsigned)number : 1;
}

unsigned volume_max_shares_wanted(const Api__AzVolume *volume)
{
    return shares_of(volume_parameter(volume, "maxShares"));
}

unsigned volume_max_shares(const Api__AzVolume *volume)
{
    unsigned wanted = volume_max_shares_wanted(volume);
    unsigned seen = shares_of(volume_annotation(volume, ANNOTATION_DISK_MAX_SHARES));

    if (wanted && seen)
        return seen < wanted ? seen : wanted;
    return wanted ? wanted : seen ? seen : 1;
}

/* What this release does not know may be a wish of a later one, and is no reason to do without. */
enum fencing volume_fencing(const Api__AzVolume *volume)
{
    const char *wish = volume_parameter(volume, "fencing");

    if (volume_max_shares(volume) < 2 || volume_is_multi_node(volume))
        return FENCING_NONE;
    if (wish && (strcasecmp(wish, "none") == 0 || strcasecmp(wish, "guest") == 0))
        return FENCING_NONE;
    return wish && strcasecmp(wish, "required") == 0 ? FENCING_REQUIRED : FENCING_PREFERRED;
}

unsigned volume_replicas_requested(const Api__AzVolume *volume)
{
    int requested = volume->spec ? volume->spec->max_mount_replica_count : 0;
    unsigned most = volume_max_shares(volume) - 1;

    return requested <= 0 ? 0 : (unsigned)requested < most ? (unsigned)requested : most;
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
        .size_gib = detail ? detail->capacity__bytes / GIB : 0,
    };
}

int volume_percent(const Api__AzVolume *volume)
{
    const Api__AzVolumeStatus *status = volume->status;

    return status && status->has_completion_percent ? status->completion_percent : 100;
}

int64_t volume_requested_gib(const Api__AzVolume *volume)
{
    const Api__AzCapacityRange *range = volume->spec ? volume->spec->capacity_range : NULL;

    return disk_size_gib(range ? range->required__bytes : 0);
}

const char *volume_source_id(const Api__AzVolume *volume)
{
    const Api__AzContentVolumeSource *source =
        volume->spec ? volume->spec->content_volume_source : NULL;

    return source ? source->content__source__id : NULL;
}

bool volume_was_seen_with(const Api__AzVolume *volume, const struct parameter *list, size_t n)
{
    const Api__AzVolumeStatus *status = volume->status;
    CLEANUP(freep)
    struct parameter *has =
        PARAMETER_LIST(status->mutable_parameters, status->n_mutable_parameters);

    return parameters_include(has, status->n_mutable_parameters, list, n);
}

bool volume_is_modifying(const Api__AzVolume *volume)
{
    const Api__AzVolumeSpec *spec = volume->spec;
    const Api__AzVolumeStatus *status = volume->status;

    if (!volume_is_created(volume) || status->modify_error || spec->n_mutable_parameters == 0)
        return false;
    CLEANUP(freep)
    struct parameter *wanted = PARAMETER_LIST(spec->mutable_parameters, spec->n_mutable_parameters);

    return !volume_was_seen_with(volume, wanted, spec->n_mutable_parameters);
}

struct err *volume_parse_mutable(const Api__AzVolume *volume, struct volume_parameters *ret)
{
    const Api__AzVolumeSpec *spec = volume->spec;
    CLEANUP(freep)
    struct parameter *list = PARAMETER_LIST(spec->mutable_parameters, spec->n_mutable_parameters);

    return volume_parameters_parse_mutable(list, spec->n_mutable_parameters, ret);
}

struct err *volume_parse_parameters(const Api__AzVolume *volume, struct volume_parameters *ret)
{
    const Api__AzVolumeSpec *spec = volume->spec;
    CLEANUP(freep)
    struct parameter *list = PARAMETER_LIST(spec->parameters, spec->n_parameters);
    CLEANUP(freep)
    struct parameter *mutable =
        PARAMETER_LIST(spec->mutable_parameters, spec->n_mutable_parameters);
    CLEANUP(freep)
    struct parameter *all =
        parameters_overridden(list, spec->n_parameters, mutable, spec->n_mutable_parameters);

    return volume_parameters_parse(all, spec->n_parameters + spec->n_mutable_parameters,
                                   volume_is_multi_node(volume), ret);
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
    const Api__AzVolumeSpec *spec = volume->spec;

    for (size_t i = 0; spec && i < spec->n_volume_capability; i++)
        if (access_mode_is_multi_node(spec->volume_capability[i]->access__mode))
            return true;
    return false;
}

/* A zone-redundant disk lists several zones, a regional one the empty zone. */
char *volume_zone(const Api__AzVolume *volume, const char *driver_name)
{
    const Api__AzVolumeDetail *detail = volume->status->detail;
    CLEANUP(freep) char *key = mem_printf(ZONE_OF_DRIVER, driver_name);

    if (detail->n_accessible__topology != 1)
        return mem_strdup("");
    const Api__AzTopology *topology = detail->accessible__topology[0];
    const char *zone = KUBE_MAP_GET(topology->segments, topology->n_segments, key);
    return mem_strdup(zone ? zone : "");
}
