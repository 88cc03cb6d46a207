#include "provisioner-lib/azure/budgets.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"

struct subscription {
    char *id; /* lower case; "" for what names none */
    struct budget *budget;
    UT_hash_handle hh;
};

struct budgets {
    struct subscription *subscriptions;
};

static struct budget *add(struct budgets *budgets, const char *id)
{
    struct subscription *subscription = mem_alloc(sizeof *subscription);

    *subscription = (struct subscription){.id = mem_strdup(id), .budget = budget_new()};
    HASH_ADD_KEYPTR(hh, budgets->subscriptions, subscription->id, strlen(subscription->id),
                    subscription);
    return subscription->budget;
}

struct budgets *budgets_new(void)
{
    struct budgets *budgets = mem_alloc(sizeof *budgets);

    add(budgets, "");
    return budgets;
}

void budgets_free(struct budgets *budgets)
{
    if (!budgets)
        return;
    HASH_FOREACH(budgets->subscriptions, subscription) {
        HASH_DEL(budgets->subscriptions, subscription);
        budget_free(subscription->budget);
        free(subscription->id);
        free(subscription);
    }
    free(budgets);
}

struct budget *budgets_find(struct budgets *budgets, const char *text)
{
    static const char mark[] = "/subscriptions/";
    const char *found = strcasestr(text, mark), *start = found ? found + strlen(mark) : "";
    CLEANUP(freep) char *given = mem_strndup(start, strcspn(start, "/?"));
    CLEANUP(freep) char *id = mem_lower(given);
    struct subscription *subscription;

    HASH_FIND_STR(budgets->subscriptions, id, subscription);
    return subscription ? subscription->budget : add(budgets, id);
}

unsigned budgets_left(const struct budgets *budgets, enum arm_kind kind, enum budget_scope scope,
                      uint64_t now)
{
    unsigned least = budget_left(budgets->subscriptions->budget, kind, scope, now);

    HASH_FOREACH(budgets->subscriptions, subscription) {
        unsigned left = budget_left(subscription->budget, kind, scope, now);

        least = left < least ? left : least;
    }
    return least;
}
