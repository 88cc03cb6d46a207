#include "azdiskctl/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/cleanup.h"
#include "lib/base/utf8.h"

enum { LONGEST = 256 * 1024 * 1024 };

/* Controls, and marks that part lines or turn their direction (Unicode's bidirectional class). */
static const struct {
    uint32_t first, last;
} unprintable[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},
    {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
};

static bool is_printable(uint32_t code)
{
    for (size_t i = 0; i < COUNT_OF(unprintable); i++)
        if (code >= unprintable[i].first && code <= unprintable[i].last)
            return false;
    return true;
}

/* The character that begins here, of text that is UTF-8. */
static uint32_t decode(const char *text, size_t *ret_length)
{
    unsigned char first = (unsigned char)text[0];
    size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    uint32_t code = length == 1 ? first : first & (0x7fU >> length);

    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    *ret_length = length;
    return code;
}

static void append_escaped(struct buffer *out, uint32_t code)
{
    if (code == '\n' || code == '\t')
        buffer_printf(out, "\\%c", code == '\n' ? 'n' : 't');
    else
        buffer_printf(out, code < 0x100 ? "\\x%02x" : "\\u%04x", code);
}

char *printable_text(const char *text)
{
    CLEANUP(freep) char *copy = mem_strdup(text);
    const char *written = copy; /* what is before it */
    struct buffer out;
    size_t length;

    utf8_repair(copy);
    buffer_init(&out, LONGEST);
    for (const char *at = copy; *at; at += length) {
        uint32_t code = decode(at, &length);

        if (is_printable(code))
            continue;
        buffer_printf(&out, "%.*s", (int)(at - written), written);
        append_escaped(&out, code);
        written = at + length;
    }
    buffer_printf(&out, "%s", written);
    return buffer_take(&out);
}

json_t *printable_json(const json_t *document)
{
    json_t *copy, *member;
    const char *name;

    if (json_is_string(document)) {
        CLEANUP(freep) char *text = printable_text(json_string_value(document));

        return json_string(text);
    }
    if (json_is_array(document)) {
        copy = json_array();
        for (size_t i = 0; i < json_array_size(document); i++)
            json_array_append_new(copy, printable_json(json_array_get(document, i)));
        return copy;
    }
    if (!json_is_object(document))
        return json_deep_copy(document);
    copy = json_object();
    json_object_foreach((json_t *)(uintptr_t)document, name, member) {
        CLEANUP(freep) char *printable = printable_text(name);

        json_object_set_new(copy, printable, printable_json(member));
    }
    return copy;
}
