/* What json_to_text() is in azdisk-sim: the linker gives its callers the first of these functions
 * (mk/build.mk). The library looks for a loop at every container, with a name that it prints and
 * a table; that was a seventh of the simulation's time. Its text is the same, and one of many is
 * compared with it. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/base/cleanup.h"
#include "lib/json/parse.h"

char *__wrap_json_to_text(const json_t *json);
char *__real_json_to_text(const json_t *json);

enum { LONGEST_TEXT = 64 * 1024 * 1024, COMPARE_ONE_OF = 128 };

static void write_value(struct buffer *text, const json_t *json);

static void append(struct buffer *text, const char *data, size_t length)
{
    if (!buffer_append(text, data, length))
        abort();
}

static void append_byte(struct buffer *text, char byte)
{
    append(text, &byte, 1);
}

static bool is_plain(char byte)
{
    return (unsigned char)byte >= 0x20 && byte != '"' && byte != '\\';
}

static void write_escaped(struct buffer *text, char byte)
{
    static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = byte ? strchr(named, byte) : NULL;
    char escaped[8];

    if (found)
        snprintf(escaped, sizeof escaped, "\\%c", letters[found - named]);
    else
        snprintf(escaped, sizeof escaped, "\\u%04X", (unsigned char)byte);
    append(text, escaped, strlen(escaped));
}

static void write_string(struct buffer *text, const char *string, size_t length)
{
    append_byte(text, '"');
    for (size_t i = 0, plain; i < length; i += plain) {
        for (plain = 0; i + plain < length && is_plain(string[i + plain]); plain++)
            ;
        append(text, string + i, plain);
        if (i + plain < length)
            write_escaped(text, string[i + plain++]);
    }
    append_byte(text, '"');
}

static void write_object(struct buffer *text, const json_t *object)
{
    json_t *members = (json_t *)(uintptr_t)object; /* the library's loop takes no const */
    const char *name;
    json_t *value;
    char before = '{';

    json_object_foreach(members, name, value) {
        append_byte(text, before);
        write_string(text, name, strlen(name));
        append_byte(text, ':');
        write_value(text, value);
        before = ',';
    }
    if (before == '{')
        append_byte(text, before);
    append_byte(text, '}');
}

static void write_array(struct buffer *text, const json_t *array)
{
    append_byte(text, '[');
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i > 0)
            append_byte(text, ',');
        write_value(text, json_array_get(array, i));
    }
    append_byte(text, ']');
}

static void write_scalar(struct buffer *text, const json_t *json)
{
    CLEANUP(freep) char *scalar = __real_json_to_text(json);

    append(text, scalar, strlen(scalar));
}

static void write_integer(struct buffer *text, json_int_t integer)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%" JSON_INTEGER_FORMAT, integer);
    append(text, digits, strlen(digits));
}

static void write_value(struct buffer *text, const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        write_object(text, json);
        break;
    case JSON_ARRAY:
        write_array(text, json);
        break;
    case JSON_STRING:
        write_string(text, json_string_value(json), json_string_length(json));
        break;
    case JSON_INTEGER:
        write_integer(text, json_integer_value(json));
        break;
    default:
        write_scalar(text, json);
    }
}

static void compare(const char *text, const json_t *json)
{
    static unsigned n_written;

    if (++n_written % COMPARE_ONE_OF != 0)
        return;
    CLEANUP(freep) char *theirs = __real_json_to_text(json);
    if (strcmp(text, theirs) != 0)
        abort();
}

char *__wrap_json_to_text(const json_t *json)
{
    struct buffer text = {.limit = LONGEST_TEXT};

    write_value(&text, json);
    compare(text.data, json);
    return buffer_take(&text);
}
