/* What json_to_text() is in azdisk-sim: the linker gives its callers the first of these functions
 * (mk/build.mk). The library looks for a loop at every container, with a name that it prints and
 * a table; that was a seventh of the simulation's time. Its text is the same, and one of many is
 * compared with it. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "lib/json/parse.h"

char *__wrap_json_to_text(const json_t *json);
char *__real_json_to_text(const json_t *json);

enum { COMPARE_ONE_OF = 128, LONGEST_ESCAPED = 6, LONGEST_INTEGER = 24 };

/* The one that is being written. It is copied when it is whole, so that it need not grow anew. */
static struct {
    char *data;
    size_t length, capacity;
} text;

static void write_value(const json_t *json);

/* Where the next `most` bytes go; text.length counts what came of them. */
static char *room(size_t most)
{
    if (text.length + most > text.capacity) {
        text.capacity = 2 * (text.length + most);
        text.data = mem_grow(text.data, text.capacity);
    }
    return text.data + text.length;
}

static void write_bytes(const char *bytes, size_t length)
{
    memcpy(room(length), bytes, length);
    text.length += length;
}

static void write_byte(char byte)
{
    *room(1) = byte;
    text.length++;
}

static bool is_plain(char byte)
{
    return (unsigned char)byte >= 0x20 && byte != '"' && byte != '\\';
}

static char *escape(char *end, char byte)
{
    static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = byte ? strchr(named, byte) : NULL;

    return end + (found ? snprintf(end, 3, "\\%c", letters[found - named])
                        : snprintf(end, LONGEST_ESCAPED + 1, "\\u%04X", (unsigned char)byte));
}

static void write_string(const char *string, size_t length)
{
    char *end = room(LONGEST_ESCAPED * length + 3); /* and the NUL of the last that is escaped */

    *end++ = '"';
    for (size_t i = 0; i < length; i++) {
        if (is_plain(string[i]))
            *end++ = string[i];
        else
            end = escape(end, string[i]);
    }
    *end++ = '"';
    text.length = (size_t)(end - text.data);
}

static void write_object(const json_t *object)
{
    json_t *members = (json_t *)(uintptr_t)object; /* the library's loop takes no const */
    const char *name;
    json_t *value;
    char before = '{';

    json_object_foreach(members, name, value) {
        write_byte(before);
        write_string(name, strlen(name));
        write_byte(':');
        write_value(value);
        before = ',';
    }
    if (before == '{')
        write_byte(before);
    write_byte('}');
}

static void write_array(const json_t *array)
{
    write_byte('[');
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i > 0)
            write_byte(',');
        write_value(json_array_get(array, i));
    }
    write_byte(']');
}

static void write_scalar(const json_t *json)
{
    CLEANUP(freep) char *scalar = __real_json_to_text(json);

    write_bytes(scalar, strlen(scalar));
}

static void write_integer(json_int_t integer)
{
    char digits[LONGEST_INTEGER], *first = digits + sizeof digits;
    uint64_t rest = integer < 0 ? -(uint64_t)integer : (uint64_t)integer;

    do {
        *--first = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (integer < 0)
        *--first = '-';
    write_bytes(first, (size_t)(digits + sizeof digits - first));
}

static void write_value(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        write_object(json);
        break;
    case JSON_ARRAY:
        write_array(json);
        break;
    case JSON_STRING:
        write_string(json_string_value(json), json_string_length(json));
        break;
    case JSON_INTEGER:
        write_integer(json_integer_value(json));
        break;
    default:
        write_scalar(json);
    }
}

static void compare(const char *ours, const json_t *json)
{
    static unsigned n_written;

    if (++n_written % COMPARE_ONE_OF != 0)
        return;
    CLEANUP(freep) char *theirs = __real_json_to_text(json);
    if (strcmp(ours, theirs) != 0)
        abort();
}

char *__wrap_json_to_text(const json_t *json)
{
    text.length = 0;
    write_value(json);

    char *ours = mem_strndup(text.data, text.length);
    compare(ours, json);
    return ours;
}
