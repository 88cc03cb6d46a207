/* store_order.h - the objects of a store in the order of their keys, for pages.
 *
 * An array that is sorted all the time: a page costs a search for its beginning and its own
 * objects, a change a search and the move of what comes after. A list comes in the order of keys,
 * so that it is filled by adding at the end. Of the store alone, which has the references.
 */
#pragma once

#include "lib/kube/object.h"

struct store_order;

struct store_order *store_order_new(void);
void store_order_free(struct store_order *order); /* NULL is fine */

/* `before` is NULL for a new object, `after` NULL for one that is gone. */
void store_order_change(struct store_order *order, const struct kube_object *before,
                        struct kube_object *after);

/* The first whose key comes after this text; NULL if there is none. */
struct kube_object *store_order_after(const struct store_order *order, const char *key);
