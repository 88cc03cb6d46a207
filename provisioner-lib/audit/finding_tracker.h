/* finding_tracker.h - findings over time: which are new, which last, which have gone.
 *
 * What is under way looks like a finding for a moment. So one that was seen once is unconfirmed;
 * it is reported once, after two consecutive scans of its scope have seen it.
 * Pure. Owned by whoever audits.
 */
#pragma once

#include "provisioner-lib/audit/finding.h"

struct finding_tracker;

struct finding_tracker *finding_tracker_new(void);
void finding_tracker_free(struct finding_tracker *tracker);
DEFINE_CLEANUP(struct finding_tracker, finding_tracker_free)

struct finding_callbacks {
    void (*appeared)(void *ctx, const struct finding *finding); /* seen for the second time */
    void (*lasts)(void *ctx, const struct finding *finding);    /* then, and at each scan after */
    void (*went)(void *ctx, const struct finding *finding);     /* one that had been told */
    void *ctx;
};

/* What a scan of one scope ("records", "disks", "node/...") has shown, all of it; takes the list.
 * The callbacks must not use the tracker. */
void finding_tracker_update(struct finding_tracker *tracker, const char *scope,
                            struct findings *seen, const struct finding_callbacks *callbacks);

/* A scope that awaits its second scan; NULL if there is none. */
const char *finding_tracker_unconfirmed(const struct finding_tracker *tracker);
/* The scopes that have something in the tracker, one after the other; `previous` NULL: the first.
 */
const char *finding_tracker_next_scope(const struct finding_tracker *tracker, const char *previous);

/* How many of a kind have been told and last. */
size_t finding_tracker_count(const struct finding_tracker *tracker, enum finding_kind kind);
