#include "test/azsim/config_member.h"

#include <ctype.h>
#include <string.h>

static bool is_uuid(const char *text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

    for (size_t i = 0; i < sizeof form; i++)
        if (form[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != form[i])
            return false;
    return true;
}

static bool is_something(const char *text)
{
    return *text != '\0';
}

const struct text_form text_uuid = {is_uuid, "a UUID", false};
const struct text_form text_secret = {is_something, "a secret of at least one character", true};
const struct text_form text_any = {is_something, "a text of at least one character", false};
const struct text_form text_vm = {is_something, "a VM's name", false};

struct err *member_check_names(const json_t *json, const char *path, const char *const known[])
{
    const char *name;
    json_t *value;

    if (!json_is_object(json))
        return err_new(ERR_INVALID, "%s: expected an object", *path ? path : "the document");
    json_object_foreach((json_t *)(uintptr_t)json, name, value) {
        size_t i = 0;

        while (known[i] && strcmp(known[i], name) != 0)
            i++;
        if (!known[i])
            return err_new(ERR_INVALID, "%s%s: unknown member", path, name);
    }
    return NULL;
}

struct err *member_check_text(const json_t *value, const char *path, const struct text_form *form)
{
    const char *text = json_string_value(value);

    if (!value)
        return err_new(ERR_INVALID, "%s: missing; it is %s", path, form->what);
    if (!text)
        return err_new(ERR_INVALID, "%s: expected a string, %s", path, form->what);
    if (!form->fits(text))
        return err_new(ERR_INVALID, "%s: \"%s\" is not %s", path, form->secret ? "..." : text,
                       form->what);
    return NULL;
}

struct err *member_check_list(const json_t *list, const char *path, size_t most)
{
    if (!json_is_array(list))
        return err_new(ERR_INVALID, "%s: expected a list", path);
    if (json_array_size(list) > most)
        return err_new(ERR_INVALID, "%s: %zu is more than %zu", path, json_array_size(list), most);
    return NULL;
}
