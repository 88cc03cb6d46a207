/* form.h - names and values as queries of URLs and posted forms spell them.
 */
#pragma once

#include "lib/http/message.h"

struct form {
    struct http_header *fields;
    size_t n;
    char *text; /* what the fields point into */
};

/* "a=1&b=x%20y+z" */
void form_read(struct form *form, const char *encoded);
void form_fini(struct form *form);
/* The value of a field; NULL if it is not there. */
const char *form_get(const struct form *form, const char *name);

/* %XX in place, up to the end of the text; plus signs stay. */
void percent_decode(char *text);

static inline void form_finip(struct form *form)
{
    form_fini(form);
}
