#include "provisioner-lib/host/trouble.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/mount_table.h"

#define START_AGAIN                                                                                \
    "delete the pods on this node that use the volume, so that it is unmounted and mounted again"
#define SEE_LOG "the kernel's log says more; "

/* Of SCSI disks and of NVMe controllers, while they take requests. */
static bool is_in_service(const char *state)
{
    return !state || strcmp(state, "running") == 0 || strcmp(state, "live") == 0;
}

static char *trouble_of_disk(const struct volume_facts *facts)
{
    const char *device = facts->device;

    if (!is_in_service(facts->disk_state))
        return mem_printf(
            "the kernel does not use %s any more: its state is \"%s\"; " SEE_LOG START_AGAIN,
            device, facts->disk_state);
    if (!facts->disk_now)
        return mem_printf(
            "the disk is gone: %s is in use, but no disk is at LUN %u any more; " START_AGAIN,
            device, facts->lun);
    if (facts->replaced)
        return mem_printf(
            "the disk is gone: %s is in use, but the disk at LUN %u is %s now; " START_AGAIN,
            device, facts->lun, facts->disk_now);
    if (facts->size == 0)
        return mem_printf("the disk is gone: the size of %s is 0; " START_AGAIN, device);
    return NULL;
}

static bool has(const struct volume_facts *facts, const char *option)
{
    return mount_table_has_option(facts->options, option);
}

/* Kernels before 6.12 make a file system read-only as a remount does; others only say that it is an
 * emergency. */
static char *trouble_of_filesystem(const struct volume_facts *facts)
{
    const char *device = facts->device, *type = facts->type;

    if (facts->failure)
        return mem_printf("the %s file system of %s is not usable: %s; " SEE_LOG START_AGAIN, type,
                          device, strerror(facts->failure));
    if (has(facts, "shutdown"))
        return mem_printf("the %s file system of %s has been shut down; " SEE_LOG START_AGAIN, type,
                          device);
    if (has(facts, "emergency_ro") || (facts->for_writing && has(facts, "ro")))
        return mem_printf("the %s file system of %s was mounted for writing and has become "
                          "read-only, with %" PRIu64 " errors on record; " SEE_LOG START_AGAIN,
                          type, device, facts->errors);
    if (facts->errors > 0)
        return mem_printf("the kernel has recorded %" PRIu64
                          " errors in the %s file system of %s; " SEE_LOG START_AGAIN
                          ", which has it checked",
                          facts->errors, type, device);
    return NULL;
}

char *trouble_describe(const struct volume_facts *facts)
{
    char *trouble = trouble_of_disk(facts);

    return trouble || !facts->type ? trouble : trouble_of_filesystem(facts);
}
