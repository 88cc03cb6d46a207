/* charge.h - what a request costs: tokens of Resource Manager's buckets and of Compute's.
 */
#pragma once

#include "test/azsim/arm/exchange.h"

/* Charges the caller, who must be known, in the subscription of the path, if it names one that
 * there is. A refusal is for answer_gateway. */
struct refusal *charge_caller(struct exchange *exchange) __attribute__((warn_unused_result));
/* Charges the VM or disk and the subscription; answers and returns false if they have nothing left.
 */
bool charge_provider(struct exchange *exchange);

/* The answer to a throttled request as a fault wants it. */
void charge_answer_throttled(struct exchange *exchange, const struct fault *fault);

/* What is left, for every answer. */
void charge_headers(struct exchange *exchange);
