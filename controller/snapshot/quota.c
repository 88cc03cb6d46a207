#include "controller/snapshot/quota.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "provisioner-lib/records/snapshot.h"

static int later_first(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x < *y) - (*x > *y);
}

int64_t snapshot_next_allowed_us(const int64_t *taken_us, size_t n, int64_t now_us)
{
    CLEANUP(freep) int64_t *times = mem_alloc((n + 1) * sizeof *times);

    size_t n_past = 0;

    for (size_t i = 0; i < n; i++)
        if (taken_us[i] <= now_us) /* or the clocks differ, and Azure has the word */
            times[n_past++] = taken_us[i];
    if (n_past < SNAPSHOTS_BURST)
        return now_us;
    qsort(times, n_past, sizeof *times, later_first);
    int64_t allowed = times[SNAPSHOTS_BURST - 1] + (int64_t)SNAPSHOTS_BURST_MS * 1000;
    return allowed > now_us ? allowed : now_us;
}

static bool is_incremental(const Api__AzSnapshot *snapshot)
{
    CLEANUP(snapshot_parameters_fini) struct snapshot_parameters parameters = {0};
    CLEANUP(err_freep) struct err *err = snapshot_parse_parameters(snapshot, &parameters);

    return err || parameters.incremental;
}

struct err *snapshot_check_quota(const struct controller *controller, const char *disk_id)
{
    size_t n, n_taken = 0, n_there = 0;
    CLEANUP(freep) char *key = mem_lower(disk_id);
    struct kube_object *const *snapshots = store_find(controller->snapshots_by_disk, key, &n);
    CLEANUP(freep) int64_t *taken = mem_alloc((n + 1) * sizeof *taken);
    int64_t now = loop_wall_us(controller->loop);

    for (size_t i = 0; i < n; i++) {
        const Api__AzSnapshot *snapshot = as_snapshot(snapshots[i]);

        if (!(snapshot_is_created(snapshot) || snapshot_local_is_taken(snapshot)) ||
            !is_incremental(snapshot))
            continue;
        taken[n_taken++] = snapshot_taken_us(snapshot);
        n_there += snapshot_is_of_disk(snapshot);
    }
    if (n_there >= SNAPSHOTS_MOST)
        return err_new(ERR_EXHAUSTED,
                       "disk %s has %zu incremental snapshots, and Azure allows %d: delete some of "
                       "its VolumeSnapshots",
                       disk_id, n_there, SNAPSHOTS_MOST);
    int64_t allowed = snapshot_next_allowed_us(taken, n_taken, now);
    if (allowed == now)
        return NULL;
    char text[TIMESTAMP_SIZE];
    timestamp_format(allowed, text);
    return err_throttled(
        (uint64_t)(allowed - now) / 1000 + 1,
        "Azure allows %d incremental snapshots of a disk in 5 minutes, and disk %s "
        "has had as many: the next one can be created at %s",
        SNAPSHOTS_BURST, disk_id, text);
}
