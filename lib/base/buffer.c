#include "lib/base/buffer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

void buffer_init(struct buffer *buffer, size_t limit)
{
    *buffer = (struct buffer){.limit = limit};
}

/* What is let go is cleared: it may have been a secret. */
static void let_go(struct buffer *buffer)
{
    if (buffer->data)
        explicit_bzero(buffer->data, buffer->capacity);
    free(buffer->data);
}

void buffer_fini(struct buffer *buffer)
{
    let_go(buffer);
    *buffer = (struct buffer){.limit = buffer->limit};
}

/* Room for so much more and a NUL; false if the limit would be passed. Not by realloc, which leaves
 * a copy behind. */
static bool reserve(struct buffer *buffer, size_t length)
{
    size_t capacity = buffer->capacity ? buffer->capacity : 256;

    if (length > buffer->limit - buffer->length)
        return false;
    while (capacity < buffer->length + length + 1)
        capacity *= 2;
    if (capacity == buffer->capacity)
        return true;
    char *data = mem_grow(NULL, capacity);
    if (buffer->length)
        memcpy(data, buffer->data, buffer->length);
    let_go(buffer);
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

bool buffer_append(struct buffer *buffer, const void *data, size_t length)
{
    if (!reserve(buffer, length))
        return false;
    if (length)
        memcpy(buffer->data + buffer->length, data, length);
    buffer->length += length;
    buffer->data[buffer->length] = '\0';
    return true;
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list args;

    /* Most texts have room where they are to be. */
    size_t room = buffer->data ? buffer->capacity - buffer->length : 0;

    va_start(args, format);
    int length = vsnprintf(room ? buffer->data + buffer->length : NULL, room, format, args);
    va_end(args);
    if (length < 0 || !reserve(buffer, (size_t)length))
        abort();
    if ((size_t)length >= room) {
        va_start(args, format);
        vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, args);
        va_end(args);
    }
    buffer->length += (size_t)length;
}

void buffer_consume(struct buffer *buffer, size_t length)
{
    assert(length <= buffer->length);
    if (length == 0)
        return;
    buffer->length -= length;
    memmove(buffer->data, buffer->data + length, buffer->length + 1);
}

char *buffer_take(struct buffer *buffer)
{
    char *data = buffer->data ? buffer->data : mem_strdup("");

    *buffer = (struct buffer){.limit = buffer->limit};
    return data;
}
