#include "test/sim/attacher_sync.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/sim/csi_request.h"
#include "test/sim/world.h"

enum { PERIOD_MS = 60 * 1000, CALL_TIMEOUT_MS = 15 * 1000 };

static bool has_node(const Csi__V1__ListVolumesResponse__VolumeStatus *status, const char *node)
{
    for (size_t i = 0; i < status->n_published_node_ids; i++)
        if (strcmp(status->published_node_ids[i], node) == 0)
            return true;
    return false;
}

bool attacher_sync_lists(const Csi__V1__ListVolumesResponse *response,
                         const struct publication *publication)
{
    const char *handle = publication->volume->handle;

    for (size_t i = 0; handle && i < response->n_entries; i++)
        if (strcmp(response->entries[i]->volume->volume_id, handle) == 0 &&
            has_node(response->entries[i]->status, publication->machine->name))
            return true;
    return false;
}

/* Page by page, each from whichever controller's sidecar leads then. */
static struct err *mark_listed(struct task *self, struct world *world)
{
    CLEANUP(freep) char *token = mem_strdup("");

    do {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        ProtobufCMessage *message = NULL;

        TRY(csi_request_send(self, world, "ListVolumes", csi_request_list(arena, token),
                             CALL_TIMEOUT_MS, &message));
        const Csi__V1__ListVolumesResponse *response = (void *)message;
        LIST_FOREACH(&world->publications, link) {
            PUBLICATION_OF(link)->listed |= attacher_sync_lists(response, PUBLICATION_OF(link));
        }
        free(token);
        token = mem_strdup(response->next_token);
        protobuf_c_message_free_unpacked(message, NULL);
    } while (*token);
    return NULL;
}

static struct err *compare(struct task *self, struct world *world)
{
    LIST_FOREACH(&world->publications, link) {
        struct publication *publication = PUBLICATION_OF(link);

        publication->compared = publication->attached && !publication->deleting;
        publication->listed = false;
    }
    TRY(mark_listed(self, world));
    LIST_FOREACH(&world->publications, link) {
        struct publication *publication = PUBLICATION_OF(link);

        if (!publication->compared || publication->listed)
            continue;
        sim_note(world->sim, "volume %s is not listed as published on %s", publication->volume->pv,
                 publication->machine->name);
        publication->repeat = true;
        waiters_wake(&publication->changed);
    }
    return NULL;
}

void attacher_sync_run(struct task *self, void *arg)
{
    struct world *world = arg;

    for (;;) {
        struct err *err = task_sleep(self, PERIOD_MS);

        if (!err)
            err = compare(self, world);
        bool end = task_is_cancelled(self);
        err_free(err); /* of a list that failed: the next minute */
        if (end)
            return;
    }
}
