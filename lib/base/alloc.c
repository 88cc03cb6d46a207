#include "lib/base/alloc.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *mem_alloc(size_t size)
{
    void *memory = calloc(1, size ? size : 1);

    if (!memory)
        abort();
    return memory;
}

void *mem_grow(void *memory, size_t size)
{
    void *grown = realloc(memory, size ? size : 1);

    if (!grown)
        abort();
    return grown;
}

void *mem_copy(const void *memory, size_t size)
{
    void *copy = mem_alloc(size);

    if (size)
        memcpy(copy, memory, size);
    return copy;
}

char *mem_strdup(const char *text)
{
    return text ? mem_copy(text, strlen(text) + 1) : NULL;
}

char *mem_strndup(const char *text, size_t most)
{
    if (!text)
        return NULL;

    size_t length = strnlen(text, most);
    char *copy = mem_alloc(length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *mem_lower(const char *text)
{
    char *copy = mem_strdup(text);

    for (char *c = copy; c && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

/* Not by vasprintf(), which leaves pieces of what may be a secret in memory. Most texts are short;
 * others are measured first. */
char *mem_vprintf(const char *format, va_list args)
{
    char usual[256];
    va_list again;

    va_copy(again, args);
    int length = vsnprintf(usual, sizeof usual, format, again);
    va_end(again);
    if (length < 0)
        abort();
    char *text = mem_alloc((size_t)length + 1);
    if ((size_t)length < sizeof usual)
        memcpy(text, usual, (size_t)length + 1);
    else
        vsnprintf(text, (size_t)length + 1, format, args);
    explicit_bzero(usual, sizeof usual);
    return text;
}

char *mem_printf(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *text = mem_vprintf(format, args);
    va_end(args);
    return text;
}
