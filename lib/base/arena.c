#include "lib/base/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/alloc.h"

enum {
    FIRST_BLOCK = 512,
    LARGEST_BLOCK = 16 * 1024,
    ALIGNMENT = _Alignof(int64_t),
};

struct block {
    struct block *next;
    size_t size;
    _Alignas(int64_t) char bytes[];
};

struct arena {
    struct block *blocks;
    size_t front, back;  /* in the first block; what is free lies between them */
    struct block *large; /* one for each request that is larger than LARGEST_BLOCK */
    size_t used;         /* by what was handed out */
    size_t taken;        /* from the system */
};

struct arena *arena_new(void)
{
    return mem_alloc(sizeof(struct arena));
}

static void free_blocks(struct block *block)
{
    for (struct block *next; block; block = next) {
        next = block->next;
        free(block);
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
    return arena->blocks && arena->back - arena->front >= size;
}

static void begin_block(struct arena *arena, size_t size)
{
    arena->front = 0;
    arena->back = add_block(arena, &arena->blocks, size)->size;
}

/* NULL: it is to be taken from the first block, where there is room for it now. */
static void *own_block(struct arena *arena, size_t size)
{
    arena->used += size;
    if (has_room(arena, size))
        return NULL;
    if (size > LARGEST_BLOCK)
        return add_block(arena, &arena->large, size)->bytes;
    begin_block(arena, next_block_size(arena, size));
    return NULL;
}

struct arena *arena_new_sized(size_t size)
{
    struct arena *arena = arena_new();

    begin_block(arena, size);
    return arena;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    char *memory = own_block(arena, rounded);

    if (!memory) {
        memory = arena->blocks->bytes + arena->front;
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
        memory = arena->blocks->bytes + arena->back;
    }
    return memory;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(arena_alloc_text(arena, size), text, size);
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
