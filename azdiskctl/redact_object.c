#include "azdiskctl/redact_object.h"

#include <stdint.h>
#include <string.h>

#include "azdiskctl/redact.h"
#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/utf8.h"

/* What a member's value is for its name. */
enum meaning { MEANS_TEXT, MEANS_SECRET, MEANS_NOTHING };

static enum meaning meaning_of(const char *name, const json_t *value, const json_t *object)
{
    if (strcmp(name, "managedFields") == 0)
        return MEANS_NOTHING;
    if (strcmp(name, "kubectl.kubernetes.io/last-applied-configuration") == 0)
        return MEANS_SECRET;
    if (strcmp(name, "value") == 0 && json_is_string(json_object_get(object, "name")))
        return MEANS_SECRET;
    /* The objects that a Secret's members are, or the volume that is called "secret", go by their
     * own members. */
    return redact_is_name(name, strlen(name)) && !json_is_boolean(value) ? MEANS_SECRET
                                                                         : MEANS_TEXT;
}

static json_t *redact_string(const json_t *string)
{
    size_t length;
    CLEANUP(freep)
    char *text = redact_text(json_string_value(string), json_string_length(string), &length);

    return json_stringn(text, length);
}

static json_t *redact_value(const json_t *value, enum meaning meaning);

static json_t *redact_members(const json_t *object)
{
    json_t *copy = json_object(), *value;
    const char *name;

    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        enum meaning meaning = meaning_of(name, value, object);
        size_t length;
        CLEANUP(freep) char *key = redact_text(name, strlen(name), &length);

        if (meaning != MEANS_NOTHING)
            json_object_set_new(copy, key, redact_value(value, meaning));
    }
    return copy;
}

/* A flag of which the next argument is the value. */
static bool is_flag_of_secret(const json_t *argument)
{
    const char *text = json_string_value(argument);

    return text && *text == '-' && !strchr(text, '=') && redact_is_name(text, strlen(text));
}

static json_t *redact_items(const json_t *array, enum meaning meaning)
{
    json_t *copy = json_array();

    for (size_t i = 0; i < json_array_size(array); i++) {
        bool follows = i > 0 && is_flag_of_secret(json_array_get(array, i - 1));

        json_array_append_new(
            copy, redact_value(json_array_get(array, i), follows ? MEANS_SECRET : meaning));
    }
    return copy;
}

static json_t *redact_value(const json_t *value, enum meaning meaning)
{
    if (json_is_object(value))
        return redact_members(value);
    if (json_is_array(value))
        return redact_items(value, meaning);
    if (meaning == MEANS_SECRET && !json_is_null(value))
        return json_string(REDACTED);
    return json_is_string(value) ? redact_string(value) : json_deep_copy(value);
}

json_t *redact_object(const json_t *object)
{
    return redact_value(object, MEANS_TEXT);
}

json_t *redact_note(const char *text)
{
    CLEANUP(freep) char *copy = mem_strdup(text);

    utf8_repair(copy);
    CLEANUP(json_decrefp) json_t *string = json_string(copy);
    return redact_string(string);
}
