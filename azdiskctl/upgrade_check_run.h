/* upgrade_check_run.h - the run of upgrade-check: reads the plan from a file, what the cluster has
 * of each of its objects, and PersistentVolumes, where another driver is replaced.
 */
#pragma once

#include <jansson.h>

#include "lib/kube/client.h"

/* `ret` is as upgrade_check_document() makes it. INVALID if the file is no plan. */
struct err *upgrade_check_json(struct task *self, struct kube *kube, const char *path, json_t **ret)
    __attribute__((warn_unused_result));
