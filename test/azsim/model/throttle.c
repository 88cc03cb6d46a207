#include "test/azsim/model/throttle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"

enum { MINUTE_S = 60, GLOBAL_FACTOR = 15 };

static const double LEAST_FACTOR = 0.001, MOST_FACTOR = 1000000;

struct limit {
    const char *name;
    bool of_subscription;
    unsigned refill, size, period_s;
};

#define MINUTE_ROW(policy, name, refill, size, all_refill, all_size)                               \
    [THROTTLE_##policy] = {{name "Resource", false, refill, size, MINUTE_S},                       \
                           {name "SubscriptionMaximum", true, all_refill, all_size, MINUTE_S}},
#define WINDOW_ROW(policy, name, short_size, long_size)                                            \
    [THROTTLE_##policy] = {{name "3Min", true, short_size, short_size, 3 * MINUTE_S},              \
                           {name "30Min", true, long_size, long_size, 30 * MINUTE_S}},
#define CALLER_ROW(policy, name, refill, size)                                                     \
    [THROTTLE_##policy] = {                                                                        \
        {"subscription-" name, false, refill, size, 1},                                            \
        {"subscription-global-" name, true, GLOBAL_FACTOR * refill, GLOBAL_FACTOR * size, 1}},

static const struct limit policies[THROTTLE_POLICY_COUNT][2] = {
    THROTTLE_BY_MINUTE(MINUTE_ROW) THROTTLE_BY_WINDOW(WINDOW_ROW)
        THROTTLE_BY_CALLER(CALLER_ROW)[THROTTLE_LIST_VMS] = {
            {THROTTLE_LIST_VMS_NAME "SubscriptionMaximum", true, 300, 900, MINUTE_S}}};

/* One that is full is as good as none and may be missing. */
struct bucket {
    const struct limit *limit;
    char *subscription, *owner;
    unsigned left, refused; /* refused: since the last refill */
    uint64_t since_ms;      /* of the period that runs; of no meaning when full */
    UT_hash_handle hh;
    char key[]; /* the limit's name, the subscription and the owner */
};

struct throttle {
    double factor; /* 0: off */
    char *text;    /* as it was set */
    struct bucket *buckets;
    uint64_t swept_ms;
};

struct throttle *throttle_new(void)
{
    struct throttle *throttle = mem_alloc(sizeof *throttle);

    throttle->factor = 1;
    throttle->text = mem_strdup("on");
    return throttle;
}

static void drop(struct throttle *throttle, struct bucket *bucket)
{
    HASH_DEL(throttle->buckets, bucket);
    free(bucket->subscription);
    free(bucket->owner);
    free(bucket);
}

static void drop_all(struct throttle *throttle)
{
    HASH_FOREACH(throttle->buckets, bucket) {
        drop(throttle, bucket);
    }
}

void throttle_free(struct throttle *throttle)
{
    if (!throttle)
        return;
    drop_all(throttle);
    free(throttle->text);
    free(throttle);
}

struct err *throttle_set(struct throttle *throttle, const char *text)
{
    char *end;
    double factor = strtod(text, &end);

    if (strcmp(text, "on") == 0)
        factor = 1;
    else if (strcmp(text, "off") == 0)
        factor = 0;
    else if (end == text || *end || !(factor >= LEAST_FACTOR && factor <= MOST_FACTOR))
        return err_new(ERR_INVALID,
                       "throttling \"%s\": expected on, off, or a factor for the size of Azure's "
                       "token buckets, such as 0.5",
                       text);
    free(throttle->text);
    throttle->text = mem_strdup(text);
    throttle->factor = factor;
    drop_all(throttle);
    return NULL;
}

/* ---- buckets ---- */

static unsigned scaled(const struct throttle *throttle, unsigned number)
{
    double product = throttle->factor > 0 ? number * throttle->factor : number;

    return product < 1 ? 1 : (unsigned)(product + 0.5);
}

static unsigned size_of(const struct throttle *throttle, const struct limit *limit)
{
    return scaled(throttle, limit->size);
}

static void refill(const struct throttle *throttle, struct bucket *bucket, uint64_t now_ms)
{
    uint64_t period_ms = bucket->limit->period_s * 1000ULL;
    uint64_t periods = (now_ms - bucket->since_ms) / period_ms;
    uint64_t left = bucket->left + periods * scaled(throttle, bucket->limit->refill);
    unsigned size = size_of(throttle, bucket->limit);

    if (periods == 0)
        return;
    bucket->left = left < size ? (unsigned)left : size;
    bucket->since_ms += periods * period_ms;
    bucket->refused = 0;
}

static void sweep(struct throttle *throttle, uint64_t now_ms)
{
    if (now_ms - throttle->swept_ms < MINUTE_S * 1000ULL)
        return;
    throttle->swept_ms = now_ms;
    HASH_FOREACH(throttle->buckets, bucket) {
        refill(throttle, bucket, now_ms);
        if (bucket->left == size_of(throttle, bucket->limit))
            drop(throttle, bucket);
    }
}

/* The bucket of a limit for an owner, refilled. */
static struct bucket *find(struct throttle *throttle, const struct limit *limit,
                           const char *subscription, const char *owner, uint64_t now_ms)
{
    const char *own = limit->of_subscription ? "" : owner;
    CLEANUP(freep) char *names = mem_printf("%s %s %s", limit->name, subscription, own);
    CLEANUP(freep) char *key = mem_lower(names);
    size_t length = strlen(key);
    struct bucket *bucket;

    HASH_FIND(hh, throttle->buckets, key, length, bucket);
    if (!bucket) {
        bucket = mem_alloc(sizeof *bucket + length + 1);
        *bucket = (struct bucket){.limit = limit,
                                  .subscription = mem_strdup(subscription),
                                  .owner = mem_strdup(own),
                                  .left = size_of(throttle, limit),
                                  .since_ms = now_ms};
        memcpy(bucket->key, key, length + 1);
        HASH_ADD_KEYPTR(hh, throttle->buckets, bucket->key, length, bucket);
    }
    refill(throttle, bucket, now_ms);
    if (bucket->left == size_of(throttle, limit))
        bucket->since_ms = now_ms;
    return bucket;
}

/* ---- requests ---- */

/* What there would be to say of full buckets. */
static void charge_nothing(const struct throttle *throttle, const struct limit *limits,
                           struct throttle_charge *ret)
{
    for (; ret->n < 2 && limits[ret->n].name; ret->n++)
        ret->limits[ret->n] =
            (struct throttle_left){limits[ret->n].name, size_of(throttle, &limits[ret->n]) - 1};
}

static void note_refused(const struct throttle *throttle, struct bucket *bucket,
                         struct throttle_charge *ret)
{
    bucket->refused++;
    ret->refused = bucket->limit->name;
    ret->allowed = size_of(throttle, bucket->limit);
    ret->measured = ret->allowed + bucket->refused;
    ret->since_ms = bucket->since_ms;
    ret->refill_ms = bucket->since_ms + bucket->limit->period_s * 1000ULL;
}

void throttle_take(struct throttle *throttle, enum throttle_policy policy, const char *subscription,
                   const char *owner, uint64_t now_ms, struct throttle_charge *ret)
{
    const struct limit *limits = policies[policy];
    struct bucket *buckets[2] = {0};

    *ret = (struct throttle_charge){0};
    if (throttle->factor == 0) {
        charge_nothing(throttle, limits, ret);
        return;
    }
    sweep(throttle, now_ms);
    for (; ret->n < 2 && limits[ret->n].name; ret->n++) {
        buckets[ret->n] = find(throttle, &limits[ret->n], subscription, owner, now_ms);
        if (!ret->refused && buckets[ret->n]->left == 0)
            note_refused(throttle, buckets[ret->n], ret);
    }
    for (size_t i = 0; i < ret->n; i++) {
        if (!ret->refused)
            buckets[i]->left--;
        ret->limits[i] = (struct throttle_left){limits[i].name, buckets[i]->left};
    }
}

void throttle_pretend(const struct throttle *throttle, enum throttle_policy policy, uint64_t now_ms,
                      struct throttle_charge *ret)
{
    const struct limit *limits = policies[policy];

    *ret = (struct throttle_charge){0};
    charge_nothing(throttle, limits, ret);
    if (ret->n == 0)
        return;
    ret->limits[0].left = 0;
    ret->refused = limits[0].name;
    ret->allowed = size_of(throttle, &limits[0]);
    ret->measured = ret->allowed + 1;
    ret->since_ms = now_ms;
    ret->refill_ms = now_ms + limits[0].period_s * 1000ULL;
}

unsigned throttle_retry_after_s(const struct throttle_charge *charge, uint64_t now_ms)
{
    uint64_t ms = charge->refill_ms > now_ms ? charge->refill_ms - now_ms : 0;

    return ms <= 1000 ? 1 : (unsigned)((ms + 999) / 1000);
}

/* ---- looking ---- */

json_t *throttle_json(struct throttle *throttle, uint64_t now_ms)
{
    json_t *list = json_array();

    HASH_FOREACH(throttle->buckets, bucket) {
        refill(throttle, bucket, now_ms);
        unsigned size = size_of(throttle, bucket->limit);
        if (bucket->left == size)
            continue;
        uint64_t due = bucket->since_ms + bucket->limit->period_s * 1000ULL;
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:I, s:I, s:I}", "limit",
                                              bucket->limit->name, "subscription",
                                              bucket->subscription, "owner", bucket->owner, "left",
                                              (json_int_t)bucket->left, "of", (json_int_t)size,
                                              "refillMs", (json_int_t)(due - now_ms)));
    }
    return json_pack("{s:s, s:o}", "throttling", throttle->text, "buckets", list);
}
