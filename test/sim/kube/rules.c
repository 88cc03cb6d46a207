#include "test/sim/kube/rules.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/sim/kube/api_errors.h"
#include "test/sim/kube/metadata.h"

/* ---- update ---- */

struct err *rules_check_type(const struct kind *kind, const json_t *body, const char *name)
{
    const struct api_resource *resource = kind->resource;
    const char *said = text_of(body, "apiVersion"), *version = strchr(said, '/');
    size_t group = version ? (size_t)(version - said) : 0;
    bool right = group == strlen(resource->group) && memcmp(said, resource->group, group) == 0 &&
                 strcmp(version ? version + 1 : said, resource->version) == 0;

    if (said[0] && !right)
        return refuse_misfit(kind, name, "has the apiVersion of another API");
    said = text_of(body, "kind");
    if (said[0] && strcmp(said, resource->kind) != 0)
        return refuse_misfit(kind, name, "is of another kind");
    return NULL;
}

json_t *rules_merge(const json_t *old, const json_t *patch)
{
    const char *member;
    json_t *value;

    if (!json_is_object(patch))
        return json_incref((json_t *)(uintptr_t)patch);
    json_t *merged = json_is_object(old) ? json_copy((json_t *)(uintptr_t)old) : json_object();
    json_object_foreach((json_t *)(uintptr_t)patch, member, value) {
        if (json_is_null(value))
            json_object_del(merged, member);
        else
            json_object_set_new(merged, member,
                                rules_merge(json_object_get(merged, member), value));
    }
    return merged;
}

struct err *rules_check_replaced(const struct kind *kind, const json_t *old, const json_t *whole)
{
    const json_t *was = metadata_of(old);
    const char *uid = text_of(metadata_of(whole), "uid");

    return uid[0] && strcmp(uid, text_of(was, "uid")) != 0
               ? refuse_conflict(kind, text_of(was, "name"), "it has another uid")
               : NULL;
}

/* What its author says about the object must be true of the one that is there. */
static struct err *check_identity(const struct kind *kind, const json_t *was, const json_t *is)
{
    const char *name = text_of(was, "name");
    const char *uid = text_of(is, "uid"), *version = text_of(is, "resourceVersion");

    if (text_of(is, "name")[0] && strcmp(text_of(is, "name"), name) != 0)
        return refuse_misfit(kind, name, "has another name in the request's body");
    if (text_of(is, "namespace")[0] &&
        strcmp(text_of(is, "namespace"), text_of(was, "namespace")) != 0)
        return refuse_misfit(kind, name, "has another namespace in the request's body");
    if (uid[0] && strcmp(uid, text_of(was, "uid")) != 0)
        return refuse_invalid(kind, name, "metadata.uid: field is immutable");
    if (kind->needs_version && !version[0])
        return refuse_invalid(kind, name,
                              "metadata.resourceVersion: must be specified for an update");
    if (version[0] && strcmp(version, text_of(was, "resourceVersion")) != 0)
        return refuse_conflict(
            kind, name,
            "the object has been modified; please apply your changes to the latest "
            "version and try again");
    return NULL;
}

static bool has_text(const json_t *array, const char *text)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (strcmp(json_string_value(json_array_get(array, i)), text) == 0)
            return true;
    return false;
}

static struct err *check_finalizers(const struct kind *kind, const json_t *was, const json_t *is)
{
    const json_t *before = json_object_get(was, "finalizers");
    const json_t *after = json_object_get(is, "finalizers");
    const char *name = text_of(was, "name");

    for (size_t i = 0; i < json_array_size(after); i++) {
        const char *finalizer = json_string_value(json_array_get(after, i));

        if (!finalizer)
            return refuse_misfit(kind, name, "has a finalizer that is no text");
        if (json_object_get(was, "deletionTimestamp") && !has_text(before, finalizer))
            return refuse_invalid(
                kind, name,
                "metadata.finalizers: Forbidden: no new finalizers can be added if the "
                "object is being deleted");
    }
    return NULL;
}

/* What only the server writes stays as it was. */
static void keep_system_metadata(const json_t *was, json_t *is)
{
    static const char *const members[] = {
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "resourceVersion",
        "generateName",
    };

    for (size_t i = 0; i < COUNT_OF(members); i++) {
        json_t *value = json_object_get(was, members[i]);

        if (value)
            json_object_set(is, members[i], value);
        else
            json_object_del(is, members[i]);
    }
    metadata_drop_empty(is);
}

static void copy_member(json_t *to, const json_t *from, const char *member)
{
    json_t *value = json_object_get(from, member);

    if (value)
        json_object_set(to, member, value);
    else
        json_object_del(to, member);
}

/* Whether anything but metadata and status differs. */
static bool is_new_generation(const json_t *was, const json_t *is)
{
    const char *member;
    json_t *value;

    if (json_object_size(was) != json_object_size(is))
        return true;
    json_object_foreach((json_t *)(uintptr_t)is, member, value)
        if (strcmp(member, "metadata") != 0 && strcmp(member, "status") != 0 &&
            !json_equal(value, json_object_get(was, member)))
            return true;
    return false;
}

/* Only what the way of writing, the status subresource or the object itself, may change. */
static json_t *confine(const struct kind *kind, const json_t *old, const json_t *wanted,
                       bool status)
{
    json_t *json = metadata_copy_object(status ? old : wanted);

    if (status) {
        copy_member(json, wanted, "status");
        if (kind->status_has_metadata)
            json_object_set_new(json, "metadata", json_copy(metadata_of(wanted)));
        return json;
    }
    if (kind->has_status)
        copy_member(json, old, "status");
    copy_member(json, old, "apiVersion");
    copy_member(json, old, "kind");
    return json;
}

static void raise_generation(json_t *metadata)
{
    json_t *generation = json_object_get(metadata, "generation");

    json_object_set_new(metadata, "generation", json_integer(json_integer_value(generation) + 1));
}

struct err *rules_update(const struct kind *kind, const json_t *old, const json_t *wanted,
                         bool status, json_t **ret)
{
    const json_t *was = metadata_of(old), *said = metadata_of(wanted);
    const char *name = text_of(was, "name");

    if (!json_is_object(wanted) || !json_is_object(said))
        return refuse_misfit(kind, name, "is no object with metadata");
    TRY(rules_check_type(kind, wanted, name));
    TRY(check_identity(kind, was, said));
    TRY(check_finalizers(kind, was, said));

    json_t *json = confine(kind, old, wanted, status);
    json_t *metadata = metadata_of(json);
    keep_system_metadata(was, metadata);
    if (kind->counts_generations && !status && is_new_generation(old, json))
        raise_generation(metadata);
    *ret = json;
    return NULL;
}

bool rules_is_released(const json_t *json)
{
    const json_t *metadata = metadata_of(json);
    const json_t *grace = json_object_get(metadata, "deletionGracePeriodSeconds");

    return json_object_get(metadata, "deletionTimestamp") && json_integer_value(grace) == 0 &&
           json_array_size(json_object_get(metadata, "finalizers")) == 0;
}

/* ---- delete ---- */

/* How long a pod is given, in seconds; 0: it goes at once. */
static json_int_t grace_of(const struct kind *kind, const json_t *old, const json_t *options)
{
    const json_t *spec = json_object_get(old, "spec");
    const char *phase = text_of(json_object_get(old, "status"), "phase");
    const json_t *wanted = json_object_get(options, "gracePeriodSeconds");

    if (!kind->ends_slowly || !text_of(spec, "nodeName")[0] || strcmp(phase, "Succeeded") == 0 ||
        strcmp(phase, "Failed") == 0)
        return 0;
    if (!wanted)
        wanted = json_object_get(spec, "terminationGracePeriodSeconds");
    return wanted ? json_integer_value(wanted) : 30;
}

static struct err *check_preconditions(const struct kind *kind, const json_t *was,
                                       const json_t *options)
{
    const json_t *wanted = json_object_get(options, "preconditions");
    const char *uid = text_of(wanted, "uid"), *version = text_of(wanted, "resourceVersion");
    const char *name = text_of(was, "name");

    if (uid[0] && strcmp(uid, text_of(was, "uid")) != 0)
        return refuse_conflict(kind, name, "it has another uid than the precondition");
    if (version[0] && strcmp(version, text_of(was, "resourceVersion")) != 0)
        return refuse_conflict(kind, name, "it has another resourceVersion than the precondition");
    return NULL;
}

/* The end is at the time in deletionTimestamp; who is marked already keeps the earlier one. */
static void mark(json_t *metadata, int64_t now_us, json_int_t grace)
{
    const json_t *until = json_object_get(metadata, "deletionGracePeriodSeconds");

    if (until && json_integer_value(until) <= grace)
        return;
    if (!until && json_object_get(metadata, "generation"))
        raise_generation(metadata);
    json_object_set_new(metadata, "deletionTimestamp", metadata_time(now_us + grace * 1000 * 1000));
    json_object_set_new(metadata, "deletionGracePeriodSeconds", json_integer(grace));
}

struct err *rules_delete(const struct kind *kind, const json_t *old, const json_t *options,
                         int64_t now_us, json_t **ret)
{
    const json_t *was = metadata_of(old);

    TRY(check_preconditions(kind, was, options));
    json_int_t grace = grace_of(kind, old, options);
    if (grace == 0 && json_array_size(json_object_get(was, "finalizers")) == 0) {
        *ret = NULL;
        return NULL;
    }
    json_t *json = metadata_copy_object(old);
    mark(metadata_of(json), now_us, grace);
    *ret = json;
    return NULL;
}
