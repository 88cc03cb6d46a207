/* sku_file.h - a file that keeps what Azure's SKU list said of a region, and when.
 */
#pragma once

#include "lib/rt/task.h"
#include "provisioner-lib/azure/disk_kinds.h"
#include "provisioner-lib/azure/vm_sizes.h"

/* What is known of a region. */
struct sku_facts {
    struct vm_sizes *sizes;
    struct disk_kinds *kinds;
};

void sku_facts_init(struct sku_facts *facts); /* nothing is known */
void sku_facts_fini(struct sku_facts *facts);

/* `ret_at_us`: microseconds since 1970. What is not such a file, or is about another location, is
 * INVALID. */
struct err *sku_file_read(struct task *self, const char *path, const char *location,
                          struct sku_facts *ret, int64_t *ret_at_us)
    __attribute__((warn_unused_result));
/* In one piece or not at all. */
struct err *sku_file_write(const char *path, const char *location, const struct sku_facts *facts,
                           int64_t at_us) __attribute__((warn_unused_result));
