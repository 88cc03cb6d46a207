#include "test/azsim/model/access.h"

#include <strings.h>

#include "test/azsim/model/disk.h"
#include "test/azsim/model/snapshot.h"
#include "test/azsim/model/vm.h"

enum { MOST_SECONDS = 365 * 24 * 3600 };

bool disk_is_accessed(const struct disk *disk)
{
    return model_now_us(disk->model) < disk->access_until_us;
}

bool snapshot_is_accessed(const struct snapshot *snapshot)
{
    return model_now_us(snapshot->model) < snapshot->access_until_us;
}

static struct refusal *read_grant(const struct model *model, const json_t *body, int64_t *ret_until)
{
    const char *access = resource_text(body, "access", "");
    json_int_t seconds = json_integer_value(resource_get(body, "durationInSeconds"));

    if (strcasecmp(access, "Read") != 0 && strcasecmp(access, "Write") != 0)
        return refuse(PARAMETER_UNKNOWN("grantAccessData.access"), access);
    if (seconds < 1 || seconds > MOST_SECONDS)
        return refuse(PARAMETER_OUT_OF_RANGE("grantAccessData.durationInSeconds"),
                      (long long)seconds, 1LL, (long long)MOST_SECONDS);
    *ret_until = model_now_us(model) + seconds * 1000000;
    return NULL;
}

/* ---- disks ---- */

static struct operation *begin_of_disk(struct disk *disk, enum operation_kind kind)
{
    struct model *model = disk->model;

    disk->operation = operation_start(model, kind, disk->key, model_draw(model, LATENCY_UPDATE));
    model_changed_disk(model, disk);
    model_commit(model);
    return disk->operation;
}

struct refusal *disk_grant_access(struct disk *disk, const json_t *body, struct operation **ret)
{
    int64_t until;

    REQUIRE(read_grant(disk->model, body, &until));
    if (disk->operation)
        return refuse(CONCURRENT_REQUEST);
    if (disk_state(disk) == DISK_STATE_ATTACHED)
        return refuse(ACCESS_WHILE_ATTACHED, disk->name, disk_owner(disk)->id);
    disk->access_until_us = until;
    *ret = begin_of_disk(disk, OPERATION_DISK_GRANT);
    return NULL;
}

struct refusal *disk_revoke_access(struct disk *disk, struct operation **ret)
{
    if (disk->operation)
        return refuse(CONCURRENT_REQUEST);
    *ret = begin_of_disk(disk, OPERATION_DISK_REVOKE);
    return NULL;
}

/* ---- snapshots ---- */

static struct operation *begin_of_snapshot(struct snapshot *snapshot, enum operation_kind kind)
{
    struct model *model = snapshot->model;

    snapshot->operation =
        operation_start(model, kind, snapshot->key, model_draw(model, LATENCY_UPDATE));
    model_changed_snapshot(model, snapshot);
    model_commit(model);
    return snapshot->operation;
}

struct refusal *snapshot_grant_access(struct snapshot *snapshot, const json_t *body,
                                      struct operation **ret)
{
    int64_t until;

    REQUIRE(read_grant(snapshot->model, body, &until));
    if (snapshot->operation)
        return refuse(CONCURRENT_REQUEST);
    snapshot->access_until_us = until;
    *ret = begin_of_snapshot(snapshot, OPERATION_SNAPSHOT_GRANT);
    return NULL;
}

struct refusal *snapshot_revoke_access(struct snapshot *snapshot, struct operation **ret)
{
    if (snapshot->operation)
        return refuse(CONCURRENT_REQUEST);
    *ret = begin_of_snapshot(snapshot, OPERATION_SNAPSHOT_REVOKE);
    return NULL;
}

json_t *access_json(const char *unique_id, int64_t until_us)
{
    return json_pack("{s:o}", "accessSAS",
                     json_sprintf("https://md-%.8s.z1.blob.storage.azure.net/%s/abcd?sv=2018-03-28"
                                  "&sr=b&se=%lld&sp=r&sig=azsim",
                                  unique_id, unique_id, (long long)(until_us / 1000000)));
}
