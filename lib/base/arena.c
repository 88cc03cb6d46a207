#include "lib/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/alloc.h"

enum {
    FIRST_BLOCK = 512,
    LARGEST_BLOCK = 16 * 1024,
    ALIGNMENT = 16,
};

struct block {
    struct block *next;
    size_t size;
    _Alignas(ALIGNMENT) char bytes[];
};

struct arena {
    struct block *blocks;
    size_t used;         /* of the first block */
    struct block *large; /* one for each request that is larger than LARGEST_BLOCK */
    size_t total;
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
    arena->total += sizeof *block + size;
    return block;
}

static size_t next_block_size(const struct arena *arena, size_t least)
{
    size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;

    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    return size < least ? least : size;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);

    if (rounded > LARGEST_BLOCK)
        return add_block(arena, &arena->large, rounded)->bytes;
    if (!arena->blocks || arena->blocks->size - arena->used < rounded) {
        add_block(arena, &arena->blocks, next_block_size(arena, rounded));
        arena->used = 0;
    }

    char *memory = arena->blocks->bytes + arena->used;
    arena->used += rounded;
    return memory;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(arena_alloc(arena, size), text, size);
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    CLEANUP(freep) char *text = mem_vprintf(format, args);
    va_end(args);
    return arena_strdup(arena, text);
}

size_t arena_bytes(const struct arena *arena)
{
    return arena->total;
}
