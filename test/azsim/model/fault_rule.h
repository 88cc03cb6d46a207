/* fault_rule.h - rules for faults as they are written; for fault.c only.
 */
#pragma once

#include "test/azsim/model/fault.h"

struct fault_row {
    const char *name;
    enum fault_place place;
    enum fault_needs { FAULT_NEEDS_NOTHING, FAULT_NEEDS_CODE, FAULT_NEEDS_TIME } needs;
};

const struct fault_row *fault_row(enum fault_type type);

/* INVALID says which member is wrong. */
struct err *fault_read(const json_t *json, struct fault **ret) __attribute__((warn_unused_result));
void fault_free(struct fault *fault); /* NULL is fine */
DEFINE_CLEANUP(struct fault, fault_free)
