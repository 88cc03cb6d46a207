#include "lib/json/codec.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/utf8.h"
#include "lib/json/parse.h"

/* Where in a document the decoder is; a chain of stack frames, written out only when something is
 * wrong. */
struct place {
    const struct place *parent;
    const char *member; /* NULL for an element of a list */
    size_t index;
    unsigned depth;
};

typedef ProtobufCFieldDescriptor field_descriptor;
typedef ProtobufCMessageDescriptor message_descriptor;

static const struct {
    size_t size;
    const char *expected;
} field_types[] = {
    [PROTOBUF_C_TYPE_INT32] = {sizeof(int32_t), "a 32-bit integer"},
    [PROTOBUF_C_TYPE_INT64] = {sizeof(int64_t), "an integer"},
    [PROTOBUF_C_TYPE_DOUBLE] = {sizeof(double), "a number"},
    [PROTOBUF_C_TYPE_BOOL] = {sizeof(protobuf_c_boolean), "a boolean"},
    [PROTOBUF_C_TYPE_STRING] = {sizeof(char *), "a string"},
    [PROTOBUF_C_TYPE_BYTES] = {sizeof(ProtobufCBinaryData), "a value"},
    [PROTOBUF_C_TYPE_MESSAGE] = {sizeof(ProtobufCMessage *), "an object"},
};

static void *member_at(const void *message, size_t offset)
{
    return (char *)(uintptr_t)message + offset;
}

/* disk_size_GB -> diskSizeGB, volume__id -> volume_id; returns the length. Field names are ours and
 * short; a longer one is a bug. */
static size_t json_name(const field_descriptor *field, char name[128])
{
    size_t length = 0;
    bool raise = false;

    for (const char *c = field->name; *c; c++) {
        bool kept_underscore = *c == '_' && c[1] == '_';

        assert(length < 127);
        if (*c == '_' && !kept_underscore) {
            raise = true;
            continue;
        }
        name[length++] = raise && *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
        raise = false;
        if (kept_underscore)
            c++;
    }
    name[length] = '\0';
    return length;
}

/* protobuf-c shows a map as a list of messages named ...Entry with the fields key and value. */
static bool is_map(const field_descriptor *field)
{
    if (field->label != PROTOBUF_C_LABEL_REPEATED || field->type != PROTOBUF_C_TYPE_MESSAGE)
        return false;

    const message_descriptor *entry = field->descriptor;
    size_t length = strlen(entry->short_name);

    return entry->n_fields == 2 && length > 5 &&
           strcmp(entry->short_name + length - 5, "Entry") == 0 &&
           strcmp(entry->fields[0].name, "key") == 0 && strcmp(entry->fields[1].name, "value") == 0;
}

static bool is_pointer(const field_descriptor *field)
{
    return field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE;
}

/* ---- decode ---- */

static const char *type_name(const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "this number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
        return "null";
    }
    return "this";
}

static void write_path(const struct place *place, FILE *out)
{
    if (!place->parent)
        return;
    write_path(place->parent, out);
    if (place->member)
        fprintf(out, "%s%s", place->parent->parent ? "." : "", place->member);
    else
        fprintf(out, "[%zu]", place->index);
}

static struct err *wrong_type(const struct place *place, const char *expected, const json_t *json)
{
    CLEANUP(freep) char *path = NULL;
    size_t size;
    FILE *out = open_memstream(&path, &size);

    if (!out)
        abort();
    write_path(place, out);
    fclose(out);
    return err_new(ERR_INVALID, "%s: expected %s, not %s", path[0] ? path : "document", expected,
                   type_name(json));
}

static struct err *too_deep(void)
{
    return err_new(ERR_INVALID, "document is nested deeper than %d levels", JSON_CODEC_MAX_DEPTH);
}

/* Whether objects and lists go beyond the limit in `json`, which is itself at `depth`. */
static bool is_too_deep(const json_t *json, unsigned depth)
{
    json_t *value;
    const char *key;
    size_t i;

    if (!json_is_object(json) && !json_is_array(json))
        return false;
    if (depth >= JSON_CODEC_MAX_DEPTH)
        return true;
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
        if (is_too_deep(value, depth + 1))
            return true;
    json_array_foreach(json, i, value)
        if (is_too_deep(value, depth + 1))
            return true;
    return false;
}

/* A subtree of any shape, as text. */
static struct err *decode_any(struct arena *arena, const json_t *json, const struct place *place,
                              ProtobufCBinaryData *bytes)
{
    if (is_too_deep(json, place->depth))
        return too_deep();

    CLEANUP(freep) char *text = json_to_text(json);
    bytes->len = strlen(text);
    bytes->data = (uint8_t *)arena_share_text(arena, text, bytes->len);
    return NULL;
}

static struct err *decode_message(struct arena *arena, const message_descriptor *type,
                                  const json_t *json, const struct place *place,
                                  ProtobufCMessage **ret_message);

static struct err *decode_value(struct arena *arena, const field_descriptor *field,
                                const json_t *json, const struct place *place, void *target)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        if (!json_is_string(json))
            break;
        *(char **)target =
            arena_share_text(arena, json_string_value(json), json_string_length(json));
        return NULL;
    case PROTOBUF_C_TYPE_BOOL:
        if (!json_is_boolean(json))
            break;
        *(protobuf_c_boolean *)target = json_is_true(json);
        return NULL;
    case PROTOBUF_C_TYPE_INT32:
        if (!json_is_integer(json) || json_integer_value(json) < INT32_MIN ||
            json_integer_value(json) > INT32_MAX)
            break;
        *(int32_t *)target = (int32_t)json_integer_value(json);
        return NULL;
    case PROTOBUF_C_TYPE_INT64:
        if (!json_is_integer(json))
            break;
        *(int64_t *)target = json_integer_value(json);
        return NULL;
    case PROTOBUF_C_TYPE_DOUBLE:
        if (!json_is_number(json))
            break;
        *(double *)target = json_number_value(json);
        return NULL;
    case PROTOBUF_C_TYPE_BYTES:
        return decode_any(arena, json, place, target);
    case PROTOBUF_C_TYPE_MESSAGE:
        return decode_message(arena, field->descriptor, json, place, target);
    default:
        assert(!"a field type that lib/api must not use");
    }
    return wrong_type(place, field_types[field->type].expected, json);
}

static struct err *decode_list(struct arena *arena, const field_descriptor *field,
                               const json_t *json, const struct place *place, void *message)
{
    size_t *count = member_at(message, field->quantifier_offset);
    size_t element_size = field_types[field->type].size, n = json_array_size(json);

    if (!json_is_array(json))
        return wrong_type(place, "a list", json);
    if (n == 0)
        return NULL;

    char *elements = arena_alloc(arena, n * element_size);
    *(void **)member_at(message, field->offset) = elements;
    for (size_t i = 0; i < n; i++) {
        struct place element = {.parent = place, .index = i, .depth = place->depth + 1};

        TRY(decode_value(arena, field, json_array_get(json, i), &element,
                         elements + i * element_size));
    }
    *count = n;
    return NULL;
}

static struct err *decode_map(struct arena *arena, const field_descriptor *field,
                              const json_t *json, const struct place *place, void *message)
{
    const message_descriptor *type = field->descriptor;
    const field_descriptor *key_field = &type->fields[0], *value_field = &type->fields[1];
    size_t *count = member_at(message, field->quantifier_offset);
    const char *key;
    json_t *value;

    if (!json_is_object(json))
        return wrong_type(place, "an object", json);
    if (json_object_size(json) == 0)
        return NULL;

    ProtobufCMessage **entries = arena_alloc(arena, json_object_size(json) * sizeof *entries);
    *(void **)member_at(message, field->offset) = entries;
    json_object_foreach((json_t *)(uintptr_t)json, key, value) {
        struct place here = {.parent = place, .member = key, .depth = place->depth + 1};
        ProtobufCMessage *entry = arena_alloc(arena, type->sizeof_message);

        type->message_init(entry);
        entries[(*count)++] = entry;
        *(char **)member_at(entry, key_field->offset) = arena_share_text(arena, key, strlen(key));
        TRY(decode_value(arena, value_field, value, &here, member_at(entry, value_field->offset)));
        if (!is_pointer(value_field))
            *(protobuf_c_boolean *)member_at(entry, value_field->quantifier_offset) = true;
    }
    return NULL;
}

static struct err *decode_field(struct arena *arena, const field_descriptor *field,
                                const json_t *json, const struct place *place, void *message)
{
    if (is_map(field))
        return decode_map(arena, field, json, place, message);
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return decode_list(arena, field, json, place, message);

    TRY(decode_value(arena, field, json, place, member_at(message, field->offset)));
    if (!is_pointer(field))
        *(protobuf_c_boolean *)member_at(message, field->quantifier_offset) = true;
    return NULL;
}

static struct err *decode_message(struct arena *arena, const message_descriptor *type,
                                  const json_t *json, const struct place *place,
                                  ProtobufCMessage **ret_message)
{
    if (!json_is_object(json))
        return wrong_type(place, "an object", json);
    if (place->depth >= JSON_CODEC_MAX_DEPTH)
        return too_deep();

    ProtobufCMessage *message = arena_alloc(arena, type->sizeof_message);
    type->message_init(message);

    for (unsigned i = 0; i < type->n_fields; i++) {
        char name[128];
        size_t length = json_name(&type->fields[i], name);

        const json_t *value = json_object_getn(json, name, length);
        struct place here = {.parent = place, .member = name, .depth = place->depth + 1};

        if (value && !json_is_null(value))
            TRY(decode_field(arena, &type->fields[i], value, &here, message));
    }
    *ret_message = message;
    return NULL;
}

struct err *json_decode(const ProtobufCMessageDescriptor *type, const json_t *json,
                        struct arena *arena, const ProtobufCMessage **ret_message)
{
    struct place document = {.parent = NULL};
    ProtobufCMessage *message;

    TRY(decode_message(arena, type, json, &document, &message));
    *ret_message = message;
    return NULL;
}

/* ---- encode ---- */

/* jansson takes no text that is not UTF-8, and such text comes from outside: a file's name, the
 * output of a program. */
static json_t *encode_string(const char *text)
{
    json_t *json = json_string(text);

    if (json)
        return json;
    CLEANUP(freep) char *repaired = mem_strdup(text);
    utf8_repair(repaired);
    return json_string(repaired);
}

/* `bytes` that are no JSON are a bug of whoever filled the message in. */
static json_t *encode_any(const ProtobufCBinaryData *bytes)
{
    const size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL; /* as parse.c takes it */
    json_t *json = json_loadb((const char *)bytes->data, bytes->len, flags, NULL);

    if (!json)
        abort();
    return json;
}

static json_t *encode_value(const field_descriptor *field, const void *source)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        return encode_string(*(char *const *)source);
    case PROTOBUF_C_TYPE_BOOL:
        return json_boolean(*(const protobuf_c_boolean *)source);
    case PROTOBUF_C_TYPE_INT32:
        return json_integer(*(const int32_t *)source);
    case PROTOBUF_C_TYPE_INT64:
        return json_integer(*(const int64_t *)source);
    case PROTOBUF_C_TYPE_DOUBLE:
        return json_real(*(const double *)source);
    case PROTOBUF_C_TYPE_BYTES:
        return encode_any(source);
    case PROTOBUF_C_TYPE_MESSAGE:
        return json_encode(*(ProtobufCMessage *const *)source);
    default:
        assert(!"a field type that lib/api must not use");
        return NULL;
    }
}

static json_t *encode_repeated(const ProtobufCMessage *message, const field_descriptor *field)
{
    size_t n = *(size_t *)member_at(message, field->quantifier_offset);
    const char *elements = *(const char **)member_at(message, field->offset);
    size_t element_size = field_types[field->type].size;
    bool map = is_map(field);
    json_t *json = map ? json_object() : json_array();

    for (size_t i = 0; i < n; i++) {
        const void *element = elements + i * element_size;

        if (map) {
            const ProtobufCMessage *entry = *(ProtobufCMessage *const *)element;
            const field_descriptor *fields = entry->descriptor->fields;

            json_object_set_new(json, *(char **)member_at(entry, fields[0].offset),
                                encode_value(&fields[1], member_at(entry, fields[1].offset)));
        } else {
            json_array_append_new(json, encode_value(field, element));
        }
    }
    return json;
}

static bool is_set(const ProtobufCMessage *message, const field_descriptor *field)
{
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return *(size_t *)member_at(message, field->quantifier_offset) > 0;
    if (is_pointer(field))
        return *(void **)member_at(message, field->offset) != NULL;
    return *(protobuf_c_boolean *)member_at(message, field->quantifier_offset);
}

json_t *json_encode(const ProtobufCMessage *message)
{
    json_t *json = json_object();

    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const field_descriptor *field = &message->descriptor->fields[i];
        char name[128];

        if (!is_set(message, field))
            continue;
        json_name(field, name);
        json_object_set_new(json, name,
                            field->label == PROTOBUF_C_LABEL_REPEATED
                                ? encode_repeated(message, field)
                                : encode_value(field, member_at(message, field->offset)));
    }
    return json;
}
