/* watched.h - an API server with one kind of object, which a test lists, changes and sees patched.
 * Virtual time.
 */
#pragma once

#include "lib/http/transport.h"
#include "lib/kube/client.h"
#include "lib/rt/group.h"

struct watched {
    struct loop *loop;
    struct kube *kube;
    struct task_group group;

    const char *items;  /* of the list, in single quotes */
    int patch_status;   /* that patches are answered with; 200 at first */
    char patches[4096]; /* "50 /path body" of each, a line, with its tenths of a second */
    unsigned n_patches;
    unsigned under_way, most_under_way; /* patches, each of which takes PATCH_MS */

    /* Private. */
    struct http_transport transport;
    struct http_stream stream;
    struct waiters said;
    char *event, *read;
};

enum { PATCH_MS = 10 };

void watched_init(struct watched *watched, const char *items);
/* Tells those who watch, "ADDED" for instance, in single quotes. */
void watched_say(struct watched *watched, const char *type, const char *object);
/* Closes the group, and frees all. */
void watched_fini(struct watched *watched);
