/* vm_sizes.h - how many data disks each size of VM can have: what Azure said, and what is built in.
 *
 * Names count whatever their case. What is built in is for a start without any word from Azure: a
 * table of all sizes that there were when it was made (vm_sizes.txt). It may be out of date, and
 * nothing is derived from it for a size that it does not have.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "lib/base/cleanup.h"
#include "lib/base/err.h"

struct vm_sizes; /* from Azure */

struct vm_sizes *vm_sizes_new(void);
void vm_sizes_free(struct vm_sizes *sizes);
DEFINE_CLEANUP(struct vm_sizes, vm_sizes_free)

void vm_sizes_set(struct vm_sizes *sizes, const char *name, int data_disks);
bool vm_sizes_find(const struct vm_sizes *sizes, const char *name, int *ret_data_disks);

bool vm_sizes_built_in(const char *name, int *ret_data_disks);

/* For a file: numbers by name. INVALID if it is something else. */
json_t *vm_sizes_to_json(const struct vm_sizes *sizes) __attribute__((warn_unused_result));
struct err *vm_sizes_from_json(struct vm_sizes *sizes, const json_t *json)
    __attribute__((warn_unused_result));
