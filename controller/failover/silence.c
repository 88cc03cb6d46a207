#include "controller/failover/silence.h"

#include <stdlib.h>
#include <string.h>

#include "controller/failover/silent_zones.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/hash.h"
#include "lib/base/text.h"
#include "lib/base/timestamp.h"

enum {
    MS_IN_S = 1000,
    US_IN_MS = 1000,
    TOGETHER_MS = 10 * 60 * MS_IN_S,
    SLACK_MS = 1000,
    KUBELET_S = 40, /* leaseDurationSeconds of a kubelet that says nothing of it */
};

struct silent_node {
    char *node, *renewed, *holder; /* in the Lease's words */
    char *boot_id; /* the Node's, when it was seen to be renewed; NULL: it was not, as yet */
    uint64_t ms, renewal_ms;
    int64_t renewed_us;    /* by the node's clock */
    char *kubelet_renewed; /* in the words of kubelet's Lease, when it was seen last; or NULL */
    uint64_t kubelet_ms;   /* for which it has been so */
    unsigned read;
    bool told;    /* to be silent */
    bool overdue; /* and its node is in service */
    char *zone;   /* of such a node, or of one that is heard of; NULL: it is out of service */
    UT_hash_handle hh;
};

static void drop(struct silence *silence, struct silent_node *entry)
{
    HASH_DEL(silence->nodes, entry);
    free(entry->node);
    free(entry->renewed);
    free(entry->holder);
    free(entry->boot_id);
    free(entry->kubelet_renewed);
    free(entry->zone);
    free(entry);
}

static struct silent_node *find(const struct silence *silence, const char *node)
{
    struct silent_node *entry;

    HASH_FIND_STR(silence->nodes, node, entry);
    return entry;
}

/* Not before the plug-in's own promise is broken, whatever the grace period is. */
static uint64_t silent_after_ms(const struct silence *silence, const struct silent_node *entry)
{
    uint64_t promise_ms = (NODE_LEASE_RENEWALS + 1) * entry->renewal_ms;

    return promise_ms > silence->grace_ms ? promise_ms : silence->grace_ms;
}

static bool is_silent(const struct silence *silence, const struct silent_node *entry)
{
    return entry->ms >= silent_after_ms(silence, entry);
}

/* Of nodes that are cut off together, the last may have renewed its Lease one renewal after the
 * first, and have been read one read later. */
static bool is_overdue(const struct silence *silence, const struct silent_node *entry)
{
    return entry->ms + entry->renewal_ms + silence->period_ms >= silent_after_ms(silence, entry);
}

/* ---- reading ---- */

void silence_begin(struct silence *silence, uint64_t begun)
{
    uint64_t gap = silence->read_at && begun > silence->read_at ? begun - silence->read_at : 0;
    uint64_t most = 2 * silence->period_ms;

    silence->counted_ms = gap < most ? gap : most;
    silence->reads++;
}

static struct silent_node *add(struct silence *silence, const char *node)
{
    struct silent_node *entry = mem_alloc(sizeof *entry);

    entry->node = mem_strdup(node);
    HASH_ADD_KEYPTR(hh, silence->nodes, entry->node, strlen(entry->node), entry);
    return entry;
}

/* One without a holder was given up in good order. */
void silence_note(struct silence *silence, const Api__Lease *lease, const char *boot_id)
{
    const Api__LeaseSpec *spec = lease->spec;
    struct silent_node *entry = find(silence, lease->metadata->name);
    bool known = entry;

    if (!spec || !spec->holder_identity || !*spec->holder_identity || !spec->renew_time)
        return;
    if (!entry)
        entry = add(silence, lease->metadata->name);
    if (same_text(entry->renewed, spec->renew_time)) {
        entry->ms += silence->counted_ms;
        entry->kubelet_ms += silence->counted_ms;
    } else {
        free(entry->renewed);
        entry->renewed = mem_strdup(spec->renew_time);
        entry->renewed_us = timestamp_noted(spec->renew_time);
        entry->ms = 0;
        free(entry->boot_id);
        entry->boot_id = known ? mem_strdup(boot_id) : NULL;
    }
    free(entry->holder);
    entry->holder = mem_strdup(spec->holder_identity);
    entry->renewal_ms = spec->lease_duration_seconds > 0
                            ? (uint64_t)spec->lease_duration_seconds * MS_IN_S / NODE_LEASE_RENEWALS
                            : 0;
    entry->read = silence->reads;
}

void silence_end(struct silence *silence, uint64_t now)
{
    silence->read_at = now;
    HASH_FOREACH(silence->nodes, entry) {
        if (entry->read == silence->reads)
            continue;
        entry->ms = 0; /* what was told to be silent is told to be so no more, and then forgotten */
        if (!entry->told)
            drop(silence, entry);
    }
}

/* What it noted so far counts less than it could. */
void silence_failed(struct silence *silence)
{
    silence->read_at = 0;
}

void silence_clear(struct silence *silence)
{
    HASH_FOREACH(silence->nodes, entry)
        drop(silence, entry);
}

/* ---- kubelet ---- */

static void note_kubelet(struct silent_node *entry, const char *renewed)
{
    if (same_text(entry->kubelet_renewed, renewed))
        return;
    free(entry->kubelet_renewed);
    entry->kubelet_renewed = mem_strdup(renewed);
    entry->kubelet_ms = 0;
}

/* Both Leases are renewed by the node's own clock. A kubelet that has renewed its own since the
 * plug-in must have renewed again was alive then, and so was the node: also one that was started
 * anew, and whose plug-in has no reason yet to renew the Lease of its former life. */
static bool outlived_plugin(const struct silent_node *entry, const char *kubelet_renewed)
{
    int64_t most_us = (int64_t)(entry->renewal_ms + SLACK_MS) * US_IN_MS;

    return timestamp_noted(kubelet_renewed) > entry->renewed_us + most_us;
}

bool silence_note_kubelet(struct silence *silence, const char *node, const Api__Lease *lease)
{
    struct silent_node *entry = find(silence, node);
    const Api__LeaseSpec *spec = lease->spec;

    if (!entry || !spec || !spec->renew_time)
        return entry != NULL;
    note_kubelet(entry, spec->renew_time);
    int32_t promise_s = spec->lease_duration_seconds > 0 ? spec->lease_duration_seconds : KUBELET_S;
    return !outlived_plugin(entry, spec->renew_time) ||
           entry->kubelet_ms >= (uint64_t)promise_s * MS_IN_S;
}

/* ---- what has come of it ---- */

const char *silence_since(const struct silence *silence, const char *node)
{
    const struct silent_node *entry = find(silence, node);

    return entry && is_silent(silence, entry) ? entry->renewed : NULL;
}

const char *silence_boot_id(const struct silence *silence, const char *node)
{
    const struct silent_node *entry = find(silence, node);

    return entry ? entry->holder : NULL;
}

bool silence_is_of_boot(const struct silence *silence, const char *node, const char *boot_id)
{
    const struct silent_node *entry = find(silence, node);

    return entry && boot_id &&
           (same_text(entry->holder, boot_id) || same_text(entry->boot_id, boot_id));
}

uint64_t silence_ms(const struct silence *silence, const char *node)
{
    const struct silent_node *entry = find(silence, node);

    return entry ? entry->ms : 0;
}

void silence_each_news(struct silence *silence,
                       void (*fn)(void *ctx, const char *node, bool changed), void *ctx)
{
    HASH_FOREACH(silence->nodes, entry) {
        bool silent = is_silent(silence, entry);

        if (silent || entry->told)
            fn(ctx, entry->node, silent != entry->told);
        entry->told = silent;
    }
}

void silence_note_overdue(struct silence *silence,
                          const char *(*zone_of)(void *ctx, const char *node), void *ctx)
{
    HASH_FOREACH(silence->nodes, entry) {
        free(entry->zone);
        entry->zone = mem_strdup(zone_of(ctx, entry->node));
        entry->overdue = entry->zone && is_overdue(silence, entry);
    }
}

unsigned silence_overdue_with(const struct silence *silence, const char *node)
{
    const struct silent_node *with = find(silence, node);
    int64_t since_us = with ? with->renewed_us - (int64_t)TOGETHER_MS * US_IN_MS : 0;
    struct silent_zones zones = {0};

    HASH_FOREACH(silence->nodes, entry) {
        if (entry->zone && (!entry->overdue || entry->renewed_us >= since_us))
            silent_zones_add(&zones, entry->zone, entry->overdue);
    }
    unsigned n = silent_zones_count(&zones);
    silent_zones_fini(&zones);
    return n;
}
