#include "lib/json/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "lib/json/parse.h"

static struct err *fault(const yaml_mark_t *mark, const char *problem)
{
    return err_new(ERR_INVALID, "not usable YAML: line %zu, column %zu: %s", mark->line + 1,
                   mark->column + 1, problem);
}

static struct err *next_event(yaml_parser_t *parser, yaml_event_t *event)
{
    if (!yaml_parser_parse(parser, event))
        return fault(&parser->problem_mark, parser->problem ? parser->problem : "malformed");
    return NULL;
}

static json_t *plain_scalar(const char *text)
{
    char *end;

    if (!text[0] || strcmp(text, "~") == 0 || strcasecmp(text, "null") == 0)
        return json_null();
    if (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0)
        return json_boolean(text[0] == 't' || text[0] == 'T');

    errno = 0;
    long long integer = strtoll(text, &end, 10);
    if (!*end && !errno)
        return json_integer(integer);
    double real = strtod(text, &end);
    if (!*end && strspn(text, "+-.0123456789eE") == strlen(text))
        return json_real(real);
    return json_string(text);
}

static struct err *scalar(const yaml_event_t *event, json_t **ret_json)
{
    const char *text = (const char *)event->data.scalar.value;

    if (strlen(text) != event->data.scalar.length)
        return fault(&event->start_mark, "text with a NUL character");
    json_t *json = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? plain_scalar(text)
                                                                       : json_string(text);

    if (!json)
        return fault(&event->start_mark, "text that is not UTF-8");
    *ret_json = json;
    return NULL;
}

static struct err *value(yaml_parser_t *parser, const yaml_event_t *event, unsigned depth,
                         json_t **ret_json);

static struct err *sequence(yaml_parser_t *parser, unsigned depth, json_t **ret_json)
{
    CLEANUP(json_decrefp) json_t *list = json_array();

    for (;;) {
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};
        json_t *item;

        TRY(next_event(parser, &event));
        if (event.type == YAML_SEQUENCE_END_EVENT)
            break;
        TRY(value(parser, &event, depth + 1, &item));
        json_array_append_new(list, item);
    }
    *ret_json = TAKE_PTR(list);
    return NULL;
}

static struct err *mapping(yaml_parser_t *parser, unsigned depth, json_t **ret_json)
{
    CLEANUP(json_decrefp) json_t *map = json_object();

    for (;;) {
        CLEANUP(yaml_event_delete) yaml_event_t key = {0}, event = {0};
        json_t *member;

        TRY(next_event(parser, &key));
        if (key.type == YAML_MAPPING_END_EVENT)
            break;
        if (key.type != YAML_SCALAR_EVENT)
            return fault(&key.start_mark, "a key that is not a string");
        if (json_object_get(map, (const char *)key.data.scalar.value))
            return fault(&key.start_mark, "a duplicate key");
        TRY(next_event(parser, &event));
        TRY(value(parser, &event, depth + 1, &member));
        json_object_set_new(map, (const char *)key.data.scalar.value, member);
    }
    *ret_json = TAKE_PTR(map);
    return NULL;
}

static struct err *value(yaml_parser_t *parser, const yaml_event_t *event, unsigned depth,
                         json_t **ret_json)
{
    if (depth > YAML_MAX_DEPTH)
        return fault(&event->start_mark, "nested too deeply");
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return scalar(event, ret_json);
    case YAML_SEQUENCE_START_EVENT:
        return sequence(parser, depth, ret_json);
    case YAML_MAPPING_START_EVENT:
        return mapping(parser, depth, ret_json);
    case YAML_ALIAS_EVENT:
        return fault(&event->start_mark, "aliases are not allowed");
    default:
        return fault(&event->start_mark, "a value is missing");
    }
}

/* Events that only frame a document are passed over; `ret_json` is NULL at the end of the text. */
static struct err *document(yaml_parser_t *parser, yaml_mark_t *ret_start, json_t **ret_json)
{
    for (;;) {
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};

        TRY(next_event(parser, &event));
        switch (event.type) {
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_START_EVENT:
        case YAML_DOCUMENT_END_EVENT:
            continue;
        case YAML_STREAM_END_EVENT:
            *ret_json = NULL;
            return NULL;
        default:
            *ret_start = event.start_mark;
            return value(parser, &event, 0, ret_json);
        }
    }
}

struct err *yaml_parse(const char *text, size_t length, json_t **ret_json)
{
    CLEANUP(yaml_parser_delete) yaml_parser_t parser;
    CLEANUP(json_decrefp) json_t *first = NULL, *second = NULL;
    yaml_mark_t start;

    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    TRY(document(&parser, &start, &first));
    if (first)
        TRY(document(&parser, &start, &second));
    if (second)
        return fault(&start, "a second document");
    *ret_json = first ? TAKE_PTR(first) : json_null();
    return NULL;
}
