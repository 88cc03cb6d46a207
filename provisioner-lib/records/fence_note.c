#include "provisioner-lib/records/fence_note.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "provisioner-lib/records/attachment.h"

#define HELD "held "
#define FROM " from "
#define LOST "lost "
#define GENERATION " generation "

static const char *note_of(const Api__AzVolumeAttachment *attachment)
{
    return attachment_annotation(attachment, ANNOTATION_FENCE);
}

static bool begins(const char *note, const char *word)
{
    return note && strncmp(note, word, strlen(word)) == 0;
}

/* At the beginning of a text, up to its end or a space; 0: there is none. */
static uint64_t parse_key(const char *text)
{
    char *end;

    if (text[0] != '0' || text[1] != 'x' || !isxdigit((unsigned char)text[2]))
        return 0;
    uint64_t key = strtoull(text, &end, 16);
    return (*end == '\0' || *end == ' ') && end - text == strlen("0x0123456789abcdef") ? key : 0;
}

uint64_t fence_note_key(const Api__AzVolumeAttachment *attachment)
{
    const char *note = note_of(attachment);

    return begins(note, HELD) ? parse_key(note + strlen(HELD)) : 0;
}

uint64_t fence_note_last_key(const Api__AzVolumeAttachment *attachment)
{
    return fence_note_is_lost(attachment) ? parse_key(note_of(attachment) + strlen(LOST))
                                          : fence_note_key(attachment);
}

uint64_t fence_note_former(const Api__AzVolumeAttachment *attachment)
{
    const char *from = fence_note_key(attachment) ? strstr(note_of(attachment), FROM) : NULL;

    return from ? parse_key(from + strlen(FROM)) : 0;
}

uint32_t fence_note_generation(const Api__AzVolumeAttachment *attachment)
{
    const char *note = fence_note_last_key(attachment) ? note_of(attachment) : NULL;
    const char *found = note ? strstr(note, GENERATION) : NULL;
    unsigned long number = found ? strtoul(found + strlen(GENERATION), NULL, 10) : 0;

    return number <= UINT32_MAX ? (uint32_t)number : 0;
}

bool fence_note_is_lost(const Api__AzVolumeAttachment *attachment)
{
    return begins(note_of(attachment), LOST);
}

bool fence_note_is_unsupported(const Api__AzVolumeAttachment *attachment)
{
    return same_text(note_of(attachment), FENCE_NOTE_UNSUPPORTED);
}

/* "" for none. */
static char *generation_text(uint32_t generation)
{
    return generation ? mem_printf(GENERATION "%" PRIu32, generation) : mem_strdup("");
}

char *fence_note_held(uint64_t key, uint64_t former, uint32_t generation)
{
    CLEANUP(freep) char *since = generation_text(generation);

    return former ? mem_printf(HELD FENCE_KEY_FORMAT FROM FENCE_KEY_FORMAT "%s", key, former, since)
                  : mem_printf(HELD FENCE_KEY_FORMAT "%s", key, since);
}

char *fence_note_lost(uint64_t key, uint32_t generation)
{
    CLEANUP(freep) char *since = generation_text(generation);

    return mem_printf(LOST FENCE_KEY_FORMAT "%s", key, since);
}

char *fence_note_taken(const Api__AzVolumeAttachment *attachment, uint64_t key, uint64_t former,
                       uint32_t generation)
{
    return fence_note_held(key, former ? former : fence_note_former(attachment), generation);
}

/* ---- requests ---- */

char *preempt_request_text(uint64_t key, uint32_t generation, const char *occasion)
{
    CLEANUP(freep) char *since = generation_text(generation);

    return mem_printf(FENCE_KEY_FORMAT " %s%s", key, occasion, since);
}

uint64_t preempt_request_key(const char *request)
{
    const char *occasion = strchr(request, ' ');

    return occasion && occasion[1] ? parse_key(request) : 0;
}
