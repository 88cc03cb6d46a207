/* user.h - who uses a volume, for changes of its disk that Azure allows only while no VM has it.
 *
 * Such a change waits until no pod uses the volume; a pod that comes first puts it off, so that no
 * pod waits for it. The replicas are detached only then, so that every failover finds them.
 */
#pragma once

#include "controller/controller.h"
#include "controller/volume/plan.h"

/* What the plan has to know of it. */
void volume_user_gather(const struct controller *controller, const struct kube_object *object,
                        struct volume_snapshot *ret);

/* PRECONDITION while a VM has the disk and keeps it, with who uses the volume and what to do.
 * `change` is what cannot happen then ("grow"), and `why` the rule. */
struct err *volume_user_check_none(const struct controller *controller,
                                   const struct kube_object *object, const char *change,
                                   const char *why) __attribute__((warn_unused_result));
