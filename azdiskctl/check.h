/* check.h - `azdiskctl check`: the audit's comparison, once, on demand.
 *
 * What is under way looks like a finding too. So if a scan shows anything, there is a second one
 * after a pause, and only what both have shown is told.
 */
#pragma once

#include "azdiskctl/cluster.h"
#include "lib/base/buffer.h"
#include "provisioner-lib/audit/finding.h"
#include "provisioner-lib/cloud.h"

struct check_config {
    struct kube *kube;
    struct cloud *cloud;        /* NULL: records only */
    struct cluster_query query; /* but for its parts, which the check knows */
    const char *prices;         /* as price.h has them */
};

/* `ret` has "findings" (and a deprecated copy, "differences": docs/upgrading.md), "machines",
 * "disks" and "azure": whether Azure was read. INVALID if the prices are, or have no effect. */
struct err *check_json(struct task *self, const struct check_config *config, json_t **ret)
    __attribute__((warn_unused_result));
/* No finding is in it that is more than a note. */
bool check_is_clean(const json_t *check);
void check_text(const json_t *check, struct buffer *out);
