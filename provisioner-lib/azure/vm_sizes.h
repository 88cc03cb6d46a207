/* vm_sizes.h - how many data disks each size of VM can have: what Azure said, and what is built in.
 *
 * Names count whatever their case. What is built in is for a start without any word from Azure: it
 * knows the common series by their names, and where a series varies it gives the lower number,
 * since too low a number wastes places and too high a number is refused.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/rt/task.h"

struct vm_sizes; /* from Azure */

struct vm_sizes *vm_sizes_new(void);
void vm_sizes_free(struct vm_sizes *sizes);
DEFINE_CLEANUP(struct vm_sizes, vm_sizes_free)

void vm_sizes_set(struct vm_sizes *sizes, const char *name, int data_disks);
bool vm_sizes_find(const struct vm_sizes *sizes, const char *name, int *ret_data_disks);

bool vm_sizes_built_in(const char *name, int *ret_data_disks);

/* A file with the sizes of a location, and when Azure said so (microseconds since 1970). What is
 * not such a file, or is about another location, is INVALID. */
struct err *vm_sizes_read(struct task *self, const char *path, const char *location,
                          struct vm_sizes **ret_sizes, int64_t *ret_at_us)
    __attribute__((warn_unused_result));
/* In one piece or not at all. */
struct err *vm_sizes_write(const char *path, const char *location, const struct vm_sizes *sizes,
                           int64_t at_us) __attribute__((warn_unused_result));
