#include "provisioner-lib/audit/disks_look.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/audit/cluster_view.h"

void disks_look_fini(struct disks_look *look)
{
    cloud_disks_fini(&look->disks);
    free(look->by_id);
    for (size_t i = 0; i < look->n_unlisted; i++) {
        free(look->unlisted[i].disk_id);
        free(look->unlisted[i].reason);
    }
    free(look->unlisted);
    for (size_t i = 0; i < look->n_strangers; i++)
        free(look->strangers[i].id);
    free(look->strangers);
    *look = (struct disks_look){0};
}

/* Ids are long and differ at their ends only. */
static int by_hash(const void *a, const void *b)
{
    const struct disk_entry *one = a, *other = b;

    return one->hash < other->hash ? -1 : one->hash > other->hash;
}

void disks_look_index(struct disks_look *look)
{
    look->by_id = mem_alloc((look->disks.n + 1) * sizeof *look->by_id);
    for (size_t i = 0; i < look->disks.n; i++)
        look->by_id[i] =
            (struct disk_entry){text_hash(look->disks.items[i].id), &look->disks.items[i]};
    qsort(look->by_id, look->disks.n, sizeof *look->by_id, by_hash);
}

const struct cloud_disk *disks_look_find(const struct disks_look *look, const char *id)
{
    uint64_t hash = text_hash(id);
    size_t low = 0, high = look->disks.n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (look->by_id[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < look->disks.n && look->by_id[low].hash == hash; low++)
        if (strcasecmp(look->by_id[low].disk->id, id) == 0)
            return look->by_id[low].disk;
    return NULL;
}

bool disks_look_may_list(const struct disks_look *look, const char *id)
{
    for (size_t i = 0; i < look->n_unlisted; i++)
        if (disk_is_beside(look->unlisted[i].disk_id, id))
            return false;
    return true;
}

const struct stranger *disks_look_stranger(const struct disks_look *look, const char *id)
{
    for (size_t i = 0; i < look->n_strangers; i++)
        if (strcasecmp(look->strangers[i].id, id) == 0)
            return &look->strangers[i];
    return NULL;
}

bool disk_is_beside(const char *id, const char *other)
{
    const char *end = strrchr(id, '/'), *other_end = strrchr(other, '/');

    return end && other_end && end - id == other_end - other &&
           strncasecmp(id, other, (size_t)(end - id)) == 0;
}
