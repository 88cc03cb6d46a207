/* alloc.h - memory that is always there.
 *
 * Running out of memory ends the program: a controller restarts into a correct state, while an
 * untested path for a failed allocation does not. So nothing here returns NULL, and callers bound
 * their inputs instead. Everything is freed by free(). Any thread.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/* `size` zeroed bytes. */
void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull, warn_unused_result));
/* The block at a new size; what is added is not zeroed. */
void *mem_grow(void *memory, size_t size) __attribute__((returns_nonnull, warn_unused_result));
void *mem_copy(const void *memory, size_t size)
    __attribute__((malloc, returns_nonnull, warn_unused_result));

/* Copies of text; NULL stays NULL. mem_strndup reads no further than `most` bytes. */
char *mem_strdup(const char *text) __attribute__((warn_unused_result));
char *mem_strndup(const char *text, size_t most) __attribute__((warn_unused_result));
char *mem_lower(const char *text) __attribute__((warn_unused_result));

char *mem_printf(const char *format, ...)
    __attribute__((format(printf, 1, 2), returns_nonnull, warn_unused_result));
char *mem_vprintf(const char *format, va_list args)
    __attribute__((format(printf, 1, 0), returns_nonnull, warn_unused_result));

/* Room for one more at the end of a growing array, as an lvalue: ARRAY_ADD(items, n) = item; */
#define ARRAY_ADD(array, count)                                                                    \
    (*({                                                                                           \
        if (((count) & ((count)-1)) == 0)                                                          \
            (array) = mem_grow((array), ((count) ? 2 * (count) : 1) * sizeof *(array));            \
        &(array)[(count)++];                                                                       \
    }))

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])
