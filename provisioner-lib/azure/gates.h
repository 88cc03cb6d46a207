/* gates.h - a gate (gate.h) for each subscription, since Azure counts requests by subscription.
 *
 * Most drivers have one; a StorageClass may name others for its disks. Loop's thread.
 */
#pragma once

#include "provisioner-lib/azure/gate.h"

struct gates;

struct gates *gates_new(struct loop *loop);
void gates_free(struct gates *gates); /* nobody may be waiting */
DEFINE_CLEANUP(struct gates, gates_free)

/* Of the subscription that an id, a path or a URL names. */
struct gate *gates_find(struct gates *gates, const char *text);

/* As budget_left() says, in the subscription that has least. */
unsigned gates_left(const struct gates *gates, enum arm_kind kind, enum budget_scope scope,
                    uint64_t now);
