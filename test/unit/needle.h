/* needle.h - a text that is nowhere else, and how often it is in the memory of this process.
 *
 * For tests of what must not stay there: freed memory and stacks are searched too. Linux only.
 */
#pragma once

#include <fcntl.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "test/unit/expect.h"

enum { NEEDLE_SIZE = 48, LARGEST_REGION = 256 * 1024 * 1024, PIECE = 1024 * 1024 };

/* In memory only with each bit turned. */
struct needle {
    unsigned char bytes[NEEDLE_SIZE];
    size_t length;
};

static inline unsigned char turned(unsigned char byte)
{
    return byte ^ 0xff;
}

static inline struct needle needle_of(const void *data, size_t length)
{
    struct needle needle = {.length = length < NEEDLE_SIZE ? length : NEEDLE_SIZE};

    for (size_t i = 0; i < needle.length; i++)
        needle.bytes[i] = turned(((const unsigned char *)data)[i]);
    return needle;
}

/* A text that nothing else has, made of letters. */
static inline struct needle needle_new(const char *name)
{
    struct needle needle = {.length = NEEDLE_SIZE};
    unsigned seed = (unsigned)getpid();

    for (size_t i = 0; i < NEEDLE_SIZE; i++) {
        seed = seed * 1103515245 + 12345 + (unsigned char)name[i % strlen(name)];
        needle.bytes[i] = turned((unsigned char)('a' + (seed >> 16) % 26));
    }
    return needle;
}

static inline void needle_append(struct buffer *out, const struct needle *needle)
{
    for (size_t i = 0; i < needle->length; i++) {
        char c = (char)turned(needle->bytes[i]);

        assert_true(buffer_append(out, &c, 1));
    }
}

static inline unsigned needle_count_in_piece(const struct needle *needle,
                                             const unsigned char *piece, size_t n)
{
    const unsigned char *at = piece, *end = piece + n;
    unsigned found = 0;

    while ((at = memchr(at, turned(needle->bytes[0]), (size_t)(end - at)))) {
        size_t same = 0;

        while (same < needle->length && at + same < end && at[same] == turned(needle->bytes[same]))
            same++;
        found += same == needle->length;
        at++;
    }
    return found;
}

static inline unsigned needle_count_in(const struct needle *needle, int memory, unsigned long from,
                                       unsigned long to, unsigned char *piece)
{
    unsigned found = 0;

    for (unsigned long at = from; at < to; at += PIECE - NEEDLE_SIZE + 1) {
        size_t wanted = to - at < PIECE ? to - at : PIECE;
        ssize_t n = pread(memory, piece, wanted, (off_t)at);

        if (n > 0)
            found += needle_count_in_piece(needle, piece, (size_t)n);
    }
    return found;
}

/* How often it is in memory that can be written. */
static inline unsigned needle_count(const struct needle *needle)
{
    unsigned char *piece = mem_alloc(PIECE);
    FILE *maps = fopen("/proc/self/maps", "re");
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    unsigned long from, to;
    char line[512], rights[5];
    unsigned found = 0;

    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        unsigned long own = (unsigned long)piece;

        if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) != 3 || rights[1] != 'w' ||
            to - from > LARGEST_REGION)
            continue;
        if (from <= own && own < to) { /* not what the search itself has read */
            found += needle_count_in(needle, memory, from, own, piece);
            from = own + PIECE;
        }
        found += needle_count_in(needle, memory, from, to, piece);
    }
    close(memory);
    fclose(maps);
    free(piece);
    return found;
}
