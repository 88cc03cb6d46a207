/* fault_code.h - the refusal that a fault's "code" means: Azure's status and words for each code.
 */
#pragma once

#include "test/azsim/model/fault.h"
#include "test/azsim/model/refusal.h"

/* What the rule says itself goes first; a code that is not known is a 409. `resource` is the name
 * of what it is about, NULL if there is none. */
struct refusal *fault_refusal(const struct fault *fault, const char *resource)
    __attribute__((warn_unused_result));
