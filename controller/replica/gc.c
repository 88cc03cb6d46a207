#include "controller/replica/gc.h"

#include <stdlib.h>
#include <string.h>

#include "controller/attachment/snapshot.h"
#include "controller/cache/disk_pv.h"
#include "controller/cache/published.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/names.h"
#include "provisioner-lib/records/status_annotation.h"

struct replica_gc_plan replica_gc_decide(const struct replica_gc_snapshot *in)
{
    int64_t at = in->deadline_us ? in->deadline_us : in->now_us + (int64_t)in->delay_ms * 1000;

    if (in->published || in->in_use || !in->attached)
        return (struct replica_gc_plan){in->deadline_us ? REPLICA_GC_CANCEL : REPLICA_GC_NONE, 0};
    if (in->released)
        return (struct replica_gc_plan){REPLICA_GC_DUE, in->now_us};
    if (!in->deadline_us)
        return (struct replica_gc_plan){REPLICA_GC_SET, at};
    return (struct replica_gc_plan){in->now_us < at ? REPLICA_GC_WAIT : REPLICA_GC_DUE, at};
}

/* ---- gather ---- */

static int64_t deadline_of(const struct kube_object *volume)
{
    return timestamp_noted(volume_annotation(as_volume(volume), ANNOTATION_COLLECT_AFTER));
}

/* Its claim is gone, and nobody is about to unpublish it either, who may need its attachments. */
static bool is_released(const struct controller *controller, const char *volume_name)
{
    const struct kube_object *pv = kubernetes_pv(controller, volume_name);
    size_t n;

    free(volume_attachments_of(controller, volume_name, &n));
    return n == 0 && pv && pv_is_released(pv);
}

static struct replica_gc_snapshot gather(const struct controller *controller,
                                         const struct kube_object *volume)
{
    size_t n;
    struct kube_object *const *objects =
        attachments_of_volume(controller, volume->metadata->name, &n);
    struct replica_gc_snapshot in = {
        .in_use = kubernetes_has_in_use(controller, volume->metadata->name),
        .attached = n > 0,
        .released = is_released(controller, volume->metadata->name),
        .deadline_us = deadline_of(volume),
        .now_us = loop_wall_us(controller->loop),
        .delay_ms = controller->settings.replica_gc_delay_ms,
    };

    for (size_t i = 0; i < n; i++)
        in.published |= attachment_wants(as_attachment(objects[i]), ROLE_PRIMARY) &&
                        !kube_is_deleting(objects[i]->metadata);
    return in;
}

/* ---- carry out ---- */

/* `time` NULL takes the note away. */
static struct err *write_deadline(struct task *self, struct controller *controller,
                                  const struct kube_object *volume, const char *time)
{
    json_t *changes = status_annotation_json(ANNOTATION_COLLECT_AFTER, time);

    return cached_patch_status(self, controller->leader_kube, controller->volumes, volume,
                               if_unchanged(volume, changes), NULL);
}

static struct kube_object *find_collectable(const struct controller *controller, const char *volume)
{
    size_t n;
    struct kube_object *const *objects = attachments_of_volume(controller, volume, &n);

    for (size_t i = 0; i < n; i++) {
        enum attachment_phase phase = attachment_phase_of(controller, objects[i]);

        if (attachment_transition(ON_COLLECTION_DUE, phase)->answer == ANSWER_RELEASE)
            return objects[i];
    }
    return NULL;
}

/* One at a time, each as it is then: a publish may come in between. */
static struct err *collect(struct task *self, struct controller *controller, const char *volume)
{
    struct kube_object *found;

    while ((found = find_collectable(controller, volume)))
        TRY(cached_delete(self, controller->leader_kube, controller->attachments, found));
    return NULL;
}

struct err *replica_gc_run(struct task *self, struct controller *controller,
                           const struct kube_object *volume, bool *ret_published)
{
    struct replica_gc_snapshot in = gather(controller, volume);
    struct replica_gc_plan plan = replica_gc_decide(&in);
    char text[TIMESTAMP_SIZE];

    *ret_published = in.published;
    switch (plan.step) {
    case REPLICA_GC_NONE:
        return NULL;
    case REPLICA_GC_SET:
        timestamp_format_micro(plan.at_us, text);
        return write_deadline(self, controller, volume, text);
    case REPLICA_GC_CANCEL:
        return write_deadline(self, controller, volume, NULL);
    case REPLICA_GC_WAIT:
        workqueue_add_at(controller->leading->queues[REPLICA_QUEUE], volume->key,
                         loop_now(controller->loop) + (uint64_t)(plan.at_us - in.now_us) / 1000 +
                             1);
        return NULL;
    case REPLICA_GC_DUE:
        return collect(self, controller, volume->metadata->name);
    }
    abort();
}
