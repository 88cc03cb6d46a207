#include "controller/progress.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

enum { LOOK_MS = 15 * 1000 };

char *progress_group(const char *id)
{
    const char *name = strrchr(id, '/');
    CLEANUP(freep) char *group = mem_strndup(id, name ? (size_t)(name - id) : strlen(id));

    return mem_lower(group);
}

static void look_later(const struct progress *progress, const char *group)
{
    const struct controller *controller = progress->controller;

    workqueue_add_at(controller->leading->queues[progress->queue], group,
                     loop_now(controller->loop) + LOOK_MS);
}

void progress_enqueue(const struct progress *progress, const struct kube_object *object)
{
    const char *id = progress->incomplete_id(object);

    if (!progress->controller->leading || !id)
        return;
    CLEANUP(freep) char *group = progress_group(id);
    look_later(progress, group);
}

static bool is_in_group(const struct progress *progress, const struct kube_object *object,
                        const char *group)
{
    const char *id = progress->incomplete_id(object);
    CLEANUP(freep) char *own = id ? progress_group(id) : NULL;

    return own && strcmp(own, group) == 0;
}

/* The first after the object with this key. */
static struct kube_object *next(const struct progress *progress, const char *group, const char *key)
{
    struct kube_object *object = store_after(progress->store, key);

    while (object && !is_in_group(progress, object, group))
        object = store_after(progress->store, object->key);
    return object;
}

char *progress_any(const struct progress *progress, const char *group)
{
    const struct kube_object *object = next(progress, group, "");

    return object ? mem_strdup(progress->incomplete_id(object)) : NULL;
}

struct err *progress_record(struct task *self, const struct progress *progress, const char *group,
                            const void *list)
{
    CLEANUP(freep) char *key = mem_strdup("");
    struct kube_object *object;

    while ((object = next(progress, group, key))) {
        CLEANUP(kube_object_unrefp) struct kube_object *held = kube_object_ref(object);

        free(key);
        key = mem_strdup(object->key);
        TRY(err_unless(progress->record(self, progress->controller, held, list), ERR_NOT_FOUND));
    }
    if (next(progress, group, ""))
        look_later(progress, group);
    return NULL;
}
