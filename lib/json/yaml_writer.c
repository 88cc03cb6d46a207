#include "lib/json/yaml_writer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/cleanup.h"

enum { LARGEST_TEXT = 512 * 1024 * 1024 };

/* What YAML 1.1 has for truth and nothing beside the words of YAML 1.2. */
static const char *const words[] = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"};

/* Nothing that begins with a letter or a slash is a number, a time or a mark of YAML's. */
static bool is_plain(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789/._-";

    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcasecmp(words[i], text) == 0)
            return false;
    return (strspn(text, letters) > 0 || *text == '/') && !text[strspn(text, others)];
}

/* libyaml fails for lack of memory only, or if events are out of order. */
static void emit(yaml_emitter_t *emitter, yaml_event_t *event, int made)
{
    if (!made || !yaml_emitter_emit(emitter, event))
        abort();
}

static void write_scalar(yaml_emitter_t *emitter, const char *text, yaml_scalar_style_t style)
{
    yaml_event_t event;

    emit(emitter, &event,
         yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
                                      (int)strlen(text), 1, 1, style));
}

static void write_string(yaml_emitter_t *emitter, const char *text)
{
    write_scalar(emitter, text,
                 is_plain(text) ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

static void write_value(yaml_emitter_t *emitter, const json_t *json);

static void write_list(yaml_emitter_t *emitter, const json_t *list)
{
    yaml_event_t event;

    emit(emitter, &event,
         yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
    for (size_t i = 0; i < json_array_size(list); i++)
        write_value(emitter, json_array_get(list, i));
    emit(emitter, &event, yaml_sequence_end_event_initialize(&event));
}

static void write_map(yaml_emitter_t *emitter, const json_t *map)
{
    yaml_event_t event;
    const char *key;
    json_t *member;

    emit(emitter, &event,
         yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
    json_object_foreach((json_t *)(uintptr_t)map, key, member) {
        write_string(emitter, key);
        write_value(emitter, member);
    }
    emit(emitter, &event, yaml_mapping_end_event_initialize(&event));
}

static void write_value(yaml_emitter_t *emitter, const json_t *json)
{
    if (json_is_object(json)) {
        write_map(emitter, json);
    } else if (json_is_array(json)) {
        write_list(emitter, json);
    } else if (json_is_string(json)) {
        write_string(emitter, json_string_value(json));
    } else {
        CLEANUP(freep) char *text = json_dumps(json, JSON_ENCODE_ANY);

        write_scalar(emitter, text, YAML_PLAIN_SCALAR_STYLE);
    }
}

static int append(void *out, unsigned char *text, size_t length)
{
    return buffer_append(out, text, length);
}

char *yaml_to_text(const json_t *json)
{
    CLEANUP(yaml_emitter_delete) yaml_emitter_t emitter;
    struct buffer out;
    yaml_event_t event;

    if (!yaml_emitter_initialize(&emitter))
        abort();
    buffer_init(&out, LARGEST_TEXT);
    yaml_emitter_set_output(&emitter, append, &out);
    yaml_emitter_set_width(&emitter, -1);
    emit(&emitter, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    emit(&emitter, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    write_value(&emitter, json);
    emit(&emitter, &event, yaml_document_end_event_initialize(&event, 1));
    emit(&emitter, &event, yaml_stream_end_event_initialize(&event));
    return buffer_take(&out);
}
