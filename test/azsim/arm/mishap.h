/* mishap.h - what faults do to a request: instead of its handling, and to its answer.
 */
#pragma once

#include "test/azsim/arm/exchange.h"

/* Before the request is handled; true if that is not to be any more. */
bool mishap_instead(struct exchange *exchange);
/* When the answer is there. */
void mishap_after(struct exchange *exchange);
