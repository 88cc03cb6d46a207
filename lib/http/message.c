#include "lib/http/message.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"

void http_response_fini(struct http_response *response)
{
    for (size_t i = 0; i < response->n_headers; i++) {
        free((char *)(uintptr_t)response->headers[i].name);
        free((char *)(uintptr_t)response->headers[i].value);
    }
    free(response->headers);
    if (response->body)
        explicit_bzero(response->body, response->body_length);
    free(response->body);
    *response = (struct http_response){0};
}

const char *http_header_find(const struct http_header *headers, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(headers[i].name, name) == 0)
            return headers[i].value;
    return NULL;
}

char *http_escape(const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    char *escaped = mem_alloc(3 * strlen(text) + 1), *end = escaped;

    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;

        if (isalnum(byte) || strchr("-._~", byte)) {
            *end++ = *text;
            continue;
        }
        *end++ = '%';
        *end++ = digits[byte >> 4];
        *end++ = digits[byte & 15];
    }
    return escaped;
}
