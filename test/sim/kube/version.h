/* version.h - an object of the API server as one change left it.
 *
 * Versions are immutable and counted; the newest and those of the remembered past share what did
 * not change between them. The text is made when it is first asked for, and is then the same for
 * every answer, list and watch.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/cleanup.h"

enum change_type { CHANGE_ADDED, CHANGE_MODIFIED, CHANGE_DELETED, CHANGE_TYPE_COUNT };

struct version {
    unsigned references;
    uint64_t revision;
    enum change_type born; /* CHANGE_DELETED: the last state of what is gone */
    json_t *json;
    char *line; /* of a watch; NULL: nobody has asked */
    size_t line_length;
    char key[]; /* "namespace/name" or "name" */
};

enum { LONGEST_KEY = 512 };

/* Takes the reference of `json`, an object without resourceVersion, and writes that into it;
 * nobody else may hold its metadata. */
struct version *version_new(const char *key, uint64_t revision, enum change_type born,
                            json_t *json);
struct version *version_ref(struct version *version);
void version_unref(struct version *version); /* NULL is fine */
DEFINE_CLEANUP(struct version, version_unref)

/* The object's JSON text; it lives as long as the version and does not end in a NUL. */
const char *version_text(struct version *version, size_t *ret_length);
/* The event of the change as a line of a watch; the same lifetime. */
const char *version_line(struct version *version, size_t *ret_length);

/* How the line of an event of a type begins and how each ends. */
extern const char *const change_prefixes[CHANGE_TYPE_COUNT];
#define CHANGE_SUFFIX "}\n"
