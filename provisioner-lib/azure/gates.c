#include "provisioner-lib/azure/gates.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"

struct subscription {
    char *id; /* lower case; "" for what names none */
    struct gate *gate;
    UT_hash_handle hh;
};

struct gates {
    struct loop *loop;
    struct subscription *subscriptions;
};

static struct gate *add(struct gates *gates, const char *id)
{
    struct subscription *subscription = mem_alloc(sizeof *subscription);

    *subscription = (struct subscription){.id = mem_strdup(id), .gate = gate_new(gates->loop)};
    HASH_ADD_KEYPTR(hh, gates->subscriptions, subscription->id, strlen(subscription->id),
                    subscription);
    return subscription->gate;
}

struct gates *gates_new(struct loop *loop)
{
    struct gates *gates = mem_alloc(sizeof *gates);

    *gates = (struct gates){.loop = loop};
    add(gates, "");
    return gates;
}

void gates_free(struct gates *gates)
{
    if (!gates)
        return;
    HASH_FOREACH(gates->subscriptions, subscription) {
        HASH_DEL(gates->subscriptions, subscription);
        gate_free(subscription->gate);
        free(subscription->id);
        free(subscription);
    }
    free(gates);
}

struct gate *gates_find(struct gates *gates, const char *text)
{
    static const char mark[] = "/subscriptions/";
    const char *found = strcasestr(text, mark), *start = found ? found + strlen(mark) : "";
    CLEANUP(freep) char *given = mem_strndup(start, strcspn(start, "/?"));
    CLEANUP(freep) char *id = mem_lower(given);
    struct subscription *subscription;

    HASH_FIND_STR(gates->subscriptions, id, subscription);
    return subscription ? subscription->gate : add(gates, id);
}

unsigned gates_left(const struct gates *gates, enum arm_kind kind, enum budget_scope scope,
                    uint64_t now)
{
    unsigned least = budget_left(gate_budget(gates->subscriptions->gate), kind, scope, now);

    HASH_FOREACH(gates->subscriptions, subscription) {
        unsigned left = budget_left(gate_budget(subscription->gate), kind, scope, now);

        least = left < least ? left : least;
    }
    return least;
}
