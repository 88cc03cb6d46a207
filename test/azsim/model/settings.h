/* settings.h - how the simulated Azure behaves where the real one does now this, now that.
 *
 *     {"concurrentUpdates": "azure", "upperCaseGroups": false, "pageSize": 1000}
 *
 * They are no part of the model's state: a restart begins with those of the command line.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "lib/base/err.h"

/* What becomes of a change of a VM while an older one runs. */
enum concurrency {
    CONCURRENCY_AZURE,      /* the VM's model: superseded; attachDetachDataDisks: refused */
    CONCURRENCY_SUPERSEDED, /* the older one ends as OperationPreempted */
    CONCURRENCY_REFUSED,    /* the newer one gets 409 Conflict */
};

enum { SETTINGS_PAGE_SIZE = 1000, SETTINGS_MAX_PAGE_SIZE = 100000 };

struct model_settings {
    enum concurrency concurrency;
    bool upper_case_groups; /* in ids of VMs that other resources name */
    unsigned page_size;     /* of lists */
};

void settings_init(struct model_settings *settings);
json_t *settings_json(const struct model_settings *settings);
/* What an object names; nothing is changed if any of it is wrong. */
struct err *settings_change(struct model_settings *settings, const json_t *json)
    __attribute__((warn_unused_result));
