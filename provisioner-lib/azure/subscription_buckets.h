/* subscription_buckets.h - the token buckets (token_buckets.h) of each subscription, since Azure
 * counts requests by subscription.
 *
 * Most drivers have one; a StorageClass may name others for its disks. Loop's thread.
 */
#pragma once

#include "provisioner-lib/azure/token_buckets.h"

struct subscription_buckets;

struct subscription_buckets *subscription_buckets_new(void);
void subscription_buckets_free(struct subscription_buckets *all);
DEFINE_CLEANUP(struct subscription_buckets, subscription_buckets_free)

/* Of the subscription that an id, a path or a URL names. */
struct token_buckets *subscription_buckets_find(struct subscription_buckets *all, const char *text);

/* As token_buckets_left() says, in the subscription that has least. */
unsigned subscription_buckets_left(const struct subscription_buckets *all, enum arm_kind kind,
                                   enum bucket_scope scope, uint64_t now);
