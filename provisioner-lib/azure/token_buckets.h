/* token_buckets.h - how many requests Azure still takes from us: its token buckets, kept on our
 * side.
 *
 * Azure counts requests by kind in buckets, one for each VM and one for the subscription, and
 * Resource Manager counts all reads, writes and deletes of the subscription on top of that. The
 * published sizes and refills are a table in token_buckets.c. A bucket is full at first; from the
 * request that finds it full, its refill comes in one piece after each period. What answers say is
 * left lowers our own count, because others may use the same subscription; a refusal closes its
 * buckets until its Retry-After. Pure: time is the caller's, in milliseconds.
 *
 * Guarantees, for any sequence of calls:
 *   - a request whose token_buckets_due() is now finds a token in every bucket that it is charged
 *     to;
 *   - nothing is due before the end of a refusal that concerns it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/cleanup.h"

/* What is asked of Azure, as its buckets and our metrics tell it apart. An instance is a VM of a
 * uniform scale set. */
enum arm_kind {
    ARM_SKU_READ,
    ARM_DISK_READ,
    ARM_DISK_WRITE,
    ARM_DISK_DELETE,
    ARM_DISK_OPERATION_READ,
    ARM_VM_READ,
    ARM_VM_UPDATE,
    ARM_INSTANCE_READ,
    ARM_INSTANCE_UPDATE,
    ARM_OPERATION_READ, /* of a change of a VM or an instance */
    ARM_KINDS,
};

const char *arm_kind_name(enum arm_kind kind); /* for metrics: "vm_update" */

struct token_buckets;

struct token_buckets *token_buckets_new(void);
void token_buckets_free(struct token_buckets *buckets);
DEFINE_CLEANUP(struct token_buckets, token_buckets_free)

/* `resource`: id of the VM or instance that a request is about, in any case; NULL if about none. */

/* When a request may go out: `now`, or the time to ask again. */
uint64_t token_buckets_due(struct token_buckets *buckets, enum arm_kind kind, const char *resource,
                           uint64_t now);
/* Whether Azure has refused such requests until later than now. */
bool token_buckets_is_closed(struct token_buckets *buckets, enum arm_kind kind,
                             const char *resource, uint64_t now);
/* One goes out. */
void token_buckets_spend(struct token_buckets *buckets, enum arm_kind kind, const char *resource,
                         uint64_t now);

/* How far apart requests about one VM should be so that it never runs out: 0 while its bucket is at
 * least half full, then the time in which a token comes back. */
uint64_t token_buckets_pace(struct token_buckets *buckets, enum arm_kind kind, const char *resource,
                            uint64_t now);

/* An answer said that this is left in the bucket that Azure calls `limit`, such as
 * "UpdateVMResource" or "subscription-writes". Names that are not in the table are ignored. */
void token_buckets_note(struct token_buckets *buckets, enum arm_kind kind, const char *resource,
                        const char *limit, unsigned left, uint64_t now);

/* Which of a request's buckets a refusal is about. */
enum bucket_scope {
    BUCKET_RESOURCE,     /* the VM's; the kind's if it has none */
    BUCKET_SUBSCRIPTION, /* all requests of the kind */
    BUCKET_METHOD,       /* Resource Manager's: all reads, writes or deletes */
};
/* The scope of a bucket by Azure's name for it; false if the kind has no such bucket. */
bool bucket_scope_of(enum arm_kind kind, const char *limit, enum bucket_scope *ret);
/* Nothing goes out until then. */
void token_buckets_close(struct token_buckets *buckets, enum arm_kind kind, const char *resource,
                         enum bucket_scope scope, uint64_t until, uint64_t now);
/* Azure has said that it is empty, and when more is added, which counts more than what was reckoned
 * here: others may have taken from it, before this process began, too. */
void token_buckets_refill_at(struct token_buckets *buckets, enum arm_kind kind,
                             const char *resource, enum bucket_scope scope, uint64_t at,
                             uint64_t now);

/* What is left for requests of a kind that are about no VM in particular, and in the VM's bucket
 * that has least; the bucket's size if all are full, or there is none. */
unsigned token_buckets_left(struct token_buckets *buckets, enum arm_kind kind,
                            enum bucket_scope scope, uint64_t now);
