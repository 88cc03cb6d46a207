/* budgets.h - a budget (budget.h) for each subscription, since Azure counts requests by
 * subscription.
 *
 * Most drivers have one; a StorageClass may name others for its disks. Loop's thread.
 */
#pragma once

#include "provisioner-lib/azure/budget.h"

struct budgets;

struct budgets *budgets_new(void);
void budgets_free(struct budgets *budgets);
DEFINE_CLEANUP(struct budgets, budgets_free)

/* Of the subscription that an id, a path or a URL names. */
struct budget *budgets_find(struct budgets *budgets, const char *text);

/* As budget_left() says, in the subscription that has least. */
unsigned budgets_left(const struct budgets *budgets, enum arm_kind kind, enum budget_scope scope,
                      uint64_t now);
