#include "lib/kube/store_order.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

struct store_order {
    struct kube_object **objects;
    size_t n;
};

struct store_order *store_order_new(void)
{
    return mem_alloc(sizeof(struct store_order));
}

void store_order_free(struct store_order *order)
{
    if (!order)
        return;
    free(order->objects);
    free(order);
}

/* How many come before the key, or, with `with_it`, up to it. */
static size_t count_before(const struct store_order *order, const char *key, bool with_it)
{
    size_t low = 0, high = order->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int comparison = strcmp(order->objects[middle]->key, key);

        if (comparison < 0 || (with_it && comparison == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(struct store_order *order, size_t at, struct kube_object *object)
{
    ARRAY_ADD(order->objects, order->n) = object;
    memmove(&order->objects[at + 1], &order->objects[at],
            (order->n - 1 - at) * sizeof *order->objects);
    order->objects[at] = object;
}

static void take_out(struct store_order *order, size_t at)
{
    order->n--;
    memmove(&order->objects[at], &order->objects[at + 1], (order->n - at) * sizeof *order->objects);
}

void store_order_change(struct store_order *order, const struct kube_object *before,
                        struct kube_object *after)
{
    if (!before)
        insert(order, count_before(order, after->key, false), after);
    else if (!after)
        take_out(order, count_before(order, before->key, false));
    else
        order->objects[count_before(order, before->key, false)] = after;
}

struct kube_object *store_order_after(const struct store_order *order, const char *key)
{
    size_t at = count_before(order, key, true);

    return at < order->n ? order->objects[at] : NULL;
}
