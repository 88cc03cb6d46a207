#include "provisioner-lib/audit/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"

struct entry {
    struct difference difference;
    char *scope;
    unsigned looks; /* that have shown it, in a row */
    bool fresh;     /* by the present one too */
    UT_hash_handle hh;
};

struct ledger {
    struct entry *entries; /* by the difference's key */
};

struct ledger *ledger_new(void)
{
    return mem_alloc(sizeof(struct ledger));
}

static void remove_entry(struct ledger *ledger, struct entry *entry)
{
    struct differences list = {.items = mem_copy(&entry->difference, sizeof entry->difference),
                               .n = 1};

    HASH_DEL(ledger->entries, entry);
    differences_fini(&list);
    free(entry->scope);
    free(entry);
}

void ledger_free(struct ledger *ledger)
{
    if (!ledger)
        return;
    HASH_FOREACH(ledger->entries, entry)
        remove_entry(ledger, entry);
    free(ledger);
}

/* What was seen replaces what is there: its text and its object are newer. */
static void note(struct ledger *ledger, const char *scope, const struct difference *seen)
{
    struct entry *entry;
    unsigned looks = 0;

    HASH_FIND_STR(ledger->entries, seen->key, entry);
    if (entry) {
        looks = entry->looks - entry->fresh;
        remove_entry(ledger, entry);
    }
    entry = mem_alloc(sizeof *entry);
    *entry = (struct entry){.difference = *seen, .scope = mem_strdup(scope), .fresh = true};
    entry->looks = looks + 1;
    HASH_ADD_KEYPTR(hh, ledger->entries, entry->difference.key, strlen(entry->difference.key),
                    entry);
}

void ledger_take(struct ledger *ledger, const char *scope, struct differences *seen,
                 const struct ledger_callbacks *callbacks)
{
    for (size_t i = 0; i < seen->n; i++)
        note(ledger, scope, &seen->items[i]);
    free(seen->items);
    *seen = (struct differences){0};
    HASH_FOREACH(ledger->entries, entry) {
        bool told = entry->looks >= 2;

        if (strcmp(entry->scope, scope) != 0)
            continue;
        if (!entry->fresh) {
            if (told)
                callbacks->went(callbacks->ctx, &entry->difference);
            remove_entry(ledger, entry);
            continue;
        }
        entry->fresh = false;
        if (entry->looks == 2)
            callbacks->appeared(callbacks->ctx, &entry->difference);
        if (told)
            callbacks->lasts(callbacks->ctx, &entry->difference);
    }
}

const char *ledger_doubtful(const struct ledger *ledger)
{
    HASH_FOREACH(ledger->entries, entry)
        if (entry->looks == 1)
            return entry->scope;
    return NULL;
}

const char *ledger_next_scope(const struct ledger *ledger, const char *previous)
{
    const char *next = NULL;

    HASH_FOREACH(ledger->entries, entry)
        if ((!previous || strcmp(entry->scope, previous) > 0) &&
            (!next || strcmp(entry->scope, next) < 0))
            next = entry->scope;
    return next;
}

size_t ledger_count(const struct ledger *ledger, enum difference_kind kind)
{
    size_t n = 0;

    HASH_FOREACH(ledger->entries, entry)
        n += entry->difference.kind == kind && entry->looks >= 2;
    return n;
}
