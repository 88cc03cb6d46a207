#include "controller/replica/unschedulable.h"

#include <stdlib.h>
#include <string.h>

#include "controller/metrics.h"
#include "lib/base/alloc.h"
#include "lib/base/hash.h"

enum { MOMENT_MS = 1000 };

struct unschedulable {
    char *key; /* of the AzVolume */
    char *why;
    UT_hash_handle hh;
};

static struct unschedulable *find(const struct controller *controller, const char *key)
{
    struct unschedulable *entry;

    HASH_FIND_STR(controller->leading->unschedulable, key, entry);
    return entry;
}

static void count(const struct controller *controller)
{
    metric_set(&METRIC_LACKING_REPLICAS, HASH_COUNT(controller->leading->unschedulable), NULL);
}

static void drop(struct controller *controller, struct unschedulable *entry)
{
    HASH_DEL(controller->leading->unschedulable, entry);
    free(entry->key);
    free(entry->why);
    free(entry);
    count(controller);
}

bool unschedulable_add(struct controller *controller, const struct kube_object *volume,
                       const char *why)
{
    struct unschedulable *entry = find(controller, volume->key);

    if (entry && strcmp(entry->why, why) == 0)
        return false;
    if (!entry) {
        entry = mem_alloc(sizeof *entry);
        entry->key = mem_strdup(volume->key);
        HASH_ADD_KEYPTR(hh, controller->leading->unschedulable, entry->key, strlen(entry->key),
                        entry);
        count(controller);
    }
    free(entry->why);
    entry->why = mem_strdup(why);
    return true;
}

void unschedulable_report(struct controller *controller, const struct kube_object *volume,
                          const char *why)
{
    if (unschedulable_add(controller, volume, why) && *why)
        events_record(
            controller->events, &AZ_VOLUMES, volume->metadata, EVENT_WARNING, "ReplicaNotPlaced",
            "PlacingReplica",
            "%s. The controller tries again when a node changes or a disk slot becomes free.", why);
}

void unschedulable_remove(struct controller *controller, const char *key)
{
    struct unschedulable *entry = find(controller, key);

    if (entry)
        drop(controller, entry);
}

void unschedulable_requeue(struct controller *controller, size_t most)
{
    uint64_t due = loop_now(controller->loop) + MOMENT_MS;

    if (!controller->leading)
        return;
    size_t n = HASH_COUNT(controller->leading->unschedulable);
    for (size_t i = 0; i < n && i < most; i++) {
        struct unschedulable *first = controller->leading->unschedulable;

        workqueue_add_at(controller->leading->queues[REPLICA_QUEUE], first->key, due);
        HASH_DEL(controller->leading->unschedulable, first);
        HASH_ADD_KEYPTR(hh, controller->leading->unschedulable, first->key, strlen(first->key),
                        first);
    }
}

void unschedulable_clear(struct controller *controller)
{
    HASH_FOREACH(controller->leading->unschedulable, entry)
        drop(controller, entry);
}
