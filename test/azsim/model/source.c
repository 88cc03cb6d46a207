#include "test/azsim/model/source.h"

#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/region.h"

static struct refusal *check_snapshot(const struct snapshot *snapshot)
{
    if (snapshot->operation)
        return refuse(CONCURRENT_REQUEST);
    if (!snapshot_is_usable(snapshot))
        return refuse(SOURCE_NOT_COMPLETE, snapshot->id);
    return NULL;
}

/* A region knows what is in it, unless the copy is to be from another one. */
static bool is_in_reach(const struct model *model, const json_t *body, const struct source *source)
{
    const char *option = resource_text(body, "properties.creationData.createOption", "");
    const char *location =
        source->disk ? disk_location(source->disk) : snapshot_location(source->snapshot);

    return strcasecmp(option, "CopyStart") == 0 ||
           region_is_same(location, resource_text(body, "location", model->location));
}

struct refusal *source_find(const struct model *model, const json_t *body, struct source *ret)
{
    const char *id = resource_text(body, "properties.creationData.sourceResourceId", NULL);
    struct resource_parts parts;

    *ret = (struct source){0};
    if (!id)
        return NULL;
    if (!resource_parts_read(&parts, id))
        return refuse(DISK_ID_MALFORMED, id, "properties.creationData.sourceResourceId");
    CLEANUP(freep) char *key = resource_key(id);
    if (strcasecmp(parts.type, "disks") == 0)
        ret->disk = disk_find(model, key);
    else if (strcasecmp(parts.type, "snapshots") == 0)
        ret->snapshot = snapshot_find(model, key);
    resource_parts_fini(&parts);
    if ((!ret->disk && !ret->snapshot) || !is_in_reach(model, body, ret))
        return refuse(SOURCE_NOT_FOUND, id);
    if (ret->disk)
        return ret->disk->operation ? refuse(CONCURRENT_REQUEST) : NULL;
    return check_snapshot(ret->snapshot);
}

const char *source_unique_id(const struct source *source)
{
    if (source->disk)
        return source->disk->unique_id;
    return source->snapshot ? source->snapshot->unique_id : NULL;
}

int64_t source_size_gib(const struct source *source)
{
    if (source->disk)
        return source->disk->spec.size_gib;
    return source->snapshot ? source->snapshot->size_gib : 0;
}

bool source_is_slow(const struct source *source)
{
    if (source->disk)
        return disk_performance_is_settable(source->disk->spec.sku);
    return source->snapshot && source->snapshot->slow;
}
