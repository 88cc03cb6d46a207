/* fault_site.h - faults that strike operations, and disks when a VM's change attaches and detaches
 * them.
 */
#pragma once

#include "test/azsim/model/fault.h"
#include "test/azsim/model/operation.h"

struct vm;

/* The name of what an operation is about; `target` is its key. */
const char *fault_resource(const struct model *model, const char *target);

/* The rule that strikes an operation at its start or end; NULL: none. */
const struct fault *fault_of_operation(struct model *model, enum operation_kind kind,
                                       const char *target, enum fault_place place);
/* The rule that strikes as a VM's operation attaches or detaches a disk of that name. */
const struct fault *fault_of_disk(const struct vm *vm, const char *disk, enum fault_place place);
