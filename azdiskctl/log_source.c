#include "azdiskctl/log_source.h"

#include "lib/base/alloc.h"
#include "lib/base/text.h"

static const json_t *member(const json_t *object, const char *part, const char *name)
{
    return json_object_get(json_object_get(object, part), name);
}

static bool is_daemon(const json_t *pod)
{
    const json_t *owners = member(pod, "metadata", "ownerReferences");
    const json_t *kind = json_object_get(json_array_get(owners, 0), "kind");

    return same_text(json_string_value(kind), "DaemonSet");
}

static void add(json_t *sources, const json_t *pod, const json_t *status, bool previous)
{
    const char *namespace_ = json_string_value(member(pod, "metadata", "namespace"));
    const char *name = json_string_value(member(pod, "metadata", "name"));
    const char *node = json_string_value(member(pod, "spec", "nodeName"));
    const char *container = json_string_value(json_object_get(status, "name"));
    const char *id = json_string_value(json_object_get(status, "containerID"));

    if (namespace_ && name && container)
        json_array_append_new(sources, json_pack("{s:s, s:s, s:s, s:b, s:b, s:s?, s:s?, s:b}",
                                                 "namespace", namespace_, "pod", name, "container",
                                                 container, "previous", previous, "daemon",
                                                 is_daemon(pod), "node", node, "id", id, "running",
                                                 !previous && member(status, "state", "running")));
}

void log_sources_add(json_t *sources, const json_t *pod)
{
    static const char *const lists[] = {"initContainerStatuses", "containerStatuses",
                                        "ephemeralContainerStatuses"};
    const json_t *status;
    size_t j;

    for (size_t i = 0; i < COUNT_OF(lists); i++)
        json_array_foreach(member(pod, "status", lists[i]), j, status) {
            if (!same_text(json_string_value(json_object_get(status, "containerID")), NULL))
                add(sources, pod, status, false);
            if (member(status, "lastState", "terminated"))
                add(sources, pod, status, true);
        }
}

json_t *log_sources_ordered(const json_t *sources)
{
    json_t *ordered = json_array(), *source;
    size_t i;

    for (int daemons = 0; daemons <= 1; daemons++)
        json_array_foreach(sources, i, source) {
            if (json_is_true(json_object_get(source, "daemon")) == daemons)
                json_array_append(ordered, source);
        }
    return ordered;
}
