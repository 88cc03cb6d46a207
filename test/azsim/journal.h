/* journal.h - every request that was acted on, numbered, for tests that count calls.
 *
 * Entries are JSON objects, one a line, in the file journal.jsonl of the state folder, which is put
 * aside as journal.jsonl.1 when it has grown to JOURNAL_MAX_FILE bytes; the last
 * JOURNAL_MAX_ENTRIES are in memory too. Numbers go on after a restart. Members are described in
 * README.md. Loop's thread.
 */
#pragma once

#include "test/azsim/arm/arm.h"

enum { JOURNAL_MAX_ENTRIES = 20000, JOURNAL_MAX_FILE = 64 * 1024 * 1024 };

struct journal;

struct err *journal_open(const char *folder, struct journal **ret)
    __attribute__((warn_unused_result));
void journal_free(struct journal *journal); /* NULL is fine */
DEFINE_CLEANUP(struct journal, journal_free)

/* arm's record function; `ctx` is the journal. */
void journal_record(void *ctx, const struct arm_record *record);

/* The number of the last entry; 0 if there is none. */
uint64_t journal_last(const struct journal *journal);
/* {"last": N, "entries": [...]} with the entries above a number that are still in memory, at most
 * `limit` of them. */
char *journal_text(const struct journal *journal, uint64_t after, size_t limit)
    __attribute__((warn_unused_result));
