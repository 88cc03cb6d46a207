/* name_table.h - what is known of nodes, by their names, looked up thousands of times for each
 * answer.
 *
 * An open-addressed table from the hash of a name to a number. Names themselves are not kept: a
 * lookup would have to fetch each of them from memory, which takes longer than all else. Hashes
 * have 64 bits, so that among 5,000 nodes two have the same once in 10^12 clusters; a score or a
 * filter would then follow the wrong one of two nodes.
 *
 * Owner: whoever has the struct; all zero is the empty table. Not for several threads at once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A name, wherever its text is. */
struct named {
    const char *text; /* need not end in a NUL */
    uint32_t length;
    uint64_t hash; /* never 0 */
};

struct named named_of(const char *text, size_t length);

struct name_table {
    struct name_slot *slots; /* a power of two of them, a quarter of which are empty at least */
    size_t n_slots, n;
};

/* The number of the name with this hash, good until the next change; NULL if it is not there. */
const int64_t *name_table_find(const struct name_table *table, uint64_t hash);
/* That it will be asked for soon: fetched from memory while others are looked at. */
void name_table_expect(const struct name_table *table, uint64_t hash);
/* Takes the place of a number that is there. */
void name_table_put(struct name_table *table, uint64_t hash, int64_t number);
void name_table_remove(struct name_table *table, uint64_t hash); /* if it is there */
void name_table_fini(struct name_table *table);
