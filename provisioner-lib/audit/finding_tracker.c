#include "provisioner-lib/audit/finding_tracker.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"

struct entry {
    struct finding finding;
    char *scope;
    unsigned scans; /* that have shown it, in a row */
    bool fresh;     /* by the present one too */
    UT_hash_handle hh;
};

struct finding_tracker {
    struct entry *entries; /* by the finding's key */
};

struct finding_tracker *finding_tracker_new(void)
{
    return mem_alloc(sizeof(struct finding_tracker));
}

static void remove_entry(struct finding_tracker *tracker, struct entry *entry)
{
    struct findings list = {.items = mem_copy(&entry->finding, sizeof entry->finding), .n = 1};

    HASH_DEL(tracker->entries, entry);
    findings_fini(&list);
    free(entry->scope);
    free(entry);
}

void finding_tracker_free(struct finding_tracker *tracker)
{
    if (!tracker)
        return;
    HASH_FOREACH(tracker->entries, entry)
        remove_entry(tracker, entry);
    free(tracker);
}

/* What was seen replaces what is there: its text and its object are newer. */
static void note(struct finding_tracker *tracker, const char *scope, const struct finding *seen)
{
    struct entry *entry;
    unsigned scans = 0;

    HASH_FIND_STR(tracker->entries, seen->key, entry);
    if (entry) {
        scans = entry->scans - entry->fresh;
        remove_entry(tracker, entry);
    }
    entry = mem_alloc(sizeof *entry);
    *entry = (struct entry){.finding = *seen, .scope = mem_strdup(scope), .fresh = true};
    entry->scans = scans + 1;
    HASH_ADD_KEYPTR(hh, tracker->entries, entry->finding.key, strlen(entry->finding.key), entry);
}

void finding_tracker_update(struct finding_tracker *tracker, const char *scope,
                            struct findings *seen, const struct finding_callbacks *callbacks)
{
    for (size_t i = 0; i < seen->n; i++)
        note(tracker, scope, &seen->items[i]);
    free(seen->items);
    *seen = (struct findings){0};
    HASH_FOREACH(tracker->entries, entry) {
        bool told = entry->scans >= 2;

        if (strcmp(entry->scope, scope) != 0)
            continue;
        if (!entry->fresh) {
            if (told)
                callbacks->went(callbacks->ctx, &entry->finding);
            remove_entry(tracker, entry);
            continue;
        }
        entry->fresh = false;
        if (entry->scans == 2)
            callbacks->appeared(callbacks->ctx, &entry->finding);
        if (told)
            callbacks->lasts(callbacks->ctx, &entry->finding);
    }
}

const char *finding_tracker_unconfirmed(const struct finding_tracker *tracker)
{
    HASH_FOREACH(tracker->entries, entry)
        if (entry->scans == 1)
            return entry->scope;
    return NULL;
}

const char *finding_tracker_next_scope(const struct finding_tracker *tracker, const char *previous)
{
    const char *next = NULL;

    HASH_FOREACH(tracker->entries, entry)
        if ((!previous || strcmp(entry->scope, previous) > 0) &&
            (!next || strcmp(entry->scope, next) < 0))
            next = entry->scope;
    return next;
}

size_t finding_tracker_count(const struct finding_tracker *tracker, enum finding_kind kind)
{
    size_t n = 0;

    HASH_FOREACH(tracker->entries, entry)
        n += entry->finding.kind == kind && entry->scans >= 2;
    return n;
}
