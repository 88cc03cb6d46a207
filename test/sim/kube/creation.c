#include <ctype.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/sim/kube/api_errors.h"
#include "test/sim/kube/metadata.h"
#include "test/sim/kube/rules.h"

/* A DNS subdomain (RFC 1123), as names of all our kinds must be. */
static bool is_name(const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < length; i++) {
        bool inner = i > 0 && i + 1 < length && name[i - 1] != '.' && name[i + 1] != '.';

        if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) &&
            !(inner && (name[i] == '-' || name[i] == '.')))
            return false;
    }
    return length > 0 && length <= 253;
}

static struct err *take_name(const struct kind *kind, json_t *metadata, struct random *random)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789"; /* of no bad words */
    enum { GENERATED = 5, LONGEST_STEM = 63 - GENERATED };
    const char *stem = text_of(metadata, "generateName");
    char tail[GENERATED + 1] = "";

    if (!text_of(metadata, "name")[0] && stem[0]) {
        for (size_t i = 0; i < GENERATED; i++)
            tail[i] = letters[random_below(random, sizeof letters - 1)];
        json_object_set_new(metadata, "name", json_sprintf("%.*s%s", LONGEST_STEM, stem, tail));
    }
    const char *name = text_of(metadata, "name");
    if (!name[0])
        return refuse_invalid(kind, name,
                              "metadata.name: Required value: name or generateName is "
                              "required");
    return is_name(name) ? NULL
                         : refuse_invalid(kind, name,
                                          "metadata.name: Invalid value: a lowercase RFC "
                                          "1123 subdomain");
}

static void begin_metadata(const struct kind *kind, const char *namespace_, json_t *metadata,
                           int64_t now_us, struct random *random)
{
    static const char *const never[] = {"resourceVersion", "deletionTimestamp",
                                        "deletionGracePeriodSeconds", "generation", "selfLink"};
    char uid[UUID_SIZE];

    for (size_t i = 0; i < COUNT_OF(never); i++)
        json_object_del(metadata, never[i]);
    random_uuid(random, uid);
    if (kind->resource->namespaced)
        json_object_set_new(metadata, "namespace", json_string(namespace_));
    json_object_set_new(metadata, "uid", json_string(uid));
    json_object_set_new(metadata, "creationTimestamp", metadata_time(now_us));
    if (kind->counts_generations)
        json_object_set_new(metadata, "generation", json_integer(1));
    metadata_drop_empty(metadata);
}

static void begin_status(const struct kind *kind, json_t *json)
{
    if (!kind->has_status || kind->keeps_first_status)
        return;
    if (kind->first_status)
        json_object_set_new(json, "status", json_loads(kind->first_status, 0, NULL));
    else
        json_object_del(json, "status");
}

static void set_type(const struct kind *kind, json_t *json)
{
    const struct api_resource *resource = kind->resource;

    json_object_set_new(
        json, "apiVersion",
        json_sprintf("%s%s%s", resource->group, resource->group[0] ? "/" : "", resource->version));
    json_object_set_new(json, "kind", json_string(resource->kind));
}

struct err *rules_create(const struct kind *kind, const char *namespace_, const json_t *body,
                         int64_t now_us, struct random *random, json_t **ret)
{
    const json_t *said = metadata_of(body);
    const char *name = text_of(said, "name"), *elsewhere = text_of(said, "namespace");

    if (!json_is_object(body) || (said && !json_is_object(said)))
        return refuse_misfit(kind, "", "is no object");
    TRY(rules_check_type(kind, body, name));
    if (kind->resource->namespaced && elsewhere[0] && strcmp(elsewhere, namespace_) != 0)
        return refuse_misfit(kind, name, "has another namespace than the request");
    if (text_of(said, "resourceVersion")[0])
        return refuse_object(ERR_INVALID, "", kind, name,
                             "is to be created and has a resourceVersion");

    CLEANUP(json_decrefp) json_t *json = metadata_copy_object(body);
    TRY(take_name(kind, metadata_of(json), random));
    begin_metadata(kind, namespace_, metadata_of(json), now_us, random);
    begin_status(kind, json);
    set_type(kind, json);
    *ret = TAKE_PTR(json);
    return NULL;
}
