#include "scheduler-extender/name_table.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

enum { FEWEST_SLOTS = 16 };

struct name_slot {
    uint64_t hash; /* 0: empty */
    int64_t number;
};

/* ---- names ---- */

/* Both halves of the product: every bit of the word has its say in every bit of the hash. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    unsigned __int128 product = (unsigned __int128)(hash ^ word) * 0x9e3779b97f4a7c15u;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

struct named named_of(const char *text, size_t length)
{
    uint64_t hash = mix(length, 0xd1b54a32d192ed03u), word;
    size_t at = 0;

    for (; length - at >= sizeof word; at += sizeof word) {
        memcpy(&word, text + at, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, text + at, length - at);
    hash = mix(hash, word);
    return (struct named){text, (uint32_t)length, hash ? hash : 1};
}

/* ---- slots: a name is in the first slot from its home on that was free ---- */

static size_t next_slot(const struct name_table *table, size_t i)
{
    return (i + 1) & (table->n_slots - 1);
}

/* The name's slot, or the empty one where it would be. */
static size_t find_slot(const struct name_table *table, uint64_t hash)
{
    size_t i = hash & (table->n_slots - 1);

    while (table->slots[i].hash && table->slots[i].hash != hash)
        i = next_slot(table, i);
    return i;
}

static void grow(struct name_table *table)
{
    struct name_table larger = {.n_slots = table->n_slots ? 2 * table->n_slots : FEWEST_SLOTS,
                                .n = table->n};

    larger.slots = mem_alloc(larger.n_slots * sizeof *larger.slots);
    for (size_t i = 0; i < table->n_slots; i++)
        if (table->slots[i].hash)
            larger.slots[find_slot(&larger, table->slots[i].hash)] = table->slots[i];
    free(table->slots);
    *table = larger;
}

const int64_t *name_table_find(const struct name_table *table, uint64_t hash)
{
    const struct name_slot *slot = table->n ? &table->slots[find_slot(table, hash)] : NULL;

    return slot && slot->hash ? &slot->number : NULL;
}

void name_table_expect(const struct name_table *table, uint64_t hash)
{
    if (table->n)
        __builtin_prefetch(&table->slots[hash & (table->n_slots - 1)]);
}

void name_table_put(struct name_table *table, uint64_t hash, int64_t number)
{
    if (4 * (table->n + 1) > 3 * table->n_slots)
        grow(table);
    struct name_slot *slot = &table->slots[find_slot(table, hash)];
    if (!slot->hash)
        table->n++;
    *slot = (struct name_slot){hash, number};
}

/* Those behind it that it kept from their homes move up, so that no search ends too early. */
static void close_gap(struct name_table *table, size_t gap)
{
    size_t mask = table->n_slots - 1;

    for (size_t i = next_slot(table, gap); table->slots[i].hash; i = next_slot(table, i)) {
        size_t home = table->slots[i].hash & mask;

        if (((i - home) & mask) < ((i - gap) & mask))
            continue;
        table->slots[gap] = table->slots[i];
        gap = i;
    }
    table->slots[gap] = (struct name_slot){0};
}

void name_table_remove(struct name_table *table, uint64_t hash)
{
    if (!name_table_find(table, hash))
        return;
    table->n--;
    close_gap(table, find_slot(table, hash));
}

void name_table_fini(struct name_table *table)
{
    free(table->slots);
    *table = (struct name_table){0};
}
