#include "provisioner-lib/records/failover_note.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/timestamp.h"

#define SILENT_NODE "Nothing has been heard of node "
#define SILENT_SINCE " since "
#define DELETED_NODE "The Node of node "
#define DELETED_AT " was deleted at "
#define ASKED_FROM " asked from "
#define PROVEN_AT " proven at "

char *failover_note_text(const char *node, const struct failover_times *times)
{
    char lost[TIMESTAMP_SIZE], asked[TIMESTAMP_SIZE], proven[TIMESTAMP_SIZE];

    timestamp_format_micro(times->lost_us, lost);
    timestamp_format_micro(times->asked_us, asked);
    timestamp_format_micro(times->proven_us, proven);
    return mem_printf("%s%s%s%s . Whether it still writes was" ASKED_FROM
                      "%s on, and that it does not was" PROVEN_AT
                      "%s ; then it was given up, and Kubernetes moves its pods",
                      times->deleted ? DELETED_NODE : SILENT_NODE, node,
                      times->deleted ? DELETED_AT : SILENT_SINCE, lost, asked, proven);
}

/* The word after a phrase; NULL if there is none. free() it. */
static char *word_after(const char *note, const char *phrase)
{
    const char *found = strstr(note, phrase);

    if (!found)
        return NULL;
    found += strlen(phrase);
    size_t length = strcspn(found, " ");
    return length ? mem_strndup(found, length) : NULL;
}

/* 0 if there is none. One before 1970 is none: nothing fails over then, and it is not written. */
static int64_t time_after(const char *note, const char *phrase)
{
    CLEANUP(freep) char *word = word_after(note, phrase);
    int64_t us = timestamp_noted(word);

    return us > 0 ? us : 0;
}

bool failover_note_parse(const char *note, char **ret_node, struct failover_times *ret)
{
    bool deleted = strncmp(note, DELETED_NODE, strlen(DELETED_NODE)) == 0;
    const struct failover_times times = {
        .deleted = deleted,
        .lost_us = time_after(note, deleted ? DELETED_AT : SILENT_SINCE),
        .asked_us = time_after(note, ASKED_FROM),
        .proven_us = time_after(note, PROVEN_AT),
    };
    char *node = word_after(note, deleted ? DELETED_NODE : SILENT_NODE);

    if (!node || !times.lost_us || !times.asked_us || !times.proven_us) {
        free(node);
        return false;
    }
    *ret_node = node;
    *ret = times;
    return true;
}
