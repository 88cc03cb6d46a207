#include "lib/base/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/secret.h"

enum {
    FIRST_BLOCK = 512,
    LARGEST_BLOCK = 16 * 1024,
    SHORT = 16, /* a text for which a search would take longer than it is worth */
    ALIGNMENT = _Alignof(int64_t),
};

struct block {
    struct block *next;
    size_t size;
    _Alignas(int64_t) char bytes[];
};

struct arena {
    char *memory;             /* that is handed out now */
    size_t front, back, size; /* in it; what is free lies between front and back */
    const struct known_text *known;
    size_t n_known;
    struct block *blocks; /* of the system's; the first is `memory` */
    struct block *large;  /* one for each request that is larger than LARGEST_BLOCK */
    size_t used;          /* by what was handed out */
    size_t taken;         /* from the system */
};

struct arena *arena_new(void)
{
    return mem_alloc(sizeof(struct arena));
}

static void free_blocks(struct block *block)
{
    for (struct block *next; block; block = next) {
        next = block->next;
        secret_free_block(block);
    }
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    free_blocks(arena->blocks);
    free_blocks(arena->large);
    free(arena);
}

static struct block *add_block(struct arena *arena, struct block **list, size_t size)
{
    struct block *block = mem_alloc(sizeof *block + size);

    *block = (struct block){.next = *list, .size = size};
    *list = block;
    arena->taken += sizeof *block + size;
    return block;
}

static size_t next_block_size(const struct arena *arena, size_t least)
{
    size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;

    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    return size < least ? least : size;
}

static bool has_room(const struct arena *arena, size_t size)
{
    return arena->memory && arena->back - arena->front >= size;
}

static void begin(struct arena *arena, char *memory, size_t size)
{
    arena->memory = memory;
    arena->front = 0;
    arena->back = arena->size = size;
}

struct arena *arena_new_in(void *memory, size_t size)
{
    struct arena *arena = arena_new();

    begin(arena, memory, size);
    return arena;
}

/* NULL: it is to be taken from `memory`, where there is room for it now. */
static void *own_block(struct arena *arena, size_t size)
{
    arena->used += size;
    if (has_room(arena, size))
        return NULL;
    if (size > LARGEST_BLOCK)
        return add_block(arena, &arena->large, size)->bytes;
    size_t next = next_block_size(arena, size);
    begin(arena, add_block(arena, &arena->blocks, next)->bytes, next);
    return NULL;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    char *memory = own_block(arena, rounded);

    if (!memory) {
        memory = arena->memory + arena->front;
        arena->front += rounded;
    }
    return memory;
}

/* From the back, where nothing is aligned. */
char *arena_alloc_text(struct arena *arena, size_t size)
{
    char *memory = own_block(arena, size);

    if (!memory) {
        arena->back -= size;
        memory = arena->memory + arena->back;
    }
    return memory;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(arena_alloc_text(arena, size), text, size);
}

void arena_know(struct arena *arena, const struct known_text *texts, size_t n)
{
    arena->known = texts;
    arena->n_known = n;
}

static int compare(const void *wanted, const void *known)
{
    const struct known_text *a = wanted, *b = known;

    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return memcmp(a->text, b->text, a->length);
}

static const char *find_known(const struct arena *arena, const char *text, size_t length)
{
    const struct known_text wanted = {text, length}, *found = NULL;

    if (arena->n_known > 0)
        found = bsearch(&wanted, arena->known, arena->n_known, sizeof wanted, compare);
    return found ? found->text : NULL;
}

static char *find_earlier(const struct arena *arena, const char *text, size_t length)
{
    size_t size = arena->size - arena->back;

    if (arena->used > ARENA_SHARES || length < SHORT || size <= length)
        return NULL;
    return memmem(arena->memory + arena->back, size, text, length + 1);
}

char *arena_share_text(struct arena *arena, const char *text, size_t length)
{
    char *found = (char *)(uintptr_t)find_known(arena, text, length);

    if (!found)
        found = find_earlier(arena, text, length);
    return found ? found : memcpy(arena_alloc_text(arena, length + 1), text, length + 1);
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    CLEANUP(freep) char *text = mem_vprintf(format, args);
    va_end(args);
    return arena_strdup(arena, text);
}

size_t arena_used(const struct arena *arena)
{
    return arena->used;
}

size_t arena_bytes(const struct arena *arena)
{
    return arena->taken;
}
