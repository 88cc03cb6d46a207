#include "provisioner-lib/azure/disk_change.h"

#include <inttypes.h>
#include <strings.h>

#include "lib/rt/loop.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/azure/managed_disk.h"
#include "provisioner-lib/disk_sku.h"

enum {
    END_PAUSE_MS = 1000,
    /* A change that Azure tells nothing of is taken to have ended then, as vm_queue.c has it. */
    UNKNOWN_MS = 2 * 60 * 1000,
};

static bool is_large_enough(const struct cloud_disk *disk, const struct cloud_disk_change *change)
{
    return disk->size_bytes >= change->size_gib * GIB;
}

/* The part of the change that the disk does not have yet: a DiskUpdate, or NULL if there is none.
 */
static json_t *left_to_change(const struct cloud_disk *disk, const struct cloud_disk_change *change)
{
    json_t *body = json_object(), *properties = json_object();

    if (!is_large_enough(disk, change))
        json_object_set_new(properties, "diskSizeGB", json_integer(change->size_gib));
    if (change->iops && disk->iops != change->iops)
        json_object_set_new(properties, "diskIOPSReadWrite", json_integer(change->iops));
    if (change->mbps && disk->mbps != change->mbps)
        json_object_set_new(properties, "diskMBpsReadWrite", json_integer(change->mbps));
    if (change->sku && strcasecmp(disk->sku, change->sku) != 0)
        json_object_set_new(body, "sku", json_pack("{s:s}", "name", change->sku));
    if (json_object_size(properties) > 0)
        json_object_set(body, "properties", properties);
    json_decref(properties);
    if (json_object_size(body) > 0)
        return body;
    json_decref(body);
    return NULL;
}

static bool is_changed(const struct cloud_disk *disk, const struct cloud_disk_change *change)
{
    CLEANUP(json_decrefp) json_t *left = left_to_change(disk, change);

    return !left;
}

/* Azure may be changing the disk although nobody could learn of it; until that has ended, it lets
 * no VM attach or detach the disk. Looks that fail say nothing, and may be over in no time or take
 * a minute each: only the time counts. False if the end was not seen, or the disk is not what it
 * was to be then. */
static bool changed_anyway(struct task *self, struct arm_client *arm, const char *id,
                           const struct cloud_disk_change *change)
{
    uint64_t deadline = loop_now(loop_of(self)) + UNKNOWN_MS;

    while (!task_is_cancelled(self) && loop_now(loop_of(self)) < deadline) {
        CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
        CLEANUP(err_freep) struct err *err = managed_disk_get(self, arm, id, &disk);

        if (err && err_kind(err) == ERR_NOT_FOUND)
            return false;
        if (!err && !disk.changing)
            return is_changed(&disk, change);
        err_free(task_sleep(self, END_PAUSE_MS));
    }
    return false;
}

static bool may_go_on(const struct err *err)
{
    return err_is_transient(err) || err_kind(err) == ERR_INTERNAL;
}

static struct err *carry_out(struct task *self, struct arm_client *arm, const char *id,
                             const struct cloud_disk_change *change, json_t *body)
{
    CLEANUP(err_freep)
    struct err *err = arm_client_change(
        self, arm,
        &(struct arm_request){.kind = ARM_DISK_WRITE, .method = "PATCH", .path = id, .body = body});

    if (err && may_go_on(err) && changed_anyway(self, arm, id, change))
        return NULL;
    return TAKE_PTR(err);
}

/* Reads first: what is done already, by whomever, costs no change. Of what Azure says that it has
 * done, only the size is looked at again: a number that it has rounded must not be asked for for
 * ever, since it counts such changes. */
struct err *disk_change_carry_out(struct task *self, struct arm_client *arm, const char *id,
                                  const struct cloud_disk_change *change, struct cloud_disk *ret)
{
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};

    TRY(managed_disk_get(self, arm, id, &disk));
    CLEANUP(json_decrefp) json_t *body = left_to_change(&disk, change);
    bool copying = !is_large_enough(&disk, change) && disk.percent < 100;
    if (body && !copying) {
        TRY(change->check ? change->check(change->ctx, &disk) : NULL);
        TRY(carry_out(self, arm, id, change, body));
        cloud_disk_fini(&disk);
        TRY(managed_disk_get(self, arm, id, &disk));
    }
    if (!is_large_enough(&disk, change) && !copying)
        return err_new(ERR_BUSY, "disk %s still has %" PRId64 " bytes, not %" PRId64 " GiB", id,
                       disk.size_bytes, change->size_gib);
    *ret = disk;
    disk = (struct cloud_disk){0};
    return NULL;
}
