/* arena.h - memory that is given back all at once.
 *
 * What lives and dies together (a decoded Kubernetes object, the messages of one request) is
 * allocated from one arena and never freed piece by piece. Owned by whoever made it; one thread at
 * a time.
 */
#pragma once

#include <stddef.h>

#include "lib/base/cleanup.h"

struct arena;

struct arena *arena_new(void);
/* One with room for exactly `size` bytes: arena_used() of another, in which the same was made. */
struct arena *arena_new_sized(size_t size);
void arena_free(struct arena *arena); /* NULL is fine */
DEFINE_CLEANUP(struct arena, arena_free)

/* `size` zeroed bytes, aligned for pointers and 64-bit numbers. */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((warn_unused_result));
/* The same without alignment. */
char *arena_alloc_text(struct arena *arena, size_t size) __attribute__((warn_unused_result));
char *arena_strdup(struct arena *arena, const char *text) __attribute__((warn_unused_result));
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3), warn_unused_result));

size_t arena_used(const struct arena *arena);  /* by what was handed out */
size_t arena_bytes(const struct arena *arena); /* taken from the system */
