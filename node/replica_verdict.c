#include "node/replica_verdict.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/base/utf8.h"

#define READY "true"
#define NOT_READY "false"

enum { LONGEST_FAULT = 200 }; /* people read it in a line */

/* ---- what is wrong ---- */

static bool has_right_size(const struct replica_sight *sight)
{
    return sight->seen.size == sight->size || (sight->grown && sight->seen.size == sight->grown);
}

char *replica_fault(const struct replica_sight *sight)
{
    if (sight->hangs)
        return mem_printf("the disk at LUN %u does not answer", sight->lun);
    if (!sight->seen.device || (sight->err && !sight->seen.size))
        return mem_strdup(sight->err ? err_message(sight->err) : "no disk was found");
    if (!has_right_size(sight))
        return mem_printf("the disk at LUN %u has %" PRIu64 " bytes instead of %" PRIu64,
                          sight->lun, sight->seen.size, sight->size);
    if (sight->err)
        return mem_strdup(err_message(sight->err));
    if (sight->held == sight->seen.device)
        return NULL;
    return sight->in_use
               ? mem_printf("somebody else on the node has claimed the disk at LUN %u", sight->lun)
               : mem_printf("the disk at LUN %u is not held by the plug-in", sight->lun);
}

/* ---- the note ---- */

/* The note's first word is this one. */
static bool says(const char *note, const char *word)
{
    size_t length = strlen(word);

    return note && strncmp(note, word, length) == 0 && (note[length] == ' ' || !note[length]);
}

/* Since when it says so, if it says the same. */
static char *time_of(const char *known, const char *word, int64_t now_us)
{
    char now[TIMESTAMP_SIZE];

    timestamp_format(now_us, now);
    if (!says(known, word))
        return mem_strdup(now);
    const char *time = known + strlen(word);
    time += strspn(time, " ");
    CLEANUP(freep) char *noted = mem_strndup(time, strcspn(time, " "));
    return timestamp_noted(noted) ? TAKE_PTR(noted) : mem_strdup(now);
}

char *replica_note(const char *known, const char *fault, int64_t now_us)
{
    const char *word = fault ? NOT_READY : READY;
    CLEANUP(freep) char *time = time_of(known, word, now_us);
    CLEANUP(freep)
    char *text = fault ? mem_printf("%s %s %.*s", word, time, LONGEST_FAULT, fault)
                       : mem_printf("%s %s", word, time);

    utf8_repair(text);
    return known && strcmp(known, text) == 0 ? NULL : TAKE_PTR(text);
}
