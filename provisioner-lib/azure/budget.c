#include "provisioner-lib/azure/budget.h"

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
    uint64_t since; /* when the period that runs began; of no meaning when full */
    uint64_t closed_until;
};

/* One that is full and open is as good as none, and is swept away. */
struct resource_bucket {
    struct bucket bucket;
    UT_hash_handle hh;
    char key[]; /* the limit's name and the resource in lower case */
};

struct budget {
    struct bucket methods[METHODS], subscription[ARM_KINDS];
    struct resource_bucket *resources;
    uint64_t swept;
};

const char *arm_kind_name(enum arm_kind kind)
{
    return policies[kind].name;
}

struct budget *budget_new(void)
{
    struct budget *budget = mem_alloc(sizeof *budget);

    for (size_t i = 0; i < METHODS; i++)
        budget->methods[i] = (struct bucket){.limit = &methods[i], .left = methods[i].size};
    for (size_t i = 0; i < ARM_KINDS; i++) {
        const struct limit *limit = &policies[i].subscription;

        budget->subscription[i] = (struct bucket){.limit = limit, .left = limit->size};
    }
    return budget;
}

static void drop(struct budget *budget, struct resource_bucket *found)
{
    HASH_DEL(budget->resources, found);
    free(found);
}

void budget_free(struct budget *budget)
{
    if (!budget)
        return;
    HASH_FOREACH(budget->resources, found) {
        drop(budget, found);
    }
    free(budget);
}

/* ---- one bucket ---- */

static void refill(struct bucket *bucket, uint64_t now)
{
    const struct limit *limit = bucket->limit;
    uint64_t periods = now > bucket->since ? (now - bucket->since) / limit->period_ms : 0;
    uint64_t left = bucket->left + periods * limit->refill;

    bucket->left = left < limit->size ? (unsigned)left : limit->size;
    bucket->since += periods * limit->period_ms;
}

static bool is_full(const struct bucket *bucket)
{
    return bucket->left == bucket->limit->size;
}

static void take(struct bucket *bucket, unsigned n, uint64_t now)
{
    if (is_full(bucket))
        bucket->since = now + TRAVEL_MS;
    bucket->left -= n < bucket->left ? n : bucket->left;
}

static uint64_t due(const struct bucket *bucket, uint64_t now)
{
    uint64_t at = bucket->left > 0 ? now : bucket->since + bucket->limit->period_ms;

    return at > bucket->closed_until ? at : bucket->closed_until;
}

/* ---- the buckets of a request ---- */

static void sweep(struct budget *budget, uint64_t now)
{
    if (now - budget->swept < SWEEP_MS)
        return;
    budget->swept = now;
    HASH_FOREACH(budget->resources, found) {
        refill(&found->bucket, now);
        if (is_full(&found->bucket) && found->bucket.closed_until <= now)
            drop(budget, found);
    }
}

static struct bucket *resource_bucket(struct budget *budget, enum arm_kind kind,
                                      const char *resource, uint64_t now)
{
    const struct limit *limit = &policies[kind].resource;
    struct resource_bucket *found;

    if (!limit->name || !resource)
        return NULL;
    sweep(budget, now);
    CLEANUP(freep) char *lower = mem_lower(resource);
    CLEANUP(freep) char *key = mem_printf("%s %s", limit->name, lower);
    size_t length = strlen(key);
    HASH_FIND(hh, budget->resources, key, length, found);
    if (!found) {
        found = mem_alloc(sizeof *found + length + 1);
        found->bucket = (struct bucket){.limit = limit, .left = limit->size};
        memcpy(found->key, key, length + 1);
        HASH_ADD_KEYPTR(hh, budget->resources, found->key, length, found);
    }
    return &found->bucket;
}

/* The bucket of a scope, refilled; NULL if there is none. */
static struct bucket *find(struct budget *budget, enum arm_kind kind, const char *resource,
                           enum budget_scope scope, uint64_t now)
{
    struct bucket *bucket = NULL;

    switch (scope) {
    case BUDGET_RESOURCE:
        bucket = resource_bucket(budget, kind, resource, now);
        break;
    case BUDGET_SUBSCRIPTION:
        bucket = policies[kind].subscription.name ? &budget->subscription[kind] : NULL;
        break;
    case BUDGET_METHOD:
        bucket = &budget->methods[policies[kind].method];
        break;
    }
    if (bucket)
        refill(bucket, now);
    return bucket;
}

uint64_t budget_due(struct budget *budget, enum arm_kind kind, const char *resource, uint64_t now)
{
    uint64_t latest = now;

    for (int scope = BUDGET_RESOURCE; scope <= BUDGET_METHOD; scope++) {
        struct bucket *bucket = find(budget, kind, resource, (enum budget_scope)scope, now);
        uint64_t at = bucket ? due(bucket, now) : now;

        latest = at > latest ? at : latest;
    }
    return latest;
}

bool budget_is_closed(struct budget *budget, enum arm_kind kind, const char *resource, uint64_t now)
{
    bool closed = false;

    for (int scope = BUDGET_RESOURCE; scope <= BUDGET_METHOD; scope++) {
        const struct bucket *bucket = find(budget, kind, resource, (enum budget_scope)scope, now);

        closed |= bucket && bucket->closed_until > now;
    }
    return closed;
}

void budget_spend(struct budget *budget, enum arm_kind kind, const char *resource, uint64_t now)
{
    for (int scope = BUDGET_RESOURCE; scope <= BUDGET_METHOD; scope++) {
        struct bucket *bucket = find(budget, kind, resource, (enum budget_scope)scope, now);

        if (bucket)
            take(bucket, 1, now);
    }
}

uint64_t budget_pace(struct budget *budget, enum arm_kind kind, const char *resource, uint64_t now)
{
    const struct bucket *bucket = find(budget, kind, resource, BUDGET_RESOURCE, now);

    if (!bucket || bucket->left * 2 >= bucket->limit->size)
        return 0;
    return bucket->limit->period_ms / bucket->limit->refill;
}

/* ---- what answers say ---- */

bool budget_scope_of(enum arm_kind kind, const char *limit, enum budget_scope *ret)
{
    const struct policy *policy = &policies[kind];
    const char *const names[] = {[BUDGET_RESOURCE] = policy->resource.name,
                                 [BUDGET_SUBSCRIPTION] = policy->subscription.name,
                                 [BUDGET_METHOD] = methods[policy->method].name};

    for (size_t scope = 0; scope < COUNT_OF(names); scope++) {
        if (!names[scope] || strcasecmp(names[scope], limit) != 0)
            continue;
        *ret = (enum budget_scope)scope;
        return true;
    }
    return false;
}

void budget_note(struct budget *budget, enum arm_kind kind, const char *resource, const char *limit,
                 unsigned left, uint64_t now)
{
    enum budget_scope scope;

    if (!budget_scope_of(kind, limit, &scope))
        return;
    struct bucket *bucket = find(budget, kind, resource, scope, now);
    if (bucket && left < bucket->left)
        take(bucket, bucket->left - left, now);
}

void budget_close(struct budget *budget, enum arm_kind kind, const char *resource,
                  enum budget_scope scope, uint64_t until, uint64_t now)
{
    struct bucket *bucket = find(budget, kind, resource, scope, now);

    if (!bucket && scope == BUDGET_RESOURCE)
        bucket = find(budget, kind, resource, BUDGET_SUBSCRIPTION, now);
    if (!bucket)
        bucket = find(budget, kind, resource, BUDGET_METHOD, now);
    if (until > bucket->closed_until)
        bucket->closed_until = until;
}

unsigned budget_left(struct budget *budget, enum arm_kind kind, enum budget_scope scope,
                     uint64_t now)
{
    const struct limit *limit = &policies[kind].resource;
    unsigned least = limit->size;

    if (scope != BUDGET_RESOURCE) {
        struct bucket *bucket = find(budget, kind, NULL, scope, now);
        return bucket ? bucket->left : 0;
    }
    HASH_FOREACH(budget->resources, found) {
        if (found->bucket.limit != limit)
            continue;
        refill(&found->bucket, now);
        least = found->bucket.left < least ? found->bucket.left : least;
    }
    return least;
}
