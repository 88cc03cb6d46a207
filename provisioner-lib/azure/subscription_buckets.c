#include "provisioner-lib/azure/subscription_buckets.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"

struct subscription {
    char *id; /* lower case; "" for what names none */
    struct token_buckets *buckets;
    UT_hash_handle hh;
};

struct subscription_buckets {
    struct subscription *subscriptions;
};

static struct token_buckets *add(struct subscription_buckets *all, const char *id)
{
    struct subscription *subscription = mem_alloc(sizeof *subscription);

    *subscription = (struct subscription){.id = mem_strdup(id), .buckets = token_buckets_new()};
    HASH_ADD_KEYPTR(hh, all->subscriptions, subscription->id, strlen(subscription->id),
                    subscription);
    return subscription->buckets;
}

struct subscription_buckets *subscription_buckets_new(void)
{
    struct subscription_buckets *all = mem_alloc(sizeof *all);

    add(all, "");
    return all;
}

void subscription_buckets_free(struct subscription_buckets *all)
{
    if (!all)
        return;
    HASH_FOREACH(all->subscriptions, subscription) {
        HASH_DEL(all->subscriptions, subscription);
        token_buckets_free(subscription->buckets);
        free(subscription->id);
        free(subscription);
    }
    free(all);
}

struct token_buckets *subscription_buckets_find(struct subscription_buckets *all, const char *text)
{
    static const char mark[] = "/subscriptions/";
    const char *found = strcasestr(text, mark), *start = found ? found + strlen(mark) : "";
    CLEANUP(freep) char *given = mem_strndup(start, strcspn(start, "/?"));
    CLEANUP(freep) char *id = mem_lower(given);
    struct subscription *subscription;

    HASH_FIND_STR(all->subscriptions, id, subscription);
    return subscription ? subscription->buckets : add(all, id);
}

unsigned subscription_buckets_left(const struct subscription_buckets *all, enum arm_kind kind,
                                   enum bucket_scope scope, uint64_t now)
{
    unsigned least = token_buckets_left(all->subscriptions->buckets, kind, scope, now);

    HASH_FOREACH(all->subscriptions, subscription) {
        unsigned left = token_buckets_left(subscription->buckets, kind, scope, now);

        least = left < least ? left : least;
    }
    return least;
}
