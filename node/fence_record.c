#include "node/fence_record.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/attachment.h"

#define HELD "held "
#define FROM " from "
#define LOST "lost "

static const char *note_of(const Api__AzVolumeAttachment *attachment)
{
    return attachment_annotation(attachment, ANNOTATION_FENCE);
}

static bool begins(const char *note, const char *word)
{
    return note && strncmp(note, word, strlen(word)) == 0;
}

uint64_t fence_key_parse(const char *text)
{
    char *end;

    if (text[0] != '0' || text[1] != 'x' || !isxdigit((unsigned char)text[2]))
        return 0;
    uint64_t key = strtoull(text, &end, 16);
    return (*end == '\0' || *end == ' ') && end - text == strlen("0x0123456789abcdef") ? key : 0;
}

uint64_t fence_record_key(const Api__AzVolumeAttachment *attachment)
{
    const char *note = note_of(attachment);

    return begins(note, HELD) ? fence_key_parse(note + strlen(HELD)) : 0;
}

uint64_t fence_record_former(const Api__AzVolumeAttachment *attachment)
{
    const char *from = fence_record_key(attachment) ? strstr(note_of(attachment), FROM) : NULL;

    return from ? fence_key_parse(from + strlen(FROM)) : 0;
}

bool fence_record_is_lost(const Api__AzVolumeAttachment *attachment)
{
    return begins(note_of(attachment), LOST);
}

char *fence_note_held(uint64_t key, uint64_t former)
{
    return former ? mem_printf(HELD FENCE_KEY_FORMAT FROM FENCE_KEY_FORMAT, key, former)
                  : mem_printf(HELD FENCE_KEY_FORMAT, key);
}

char *fence_note_lost(uint64_t key)
{
    return mem_printf(LOST FENCE_KEY_FORMAT, key);
}

struct err *fence_record_write(struct task *self, struct node *node,
                               const struct kube_object *attachment, const char *note)
{
    const char *known = note_of(as_attachment(attachment));

    if (known && note ? strcmp(known, note) == 0 : known == note)
        return NULL;
    json_t *changes = json_pack("{s:{s:{s:s?}}}", "status", "annotation", ANNOTATION_FENCE, note);
    struct err *err = cached_patch_status(self, node->kube, node->attachments, attachment,
                                          if_same(attachment, changes), NULL);
    return err ? err_wrap(err, "recording the fence") : NULL;
}
