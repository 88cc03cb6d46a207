#include "provisioner-lib/azure/disk_growth.h"

#include <inttypes.h>

#include "lib/rt/wait.h"
#include "provisioner-lib/azure/managed_disk.h"
#include "provisioner-lib/disk_sku.h"

enum { END_PAUSE_MS = 1000, END_LOOKS = 60 };

static bool has(const struct cloud_disk *disk, int64_t size_gib)
{
    return disk->size_bytes >= size_gib * GIB;
}

static struct err *patch_size(struct task *self, struct arm_client *arm, const char *id,
                              int64_t size_gib)
{
    CLEANUP(json_decrefp)
    json_t *body = json_pack("{s:{s:I}}", "properties", "diskSizeGB", (json_int_t)size_gib);
    CLEANUP(arm_operation_fini) struct arm_operation operation = {0};

    TRY(arm_client_request(
        self, arm,
        &(struct arm_request){.kind = ARM_DISK_WRITE, .method = "PATCH", .path = id, .body = body},
        NULL, &operation));
    return arm_operation_wait(self, arm, &operation);
}

/* Azure may be changing the disk although its answer was lost; until that has ended, it lets no VM
 * attach the disk. False if the end was not seen, or the disk is not as large then. */
static bool grew_anyway(struct task *self, struct arm_client *arm, const char *id, int64_t size_gib)
{
    for (int i = 0; i < END_LOOKS; i++) {
        CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
        CLEANUP(err_freep) struct err *err = managed_disk_get(self, arm, id, &disk);

        if (task_is_cancelled(self) || (err && !err_is_transient(err)))
            return false;
        if (!err && !disk.changing)
            return has(&disk, size_gib);
        err_free(task_sleep(self, END_PAUSE_MS));
    }
    return false;
}

static struct err *change_size(struct task *self, struct arm_client *arm, const char *id,
                               int64_t size_gib)
{
    CLEANUP(err_freep) struct err *err = patch_size(self, arm, id, size_gib);

    if (err && err_is_transient(err) && grew_anyway(self, arm, id, size_gib))
        return NULL;
    return TAKE_PTR(err);
}

/* Reads first: what is done already, by whomever, costs no change. */
struct err *disk_growth_carry_out(struct task *self, struct arm_client *arm, const char *id,
                                  int64_t size_gib, struct cloud_disk *ret)
{
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};

    TRY(managed_disk_get(self, arm, id, &disk));
    if (!has(&disk, size_gib)) {
        TRY(change_size(self, arm, id, size_gib));
        cloud_disk_fini(&disk);
        TRY(managed_disk_get(self, arm, id, &disk));
    }
    if (!has(&disk, size_gib))
        return err_new(ERR_BUSY, "disk %s still has %" PRId64 " bytes, not %" PRId64 " GiB", id,
                       disk.size_bytes, size_gib);
    *ret = disk;
    disk = (struct cloud_disk){0};
    return NULL;
}
