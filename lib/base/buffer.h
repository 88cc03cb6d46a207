/* buffer.h - bytes that are put together piece by piece, up to a limit.
 *
 * The content always ends in a NUL that is not counted, so that text can be used as it is. Memory
 * that it no longer needs is cleared first, for secrets pass through here. Caller's memory:
 * buffer_init or a zeroed struct with `limit` set, then buffer_fini.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct buffer {
    char *data; /* NULL until something is appended */
    size_t length, capacity;
    size_t limit; /* most bytes that it will hold */
};

void buffer_init(struct buffer *buffer, size_t limit);
void buffer_fini(struct buffer *buffer);

/* false, with nothing appended, if the limit would be passed. */
bool buffer_append(struct buffer *buffer, const void *data, size_t length)
    __attribute__((warn_unused_result));
/* Text of our own making, which the limit was chosen for: passing it is a bug and
 * aborts. */
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Drop the first `length` bytes. */
void buffer_consume(struct buffer *buffer, size_t length);
/* The content, now the caller's (never NULL); the buffer is empty afterwards. */
char *buffer_take(struct buffer *buffer) __attribute__((warn_unused_result));
