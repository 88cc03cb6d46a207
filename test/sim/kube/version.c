#include "test/sim/kube/version.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "test/sim/kube/parsed.h"

const char *const change_prefixes[CHANGE_TYPE_COUNT] = {
    [CHANGE_ADDED] = "{\"type\":\"ADDED\",\"object\":",
    [CHANGE_MODIFIED] = "{\"type\":\"MODIFIED\",\"object\":",
    [CHANGE_DELETED] = "{\"type\":\"DELETED\",\"object\":",
};

struct version *version_new(const char *key, uint64_t revision, enum change_type born, json_t *json)
{
    size_t size = strlen(key) + 1;
    struct version *version = mem_alloc(sizeof *version + size);
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, revision);
    json_object_set_new(json_object_get(json, "metadata"), "resourceVersion", json_string(text));
    *version = (struct version){
        .references = 1,
        .revision = revision,
        .born = born,
        .json = json,
    };
    memcpy(version->key, key, size);
    return version;
}

struct version *version_ref(struct version *version)
{
    version->references++;
    return version;
}

void version_unref(struct version *version)
{
    if (!version || --version->references > 0)
        return;
    json_decref(version->json);
    free(version->line);
    free(version);
}

/* What readers of the line and of the object will find in them. */
static void remember_parsed(const struct version *version)
{
    static const char *const names[CHANGE_TYPE_COUNT] = {"ADDED", "MODIFIED", "DELETED"};
    size_t prefix = strlen(change_prefixes[version->born]), suffix = strlen(CHANGE_SUFFIX);

    parsed_remember(version->line, version->line_length - 1,
                    json_pack("{s:s, s:O}", "type", names[version->born], "object", version->json));
    parsed_remember(version->line + prefix, version->line_length - prefix - suffix,
                    json_incref(version->json));
}

static void write_line(struct version *version)
{
    CLEANUP(freep) char *text = json_to_text(version->json);
    const char *begin = change_prefixes[version->born];
    size_t prefix = strlen(begin), length = strlen(text), suffix = strlen(CHANGE_SUFFIX);

    version->line_length = prefix + length + suffix;
    version->line = mem_grow(NULL, version->line_length);
    memcpy(version->line, begin, prefix);
    memcpy(version->line + prefix, text, length);
    memcpy(version->line + prefix + length, CHANGE_SUFFIX, suffix);
}

const char *version_line(struct version *version, size_t *ret_length)
{
    if (!version->line) {
        write_line(version);
        remember_parsed(version);
    }
    *ret_length = version->line_length;
    return version->line;
}

const char *version_text(struct version *version, size_t *ret_length)
{
    size_t prefix = strlen(change_prefixes[version->born]);
    const char *line = version_line(version, ret_length);

    *ret_length -= prefix + strlen(CHANGE_SUFFIX);
    return line + prefix;
}
