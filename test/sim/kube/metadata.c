#include "test/sim/kube/metadata.h"

#include <stdio.h>

#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"

void metadata_key(const struct kind *kind, const char *namespace_, const char *name,
                  char key[LONGEST_KEY])
{
    if (kind->resource->namespaced)
        snprintf(key, LONGEST_KEY, "%s/%s", namespace_ ? namespace_ : "", name);
    else
        snprintf(key, LONGEST_KEY, "%s", name);
}

json_t *metadata_copy_object(const json_t *json)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)json);
    json_t *metadata = json_copy(metadata_of(json));

    json_object_set_new(copy, "metadata", metadata ? metadata : json_object());
    return copy;
}

void metadata_drop_empty(json_t *metadata)
{
    static const char *const members[] = {"labels", "annotations", "finalizers", "ownerReferences"};

    for (size_t i = 0; i < COUNT_OF(members); i++) {
        const json_t *value = json_object_get(metadata, members[i]);

        if (value && json_array_size(value) + json_object_size(value) == 0)
            json_object_del(metadata, members[i]);
    }
}

json_t *metadata_time(int64_t us)
{
    char text[TIMESTAMP_SIZE];

    timestamp_format(us, text);
    return json_string(text);
}
