/* work.h - one AzSnapshot that is being reconciled: what the steps of plan.h share.
 *
 * For the files of this folder that take steps: reconcile.c, and regional_copy.c for those of
 * copies in other regions.
 */
#pragma once

#include "controller/controller.h"
#include "controller/snapshot/plan.h"
#include "lib/api/azdisk.pb-c.h"

struct snapshot_work {
    struct controller *controller;
    struct kube_object *object; /* referenced */
    const Api__AzSnapshot *snapshot;
    struct snapshot_facts in;
};

/* A merge patch of its status, which is taken. CONFLICT if anybody has written to it since; `ret`
 * may be NULL. */
struct err *snapshot_patch_status(struct task *self, struct snapshot_work *work, json_t *status,
                                  struct kube_object **ret) __attribute__((warn_unused_result));

/* What the record asks for, with its parameters; borrowed from both. */
struct cloud_snapshot_spec snapshot_spec_of(const struct snapshot_work *work,
                                            const struct snapshot_parameters *parameters);

/* The snapshot that the cloud has of this spec; its id is NULL if it has none, or one that is
 * somebody else's or of another disk, which stays as it is. */
struct err *snapshot_find_own(struct task *self, const struct snapshot_work *work,
                              const struct cloud_snapshot_spec *spec, struct cloud_snapshot *ret)
    __attribute__((warn_unused_result));
