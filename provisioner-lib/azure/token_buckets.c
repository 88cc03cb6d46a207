#include "provisioner-lib/azure/token_buckets.h"

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    /* Azure's period begins when a request arrives there, which is later than here. */
    TRAVEL_MS = SECOND_MS,
    SWEEP_MS = 10 * MINUTE_MS,
};

/* A bucket's name in headers, how much is added in each period, and its size. */
struct limit {
    const char *name; /* NULL: there is no such bucket */
    unsigned refill, size;
    uint64_t period_ms;
};

enum method { METHOD_READ, METHOD_WRITE, METHOD_DELETE, METHODS };

/* Of Resource Manager, for one caller in a subscription. */
static const struct limit methods[METHODS] = {
    [METHOD_READ] = {"subscription-reads", 25, 250, SECOND_MS},
    [METHOD_WRITE] = {"subscription-writes", 10, 200, SECOND_MS},
    [METHOD_DELETE] = {"subscription-deletes", 10, 200, SECOND_MS},
};

#define BY_MINUTE(name, refill, size, all_refill, all_size)                                        \
    {name "Resource", refill, size, MINUTE_MS},                                                    \
    {                                                                                              \
        name "SubscriptionMaximum", all_refill, all_size, MINUTE_MS                                \
    }
/* Of older kinds only the subscription's calls in three minutes are known. */
#define BY_WINDOW(name, size)                                                                      \
    {0},                                                                                           \
    {                                                                                              \
        name "3Min", size, size, 3 * MINUTE_MS                                                     \
    }

static const struct policy {
    const char *name;
    enum method method;
    struct limit resource, subscription;
} policies[ARM_KINDS] = {
    [ARM_SKU_READ] = {"sku_read", METHOD_READ, {0}, {0}},
    [ARM_DISK_READ] = {"disk_read", METHOD_READ, BY_WINDOW("LowCostGet", 15000)},
    [ARM_DISK_WRITE] = {"disk_write", METHOD_WRITE, BY_WINDOW("CreateUpdateDisks", 3000)},
    [ARM_DISK_DELETE] = {"disk_delete", METHOD_DELETE, BY_WINDOW("DeleteDisks", 1000)},
    [ARM_DISK_OPERATION_READ] = {"disk_operation_read", METHOD_READ,
                                 BY_WINDOW("GetOperation", 50000)},
    [ARM_VM_READ] = {"vm_read", METHOD_READ, BY_MINUTE("LowCostGetVM", 12, 36, 8000, 24000)},
    [ARM_VM_UPDATE] = {"vm_update", METHOD_WRITE, BY_MINUTE("UpdateVM", 4, 12, 500, 1500)},
    [ARM_INSTANCE_READ] = {"instance_read", METHOD_READ,
                           BY_MINUTE("GetVMScaleSetVM", 12, 36, 2000, 6000)},
    [ARM_INSTANCE_UPDATE] = {"instance_update", METHOD_WRITE,
                             BY_MINUTE("UpdateVMScaleSetVM", 4, 12, 500, 1500)},
    [ARM_OPERATION_READ] = {"operation_read", METHOD_READ,
                            BY_MINUTE("GetOperation", 15, 45, 5000, 15000)},
};

struct bucket {
    const struct limit *limit;
    unsigned left;
    uint64_t next; /* when more is added; of no meaning when full */
    uint64_t closed_until;
};

/* One that is full and open is as good as none, and is swept away. */
struct resource_bucket {
    struct bucket bucket;
    UT_hash_handle hh;
    char key[]; /* the limit's name and the resource in lower case */
};

struct token_buckets {
    struct bucket methods[METHODS], subscription[ARM_KINDS];
    struct resource_bucket *resources;
    uint64_t swept;
};

const char *arm_kind_name(enum arm_kind kind)
{
    return policies[kind].name;
}

struct token_buckets *token_buckets_new(void)
{
    struct token_buckets *buckets = mem_alloc(sizeof *buckets);

    for (size_t i = 0; i < METHODS; i++)
        buckets->methods[i] = (struct bucket){.limit = &methods[i], .left = methods[i].size};
    for (size_t i = 0; i < ARM_KINDS; i++) {
        const struct limit *limit = &policies[i].subscription;

        buckets->subscription[i] = (struct bucket){.limit = limit, .left = limit->size};
    }
    return buckets;
}

static void drop(struct token_buckets *buckets, struct resource_bucket *found)
{
    HASH_DEL(buckets->resources, found);
    free(found);
}

void token_buckets_free(struct token_buckets *buckets)
{
    if (!buckets)
        return;
    HASH_FOREACH(buckets->resources, found) {
        drop(buckets, found);
    }
    free(buckets);
}

/* ---- one bucket ---- */

static void refill(struct bucket *bucket, uint64_t now)
{
    const struct limit *limit = bucket->limit;
    uint64_t periods = now >= bucket->next ? 1 + (now - bucket->next) / limit->period_ms : 0;
    uint64_t left = bucket->left + periods * limit->refill;

    bucket->left = left < limit->size ? (unsigned)left : limit->size;
    bucket->next += periods * limit->period_ms;
}

static bool is_full(const struct bucket *bucket)
{
    return bucket->left == bucket->limit->size;
}

static void take(struct bucket *bucket, unsigned n, uint64_t now)
{
    if (is_full(bucket))
        bucket->next = now + TRAVEL_MS + bucket->limit->period_ms;
    bucket->left -= n < bucket->left ? n : bucket->left;
}

static uint64_t due(const struct bucket *bucket, uint64_t now)
{
    uint64_t at = bucket->left > 0 ? now : bucket->next;

    return at > bucket->closed_until ? at : bucket->closed_until;
}

/* ---- the buckets of a request ---- */

static void sweep(struct token_buckets *buckets, uint64_t now)
{
    if (now - buckets->swept < SWEEP_MS)
        return;
    buckets->swept = now;
    HASH_FOREACH(buckets->resources, found) {
        refill(&found->bucket, now);
        if (is_full(&found->bucket) && found->bucket.closed_until <= now)
            drop(buckets, found);
    }
}

static struct bucket *resource_bucket(struct token_buckets *buckets, enum arm_kind kind,
                                      const char *resource, uint64_t now)
{
    const struct limit *limit = &policies[kind].resource;
    struct resource_bucket *found;

    if (!limit->name || !resource)
        return NULL;
    sweep(buckets, now);
    CLEANUP(freep) char *lower = mem_lower(resource);
    CLEANUP(freep) char *key = mem_printf("%s %s", limit->name, lower);
    size_t length = strlen(key);
    HASH_FIND(hh, buckets->resources, key, length, found);
    if (!found) {
        found = mem_alloc(sizeof *found + length + 1);
        found->bucket = (struct bucket){.limit = limit, .left = limit->size};
        memcpy(found->key, key, length + 1);
        HASH_ADD_KEYPTR(hh, buckets->resources, found->key, length, found);
    }
    return &found->bucket;
}

/* The bucket of a scope, refilled; NULL if there is none. */
static struct bucket *find(struct token_buckets *buckets, enum arm_kind kind, const char *resource,
                           enum bucket_scope scope, uint64_t now)
{
    struct bucket *bucket = NULL;

    switch (scope) {
    case BUCKET_RESOURCE:
        bucket = resource_bucket(buckets, kind, resource, now);
        break;
    case BUCKET_SUBSCRIPTION:
        bucket = policies[kind].subscription.name ? &buckets->subscription[kind] : NULL;
        break;
    case BUCKET_METHOD:
        bucket = &buckets->methods[policies[kind].method];
        break;
    }
    if (bucket)
        refill(bucket, now);
    return bucket;
}

uint64_t token_buckets_due(struct token_buckets *buckets, enum arm_kind kind, const char *resource,
                           uint64_t now)
{
    uint64_t latest = now;

    for (int scope = BUCKET_RESOURCE; scope <= BUCKET_METHOD; scope++) {
        struct bucket *bucket = find(buckets, kind, resource, (enum bucket_scope)scope, now);
        uint64_t at = bucket ? due(bucket, now) : now;

        latest = at > latest ? at : latest;
    }
    return latest;
}

bool token_buckets_is_closed(struct token_buckets *buckets, enum arm_kind kind,
                             const char *resource, uint64_t now)
{
    bool closed = false;

    for (int scope = BUCKET_RESOURCE; scope <= BUCKET_METHOD; scope++) {
        const struct bucket *bucket = find(buckets, kind, resource, (enum bucket_scope)scope, now);

        closed |= bucket && bucket->closed_until > now;
    }
    return closed;
}

void token_buckets_spend(struct token_buckets *buckets, enum arm_kind kind, const char *resource,
                         uint64_t now)
{
    for (int scope = BUCKET_RESOURCE; scope <= BUCKET_METHOD; scope++) {
        struct bucket *bucket = find(buckets, kind, resource, (enum bucket_scope)scope, now);

        if (bucket)
            take(bucket, 1, now);
    }
}

uint64_t token_buckets_pace(struct token_buckets *buckets, enum arm_kind kind, const char *resource,
                            uint64_t now)
{
    const struct bucket *bucket = find(buckets, kind, resource, BUCKET_RESOURCE, now);

    if (!bucket || bucket->left * 2 >= bucket->limit->size)
        return 0;
    return bucket->limit->period_ms / bucket->limit->refill;
}

/* ---- what answers say ---- */

bool bucket_scope_of(enum arm_kind kind, const char *limit, enum bucket_scope *ret)
{
    const struct policy *policy = &policies[kind];
    const char *const names[] = {[BUCKET_RESOURCE] = policy->resource.name,
                                 [BUCKET_SUBSCRIPTION] = policy->subscription.name,
                                 [BUCKET_METHOD] = methods[policy->method].name};

    for (size_t scope = 0; scope < COUNT_OF(names); scope++) {
        if (!names[scope] || strcasecmp(names[scope], limit) != 0)
            continue;
        *ret = (enum bucket_scope)scope;
        return true;
    }
    return false;
}

void token_buckets_note(struct token_buckets *buckets, enum arm_kind kind, const char *resource,
                        const char *limit, unsigned left, uint64_t now)
{
    enum bucket_scope scope;

    if (!bucket_scope_of(kind, limit, &scope))
        return;
    struct bucket *bucket = find(buckets, kind, resource, scope, now);
    if (bucket && left < bucket->left)
        take(bucket, bucket->left - left, now);
}

/* The same, or the next wider one if there is none. */
static struct bucket *find_refused(struct token_buckets *buckets, enum arm_kind kind,
                                   const char *resource, enum bucket_scope scope, uint64_t now)
{
    struct bucket *bucket = find(buckets, kind, resource, scope, now);

    if (!bucket && scope == BUCKET_RESOURCE)
        bucket = find(buckets, kind, resource, BUCKET_SUBSCRIPTION, now);
    return bucket ? bucket : find(buckets, kind, resource, BUCKET_METHOD, now);
}

void token_buckets_close(struct token_buckets *buckets, enum arm_kind kind, const char *resource,
                         enum bucket_scope scope, uint64_t until, uint64_t now)
{
    struct bucket *bucket = find_refused(buckets, kind, resource, scope, now);

    if (until > bucket->closed_until)
        bucket->closed_until = until;
}

void token_buckets_refill_at(struct token_buckets *buckets, enum arm_kind kind,
                             const char *resource, enum bucket_scope scope, uint64_t at,
                             uint64_t now)
{
    struct bucket *bucket = find_refused(buckets, kind, resource, scope, now);

    bucket->left = 0;
    bucket->next = at;
}

unsigned token_buckets_left(struct token_buckets *buckets, enum arm_kind kind,
                            enum bucket_scope scope, uint64_t now)
{
    const struct limit *limit = &policies[kind].resource;
    unsigned least = limit->size;

    if (scope != BUCKET_RESOURCE) {
        struct bucket *bucket = find(buckets, kind, NULL, scope, now);
        return bucket ? bucket->left : 0;
    }
    HASH_FOREACH(buckets->resources, found) {
        if (found->bucket.limit != limit)
            continue;
        refill(&found->bucket, now);
        least = found->bucket.left < least ? found->bucket.left : least;
    }
    return least;
}
