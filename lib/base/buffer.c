#include "lib/base/buffer.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"

void buffer_init(struct buffer *buffer, size_t limit)
{
    *buffer = (struct buffer){.limit = limit};
}

void buffer_fini(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){.limit = buffer->limit};
}

bool buffer_append(struct buffer *buffer, const void *data, size_t length)
{
    if (length > buffer->limit - buffer->length)
        return false;
    if (buffer->length + length + 1 > buffer->capacity) {
        size_t capacity = buffer->capacity ? buffer->capacity * 2 : 256;

        while (capacity < buffer->length + length + 1)
            capacity *= 2;
        buffer->data = mem_grow(buffer->data, capacity);
        buffer->capacity = capacity;
    }
    if (length)
        memcpy(buffer->data + buffer->length, data, length);
    buffer->length += length;
    buffer->data[buffer->length] = '\0';
    return true;
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    CLEANUP(freep) char *text = mem_vprintf(format, args);
    va_end(args);

    if (!buffer_append(buffer, text, strlen(text)))
        abort();
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
