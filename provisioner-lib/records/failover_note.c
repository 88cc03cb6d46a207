#include "provisioner-lib/records/failover_note.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/timestamp.h"

char *failover_note_text(const char *node, const struct failover_times *times)
{
    char silent[TIMESTAMP_SIZE], asked[TIMESTAMP_SIZE], fenced[TIMESTAMP_SIZE];

    timestamp_format_micro(times->silent_us, silent);
    timestamp_format_micro(times->asked_us, asked);
    timestamp_format_micro(times->fenced_us, fenced);
    return mem_printf(
        "Nothing has been heard of node %s since %s . Its disks were being fenced from "
        "%s on, and all refused its writes at %s ; then it was given up, and "
        "Kubernetes moves its pods",
        node, silent, asked, fenced);
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

static int64_t time_after(const char *note, const char *phrase)
{
    CLEANUP(freep) char *word = word_after(note, phrase);

    return timestamp_noted(word);
}

bool failover_note_parse(const char *note, char **ret_node, struct failover_times *ret)
{
    const struct failover_times times = {.silent_us = time_after(note, " since "),
                                         .asked_us = time_after(note, " being fenced from "),
                                         .fenced_us = time_after(note, " its writes at ")};
    char *node = word_after(note, "heard of node ");

    if (!node || !times.silent_us || !times.asked_us || !times.fenced_us) {
        free(node);
        return false;
    }
    *ret_node = node;
    *ret = times;
    return true;
}
