/* arena.h - memory that is given back all at once.
 *
 * What lives and dies together (a decoded Kubernetes object, the messages of one request) is
 * allocated from one arena and never freed piece by piece. It may be secret: what an arena takes
 * from the system, it gives back empty. Owned by whoever made it; one thread at a time.
 */
#pragma once

#include <stddef.h>

#include "lib/base/cleanup.h"

struct arena;

/* Bytes that are used before texts are no longer shared with earlier ones. */
enum { ARENA_SHARES = 8 * 1024 };

struct known_text {
    const char *text;
    size_t length;
};

struct arena *arena_new(void);
/* One that begins in `size` zeroed bytes of the caller's, aligned as malloc() does, and takes more
 * from the system when they are full. What is in them outlives the arena. */
struct arena *arena_new_in(void *memory, size_t size);
void arena_free(struct arena *arena); /* NULL is fine */
DEFINE_CLEANUP(struct arena, arena_free)

/* `size` zeroed bytes, aligned for pointers and 64-bit numbers. */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((warn_unused_result));
/* The same without alignment; whoever shares text in the arena fills it in at once. */
char *arena_alloc_text(struct arena *arena, size_t size) __attribute__((warn_unused_result));
char *arena_strdup(struct arena *arena, const char *text) __attribute__((warn_unused_result));
/* A text of so many bytes, with a NUL behind it, that nobody changes: it may be one that the arena
 * knows, or, if it is not short, be or end one that came earlier. The same texts take the same room
 * in any arena that begins with room for ARENA_SHARES, or for them all. */
char *arena_share_text(struct arena *arena, const char *text, size_t length)
    __attribute__((warn_unused_result));
/* Texts that are there for ever: the shorter ones first, and those of one length in order. */
void arena_know(struct arena *arena, const struct known_text *texts, size_t n);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3), warn_unused_result));

size_t arena_used(const struct arena *arena);  /* by what was handed out */
size_t arena_bytes(const struct arena *arena); /* taken from the system */
