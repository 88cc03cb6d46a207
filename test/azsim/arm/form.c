#include "test/azsim/arm/form.h"

#include <ctype.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/utf8.h"

void percent_decode(char *text)
{
    char *out = text;

    for (; *text; text++) {
        if (text[0] == '%' && isxdigit((unsigned char)text[1]) &&
            isxdigit((unsigned char)text[2])) {
            const char digits[] = {text[1], text[2], '\0'};

            *out++ = (char)strtol(digits, NULL, 16);
            text += 2;
        } else {
            *out++ = *text;
        }
    }
    *out = '\0';
}

static void read_part(char *part)
{
    for (char *c = part; *c; c++)
        if (*c == '+')
            *c = ' ';
    percent_decode(part);
}

void form_read(struct form *form, const char *encoded)
{
    char *position = NULL;

    *form = (struct form){.text = mem_strdup(encoded)};
    for (char *field = strtok_r(form->text, "&", &position); field;
         field = strtok_r(NULL, "&", &position)) {
        char *equals = strchr(field, '=');

        if (equals) {
            *equals = '\0';
            read_part(equals + 1);
            utf8_repair(equals + 1);
        }
        read_part(field);
        ARRAY_ADD(form->fields, form->n) = (struct http_header){field, equals ? equals + 1 : ""};
    }
}

void form_fini(struct form *form)
{
    free(form->fields);
    free(form->text);
    *form = (struct form){0};
}

const char *form_get(const struct form *form, const char *name)
{
    for (size_t i = 0; i < form->n; i++)
        if (strcmp(form->fields[i].name, name) == 0)
            return form->fields[i].value;
    return NULL;
}
