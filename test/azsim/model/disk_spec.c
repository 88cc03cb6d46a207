#include "test/azsim/model/disk_spec.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/resource.h"

/* The zones that a region has. */
static const char *const zones[] = {"1", "2", "3"};

static struct refusal *read_sku(const json_t *body, struct disk_spec *spec)
{
    const char *name = resource_text(body, "sku.name", "Standard_LRS");

    spec->sku = disk_sku_find(name);
    return spec->sku ? NULL : refuse(PARAMETER_UNKNOWN("sku.name"), name);
}

static struct refusal *read_zone(const json_t *body, const char *name, struct disk_spec *spec)
{
    const json_t *list = resource_get(body, "zones");
    const char *zone = json_string_value(json_array_get(list, 0));
    bool known = false;

    spec->zone = zone ? zone : "";
    if (json_array_size(list) == 0)
        return NULL;
    for (size_t i = 0; i < COUNT_OF(zones); i++)
        known |= strcmp(zones[i], spec->zone) == 0;
    if (!known || json_array_size(list) > 1)
        return refuse(ZONE_NOT_SUPPORTED, spec->zone, "disks", name,
                      resource_text(body, "location", ""));
    if (spec->sku->zone_redundant)
        return refuse(ZRS_IN_ZONE, spec->sku->name);
    return NULL;
}

static struct refusal *read_creation(const json_t *body)
{
    const char *option = resource_text(body, "properties.creationData.createOption", NULL);

    if (!resource_get(body, "properties.creationData"))
        return refuse(PARAMETER_MISSING("disk.creationData"));
    if (!option)
        return refuse(PARAMETER_MISSING("disk.creationData.createOption"));
    if (strcasecmp(option, "Copy") == 0)
        return resource_text(body, "properties.creationData.sourceResourceId", NULL)
                   ? NULL
                   : refuse(PARAMETER_MISSING("disk.creationData.sourceResourceId"));
    if (strcasecmp(option, "Empty") != 0)
        return refuse(PARAMETER_UNKNOWN("disk.creationData.createOption"), option);
    return NULL;
}

static struct refusal *read_size(const json_t *body, struct disk_spec *spec)
{
    const json_t *size = resource_get(body, "properties.diskSizeGB");

    if (!json_is_integer(size))
        return refuse(PARAMETER_MISSING("disk.diskSizeGB"));
    spec->size_gib = json_integer_value(size);
    if (spec->size_gib < spec->sku->least_gib || spec->size_gib > spec->sku->most_gib)
        return refuse(PARAMETER_OUT_OF_RANGE("disk.diskSizeGB"), (long long)spec->size_gib,
                      (long long)spec->sku->least_gib, (long long)spec->sku->most_gib);
    return NULL;
}

static struct refusal *read_max_shares(const json_t *body, const char *name, struct disk_spec *spec)
{
    const json_t *shares = resource_get(body, "properties.maxShares");

    spec->max_shares = shares ? json_integer_value(shares) : 1;
    if (spec->max_shares < 1 || spec->max_shares > disk_max_shares(spec->sku, spec->size_gib))
        return refuse(MAX_SHARES_INVALID, (long long)spec->max_shares, name,
                      (long long)spec->size_gib);
    return NULL;
}

/* Of most SKUs the size decides; a client may repeat what it gives. */
static struct refusal *read_performance(const json_t *body, const char *name,
                                        struct disk_spec *spec)
{
    const json_t *iops = resource_get(body, "properties.diskIOPSReadWrite");
    const json_t *mbps = resource_get(body, "properties.diskMBpsReadWrite");

    disk_performance(spec->sku, spec->size_gib, &spec->iops, &spec->mbps);
    if (!disk_performance_is_settable(spec->sku)) {
        bool same = (!iops || json_integer_value(iops) == spec->iops) &&
                    (!mbps || json_integer_value(mbps) == spec->mbps);
        return same ? NULL : refuse(PERFORMANCE_NOT_SETTABLE, name, spec->sku->name);
    }
    spec->iops = iops ? json_integer_value(iops) : spec->iops;
    spec->mbps = mbps ? json_integer_value(mbps) : spec->mbps;
    return NULL;
}

static struct refusal *read_tier(const json_t *body, struct disk_spec *spec)
{
    const char *tier = resource_text(body, "properties.tier", NULL);

    if (spec->sku->family == DISK_PREMIUM)
        spec->tier = disk_step_name(spec->sku, disk_step_of(spec->size_gib));
    if (tier && (!spec->tier || strcasecmp(tier, spec->tier) != 0))
        return refuse(PARAMETER_UNKNOWN("disk.tier"), tier);
    return NULL;
}

struct refusal *disk_spec_read(const json_t *body, const char *name, struct disk_spec *ret)
{
    struct disk_spec spec = {0};

    if (!resource_name_is_valid(name))
        return refuse(NAME_INVALID("diskName"));
    REQUIRE(read_sku(body, &spec));
    REQUIRE(read_zone(body, name, &spec));
    REQUIRE(read_creation(body));
    REQUIRE(read_size(body, &spec));
    REQUIRE(read_max_shares(body, name, &spec));
    REQUIRE(read_performance(body, name, &spec));
    REQUIRE(read_tier(body, &spec));
    *ret = spec;
    return NULL;
}

/* Members that the client repeats must be the same, in any case of letters. */
struct refusal *creation_check_same(const json_t *from, const json_t *to)
{
    const json_t *present = resource_get(from, "properties.creationData");
    const char *name;
    json_t *value;

    json_object_foreach(resource_get(to, "properties.creationData"), name, value) {
        const json_t *was = json_object_get(present, name);
        bool same = json_is_string(value) && json_is_string(was)
                        ? strcasecmp(json_string_value(value), json_string_value(was)) == 0
                        : json_equal(value, was);

        if (!same) {
            char property[64];

            snprintf(property, sizeof property, "creationData.%s", name);
            return refuse(PROPERTY_CHANGE_NOT_ALLOWED(property), property);
        }
    }
    return NULL;
}

struct refusal *disk_spec_check_change(const json_t *from, const json_t *to)
{
    const json_t *was = resource_get(from, "zones"), *is = resource_get(to, "zones");

    REQUIRE(creation_check_same(from, to));
    if ((json_array_size(was) || json_array_size(is)) && !json_equal(was, is))
        return refuse(PROPERTY_CHANGE_NOT_ALLOWED("zones"), "zones");
    return NULL;
}
