#include "azdiskctl/describe.h"

#include <stdlib.h>
#include <string.h>

#include "azdiskctl/document.h"
#include "azdiskctl/event.h"
#include "azdiskctl/facts.h"
#include "lib/base/alloc.h"
#include "lib/json/codec.h"

enum { US_IN_S = 1000000 };

/* ---- what it belongs to, and what belongs to it ---- */

static void add_facts(json_t *item, const struct overview *overview, enum kind_id kind,
                      const struct kube_object *object)
{
    const char *member = kind_of(kind)->words[0];

    if (!json_object_get(item, member))
        json_object_set_new(item, member, json_array());
    json_array_append_new(json_object_get(item, member), facts_json(overview, kind, object));
}

static void add_attachments(json_t *item, const struct overview *overview,
                            const struct object_list *attachments)
{
    for (size_t i = 0; i < attachments->n; i++)
        add_facts(item, overview, KIND_ATTACHMENTS, attachments->items[i]);
}

static void add_node(json_t *item, const struct overview *overview, const char *name)
{
    const struct kube_object *plugin =
        find_by(&overview->cluster->view.driver_nodes, key_name, name);

    if (plugin)
        add_facts(item, overview, KIND_NODES, plugin);
}

static void relate_volume(json_t *item, const struct overview *overview,
                          const struct kube_object *volume)
{
    struct object_list found = object_index_find(&overview->by_volume, volume->metadata->name);

    add_attachments(item, overview, &found);
    for (size_t i = 0; i < found.n; i++)
        add_node(item, overview, attachment_node(found.items[i]));
}

static void relate_attachment(json_t *item, const struct overview *overview,
                              const struct kube_object *attachment)
{
    const struct kube_object *volume =
        find_by(&overview->cluster->view.volumes, key_name, attachment_volume(attachment));

    if (volume)
        add_facts(item, overview, KIND_VOLUMES, volume);
    add_node(item, overview, attachment_node(attachment));
}

static void relate_node(json_t *item, const struct overview *overview,
                        const struct kube_object *plugin)
{
    struct object_list found = object_index_find(&overview->by_node, plugin->metadata->name);

    add_attachments(item, overview, &found);
}

/* ---- Events ---- */

static int by_time(const void *a, const void *b)
{
    int64_t one = event_time_us(*(const struct kube_object *const *)a);
    int64_t other = event_time_us(*(const struct kube_object *const *)b);

    return one < other ? -1 : one > other;
}

static json_t *event_json(const struct cluster *cluster, const struct kube_object *object)
{
    const Api__Event *event = KUBE_AS(Api__Event, object);
    const char *first =
        event->event_time ? event->event_time : object->metadata->creation_timestamp;
    int64_t last_us = event_time_us(object), first_us = time_of_text(first);
    int count = event_count(object);
    json_t *json =
        json_pack("{s:s*, s:s*, s:s*, s:s*, s:i}", "type", event->type, "reason", event->reason,
                  "from", event->reporting_controller, "message", event->note, "count", count);

    if (last_us)
        json_object_set_new(json, "ageSeconds",
                            json_integer((cluster->now_us - last_us) / US_IN_S));
    if (first_us && count > 1)
        json_object_set_new(json, "firstSeconds",
                            json_integer((cluster->now_us - first_us) / US_IN_S));
    return json;
}

static json_t *events_json(const struct cluster *cluster, const char *kind,
                           const struct kube_object *object)
{
    CLEANUP(freep) struct kube_object **events = NULL;
    json_t *list = json_array();
    size_t n = 0;

    for (size_t i = 0; i < cluster->events.n; i++)
        if (event_is_about(cluster->events.items[i], kind, object))
            ARRAY_ADD(events, n) = cluster->events.items[i];
    if (n)
        qsort(events, n, sizeof *events, by_time);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, event_json(cluster, events[i]));
    return list;
}

/* ---- the document ---- */

static void add_conditions(json_t *item)
{
    const json_t *status = json_object_get(item, "status");
    json_t *all = json_array();

    json_array_extend(all, json_object_get(status, "conditions"));
    json_array_extend(all, json_object_get(json_object_get(status, "slots"), "conditions"));
    if (json_array_size(all))
        json_object_set(item, "conditions", all);
    json_decref(all);
}

static json_t *item_json(const struct overview *overview, const struct kind *kind,
                         const struct kube_object *object)
{
    static void (*const relate[KINDS])(json_t *, const struct overview *,
                                       const struct kube_object *) = {
        [KIND_VOLUMES] = relate_volume,
        [KIND_ATTACHMENTS] = relate_attachment,
        [KIND_REPLICAS] = relate_attachment,
        [KIND_NODES] = relate_node,
    };
    const struct api_resource *resource = kind->resource;
    CLEANUP(freep) char *version = mem_printf("%s/%s", resource->group, resource->version);
    json_t *item = json_encode(object->message);

    json_object_set_new(item, "apiVersion", json_string(version));
    json_object_set_new(item, "kind", json_string(resource->kind));
    json_object_set_new(item, "facts", facts_json(overview, kind_id(kind), object));
    add_conditions(item);
    relate[kind_id(kind)](item, overview, object);
    json_object_set_new(item, "events", events_json(overview->cluster, resource->kind, object));
    return item;
}

json_t *describe_json(const struct cluster *cluster, const struct selection *selection)
{
    return selection_json(selection, cluster, item_json);
}
