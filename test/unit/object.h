/* object.h - custom resources from a line of JSON, for unit tests.
 */
#pragma once

#include <jansson.h>

#include "lib/base/alloc.h"
#include "lib/kube/object.h"
#include "test/unit/expect.h"

/* Single quotes stand for double ones. */
static inline json_t *json_of(const char *text)
{
    CLEANUP(freep) char *copy = mem_strdup(text);

    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';

    json_t *json = json_loads(copy, 0, NULL);
    if (!json)
        fail_msg("not JSON: %s", copy);
    return json;
}

static inline struct kube_object *object_of(const ProtobufCMessageDescriptor *type,
                                            const char *text)
{
    struct kube_object *object = NULL;
    json_t *json = json_of(text);

    assert_ok(kube_object_decode(type, json, &object));
    json_decref(json);
    return object;
}

/* The same of a text that is freed. */
static inline struct kube_object *object_taken(const ProtobufCMessageDescriptor *type, char *text)
{
    CLEANUP(freep) char *taken = text;

    return object_of(type, taken);
}
