#include "azdiskctl/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "azdiskctl/event.h"
#include "azdiskctl/failover_phases.h"
#include "azdiskctl/text_table.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/kube/pod.h"
#include "lib/kube/pod_claim.h"

struct moment {
    int64_t us;
    size_t order; /* in which it was found, for equal times */
    char *object, *reason, *text;
};

struct story {
    const struct cluster *cluster;
    struct moment *moments;
    size_t n;
};

static void story_fini(struct story *story)
{
    for (size_t i = 0; i < story->n; i++) {
        free(story->moments[i].object);
        free(story->moments[i].reason);
        free(story->moments[i].text);
    }
    free(story->moments);
}

/* Takes the text. */
static void tell(struct story *story, int64_t us, const char *kind,
                 const struct kube_object *object, const char *reason, char *text)
{
    struct moment moment = {.us = us,
                            .order = story->n,
                            .object = mem_printf("%s/%s", kind, object->metadata->name),
                            .reason = mem_strdup(reason),
                            .text = text};

    ARRAY_ADD(story->moments, story->n) = moment;
}

static char *event_text(const struct kube_object *object)
{
    const char *note = KUBE_AS(Api__Event, object)->note;
    int count = event_count(object);

    if (!note)
        note = "";
    return count > 1 ? mem_printf("%s (%d times)", note, count) : mem_strdup(note);
}

/* Its beginning, its end and what Events say of it. */
static void tell_object(struct story *story, const struct api_resource *resource,
                        const struct kube_object *object)
{
    const Api__ObjectMeta *metadata = object->metadata;
    const struct object_list *events = &story->cluster->events;

    tell(story, time_of_text(metadata->creation_timestamp), resource->kind, object, "Created",
         mem_strdup("object created"));
    if (metadata->deletion_timestamp)
        tell(story, time_of_text(metadata->deletion_timestamp), resource->kind, object, "Deleted",
             mem_strdup("deletion requested"));
    for (size_t i = 0; i < events->n; i++) {
        const Api__Event *event = KUBE_AS(Api__Event, events->items[i]);

        if (event_is_about(events->items[i], resource->kind, object))
            tell(story, event_time_us(events->items[i]), resource->kind, object,
                 event->reason ? event->reason : "?", event_text(events->items[i]));
    }
}

/* When the replicas of a volume that nobody uses are to go. */
static void tell_collection(struct story *story, const struct kube_object *volume)
{
    const Api__AzVolumeStatus *status = KUBE_AS(Api__AzVolume, volume)->status;
    const char *when =
        status ? KUBE_MAP_GET(status->annotation, status->n_annotation, ANNOTATION_COLLECT_AFTER)
               : NULL;
    int64_t us = time_of_text(when);

    if (us)
        tell(story, us, AZ_VOLUMES.kind, volume, "Collection",
             mem_strdup("replicas will be detached unless the volume is published before"));
}

/* Nothing says since when, so it is told as of the moment of reading. */
static void tell_present(struct story *story, const struct kube_object *attachment)
{
    const Api__AzVolumeAttachmentStatus *status =
        KUBE_AS(Api__AzVolumeAttachment, attachment)->status;
    const Api__AzError *error = status ? status->error : NULL;
    const char *role = attachment_role(attachment);
    const char *stage = attachment_stage(attachment);
    const char *unready = attachment_unready_reason(as_attachment(attachment));
    char *text = error && error->message ? mem_printf("%s, %s: %s", role, stage, error->message)
                 : unready               ? mem_printf("%s, %s, not ready: %s", role, stage, unready)
                                         : mem_printf("%s, %s", role, stage);

    tell(story, story->cluster->now_us, AZ_VOLUME_ATTACHMENTS.kind, attachment, "Now", text);
}

static void tell_volume(struct story *story, const struct kube_object *volume)
{
    const struct object_list *attachments = &story->cluster->view.attachments;

    tell_object(story, &AZ_VOLUMES, volume);
    tell_collection(story, volume);
    for (size_t i = 0; i < attachments->n; i++) {
        const char *name = attachment_volume(attachments->items[i]);

        if (!name || strcmp(name, volume->metadata->name) != 0)
            continue;
        tell_object(story, &AZ_VOLUME_ATTACHMENTS, attachments->items[i]);
        tell_present(story, attachments->items[i]);
    }
}

static void tell_persistent_volume(struct story *story, const struct kube_object *object)
{
    const struct cluster *cluster = story->cluster;
    const struct object_list *volume_attachments = &cluster->view.volume_attachments;
    CLEANUP(freep) char *claim = claim_of_disk(cluster, persistent_volume_handle(object));
    const struct kube_object *claim_object = find_object(&cluster->claims, claim);

    tell_object(story, &PERSISTENT_VOLUMES, object);
    if (claim_object)
        tell_object(story, &PERSISTENT_VOLUME_CLAIMS, claim_object);
    for (size_t i = 0; i < volume_attachments->n; i++) {
        const char *source = volume_attachment_source(volume_attachments->items[i]);

        if (source && strcmp(source, object->metadata->name) == 0)
            tell_object(story, &VOLUME_ATTACHMENTS, volume_attachments->items[i]);
    }
}

/* ---- the pod, and how it came to where it is ---- */

static bool uses(const Api__Pod *pod, const struct kube_object *claim)
{
    for (size_t i = 0; pod->spec && i < pod->spec->n_volumes; i++) {
        CLEANUP(freep) char *key = pod_claim_key(pod, pod->spec->volumes[i]);

        if (key && strcmp(key, claim->key) == 0)
            return true;
    }
    return false;
}

/* The first that uses the claim and is not done; of one that several pods use, each is as good. */
static const struct kube_object *pod_of(const struct cluster *cluster,
                                        const struct kube_object *claim)
{
    for (size_t i = 0; claim && i < cluster->pods.n; i++) {
        const Api__Pod *pod = KUBE_AS(Api__Pod, cluster->pods.items[i]);

        if (pod_is_live(pod) && !kube_is_deleting(pod->metadata) && uses(pod, claim))
            return cluster->pods.items[i];
    }
    return NULL;
}

static void tell_failovers(struct story *story, const struct kube_object *volume,
                           const struct kube_object *pod)
{
    CLEANUP(failover_gaps_fini)
    struct failover_gaps gaps = failover_gaps_of(story->cluster, volume, pod);

    for (size_t i = 0; i < gaps.n; i++)
        tell(story, gaps.items[i].end_us, AZ_VOLUMES.kind, volume, "Failover",
             mem_strdup(gaps.items[i].text));
}

/* ---- the document ---- */

static int compare(const void *a, const void *b)
{
    const struct moment *one = a, *other = b;

    if (one->us != other->us)
        return one->us < other->us ? -1 : 1;
    return one->order < other->order ? -1 : 1;
}

const struct kube_object *timeline_claim(const struct cluster *cluster, const char *name)
{
    const struct kube_object *volume, *pv;

    find_volume(cluster, name, &volume, &pv);
    CLEANUP(freep) char *claim = pv ? claim_of_disk(cluster, persistent_volume_handle(pv)) : NULL;
    return find_object(&cluster->claims, claim);
}

struct err *timeline_json(const struct cluster *cluster, const char *name, json_t **ret)
{
    CLEANUP(story_fini) struct story story = {.cluster = cluster};
    const struct kube_object *volume, *pv;

    find_volume(cluster, name, &volume, &pv);
    if (!volume && !pv)
        return err_new(ERR_NOT_FOUND, "neither a PersistentVolume nor an AzVolume \"%s\" exists",
                       name);
    const struct kube_object *pod = pod_of(cluster, timeline_claim(cluster, name));
    if (pv)
        tell_persistent_volume(&story, pv);
    if (volume)
        tell_volume(&story, volume);
    if (pod)
        tell_object(&story, &PODS, pod);
    if (volume)
        tell_failovers(&story, volume, pod);
    qsort(story.moments, story.n, sizeof *story.moments, compare);

    *ret = json_array();
    for (size_t i = 0; i < story.n; i++) {
        const struct moment *moment = &story.moments[i];
        char time[TIMESTAMP_SIZE];

        timestamp_format(moment->us, time);
        json_array_append_new(*ret, json_pack("{s:s, s:s, s:s, s:s}", "time", time, "object",
                                              moment->object, "reason", moment->reason, "text",
                                              moment->text));
    }
    return NULL;
}

void timeline_text(const json_t *timeline, struct buffer *out)
{
    static const char *const members[] = {"time", "object", "reason", "text"};
    struct text_table table = {.columns = COUNT_OF(members)};

    for (size_t i = 0; i < json_array_size(timeline); i++)
        text_table_add_members(&table, json_array_get(timeline, i), members);
    text_table_write(&table, "", out);
}
