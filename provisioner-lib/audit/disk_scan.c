#include "provisioner-lib/audit/disk_scan.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/audit/cluster_view.h"

void disk_scan_fini(struct disk_scan *scan)
{
    cloud_disks_fini(&scan->disks);
    free(scan->by_id);
    for (size_t i = 0; i < scan->n_unlisted; i++) {
        free(scan->unlisted[i].disk_id);
        free(scan->unlisted[i].reason);
    }
    free(scan->unlisted);
    for (size_t i = 0; i < scan->n_foreign_vms; i++)
        free(scan->foreign_vms[i].id);
    free(scan->foreign_vms);
    *scan = (struct disk_scan){0};
}

/* Ids are long and differ at their ends only. */
static int by_hash(const void *a, const void *b)
{
    const struct disk_entry *one = a, *other = b;

    return one->hash < other->hash ? -1 : one->hash > other->hash;
}

void disk_scan_index(struct disk_scan *scan)
{
    scan->by_id = mem_alloc((scan->disks.n + 1) * sizeof *scan->by_id);
    for (size_t i = 0; i < scan->disks.n; i++)
        scan->by_id[i] =
            (struct disk_entry){text_hash(scan->disks.items[i].id), &scan->disks.items[i]};
    qsort(scan->by_id, scan->disks.n, sizeof *scan->by_id, by_hash);
}

const struct cloud_disk *disk_scan_find(const struct disk_scan *scan, const char *id)
{
    uint64_t hash = text_hash(id);
    size_t low = 0, high = scan->disks.n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (scan->by_id[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < scan->disks.n && scan->by_id[low].hash == hash; low++)
        if (strcasecmp(scan->by_id[low].disk->id, id) == 0)
            return scan->by_id[low].disk;
    return NULL;
}

bool disk_scan_may_list(const struct disk_scan *scan, const char *id)
{
    for (size_t i = 0; i < scan->n_unlisted; i++)
        if (disk_is_beside(scan->unlisted[i].disk_id, id))
            return false;
    return true;
}

const struct foreign_vm *disk_scan_foreign_vm(const struct disk_scan *scan, const char *id)
{
    for (size_t i = 0; i < scan->n_foreign_vms; i++)
        if (strcasecmp(scan->foreign_vms[i].id, id) == 0)
            return &scan->foreign_vms[i];
    return NULL;
}

bool disk_is_beside(const char *id, const char *other)
{
    const char *end = strrchr(id, '/'), *other_end = strrchr(other, '/');

    return end && other_end && end - id == other_end - other &&
           strncasecmp(id, other, (size_t)(end - id)) == 0;
}
