#include "controller/replica/unschedulable.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"

enum { MOMENT_MS = 1000 };

struct shortage {
    char *key; /* of the AzVolume */
    char *why;
    UT_hash_handle hh;
};

static struct shortage *find(const struct controller *controller, const char *key)
{
    struct shortage *shortage;

    HASH_FIND_STR(controller->shortages, key, shortage);
    return shortage;
}

static void drop(struct controller *controller, struct shortage *shortage)
{
    HASH_DEL(controller->shortages, shortage);
    free(shortage->key);
    free(shortage->why);
    free(shortage);
}

bool shortage_note(struct controller *controller, const struct kube_object *volume, const char *why)
{
    struct shortage *shortage = find(controller, volume->key);

    if (shortage && strcmp(shortage->why, why) == 0)
        return false;
    if (!shortage) {
        shortage = mem_alloc(sizeof *shortage);
        shortage->key = mem_strdup(volume->key);
        HASH_ADD_KEYPTR(hh, controller->shortages, shortage->key, strlen(shortage->key), shortage);
    }
    free(shortage->why);
    shortage->why = mem_strdup(why);
    return true;
}

void shortage_tell(struct controller *controller, const struct kube_object *volume, const char *why)
{
    if (shortage_note(controller, volume, why) && *why)
        events_record(controller->events, &AZ_VOLUMES, volume->metadata, EVENT_WARNING,
                      "ReplicaNotPlaced", "PlacingReplica",
                      "%s. It is tried again when a node changes or a place becomes free.", why);
}

void shortage_end(struct controller *controller, const char *key)
{
    struct shortage *shortage = find(controller, key);

    if (shortage)
        drop(controller, shortage);
}

void shortage_retry(struct controller *controller, size_t most)
{
    size_t n = HASH_COUNT(controller->shortages);
    uint64_t due = loop_now(controller->loop) + MOMENT_MS;

    if (!controller->replica_queue)
        return;
    for (size_t i = 0; i < n && i < most; i++) {
        struct shortage *first = controller->shortages;

        queue_add_at(controller->replica_queue, first->key, due);
        HASH_DEL(controller->shortages, first);
        HASH_ADD_KEYPTR(hh, controller->shortages, first->key, strlen(first->key), first);
    }
}

void shortage_forget(struct controller *controller)
{
    HASH_FOREACH(controller->shortages, shortage)
        drop(controller, shortage);
}
