/* fault_injection.h - what faults do to a request: instead of its handling, and to its answer.
 */
#pragma once

#include "test/azsim/arm/exchange.h"

/* Before the request is handled; true if that is not to be any more. */
bool fault_injection_before(struct exchange *exchange);
/* When the answer is there. */
void fault_injection_after(struct exchange *exchange);
