/* gateway.h - what Azure Resource Manager checks before a resource's provider sees a request.
 */
#pragma once

#include "test/azsim/arm/exchange.h"
#include "test/azsim/model/refusal.h"

/* Token, api-version, subscription, route and resource group, in this order; NULL if the handler of
 * the route may run. Notes principal and group in the exchange. */
struct refusal *gateway_check(struct exchange *exchange, bool path_known)
    __attribute__((warn_unused_result));
