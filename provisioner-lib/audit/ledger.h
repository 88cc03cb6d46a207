/* ledger.h - differences over time: which are new, which last, which have gone.
 *
 * What is under way looks like a difference for a moment. So one that was seen once is only
 * doubtful; seen by two looks in a row at the same scope it is told, once, for as long as it lasts.
 * Pure. Owned by whoever audits.
 */
#pragma once

#include "provisioner-lib/audit/difference.h"

struct ledger;

struct ledger *ledger_new(void);
void ledger_free(struct ledger *ledger);
DEFINE_CLEANUP(struct ledger, ledger_free)

struct ledger_callbacks {
    void (*appeared)(void *ctx, const struct difference *difference); /* seen for the second time */
    void (*lasts)(void *ctx,
                  const struct difference *difference);           /* then, and at each look after */
    void (*went)(void *ctx, const struct difference *difference); /* one that had been told */
    void *ctx;
};

/* What a look at one scope ("records", "disks", "node/...") has shown, all of it; takes the list.
 * The callbacks must not use the ledger. */
void ledger_take(struct ledger *ledger, const char *scope, struct differences *seen,
                 const struct ledger_callbacks *callbacks);

/* A scope that awaits its second look; NULL if there is none. */
const char *ledger_doubtful(const struct ledger *ledger);
/* The scopes that have something in the ledger, one after the other; `previous` NULL: the first. */
const char *ledger_next_scope(const struct ledger *ledger, const char *previous);

/* How many of a kind have been told and last. */
size_t ledger_count(const struct ledger *ledger, enum difference_kind kind);
