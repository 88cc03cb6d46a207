/* keeper.h - keeps the certificate of the placement webhook while this process leads: looks at the
 * Secret and at the configuration of the webhook, and takes the step that plan.h names.
 *
 * They are read, not watched: two small objects, which nobody needs to know of sooner than in some
 * seconds.
 */
#pragma once

#include "controller/controller.h"
#include "lib/rt/group.h"

struct certificate_keeper;

/* Starts a task of `group`. NULL without --placement-webhook: somebody else keeps the certificate,
 * or there is no webhook. */
struct certificate_keeper *certificate_keeper_start(struct controller *controller,
                                                    struct task_group *group);
/* After the group was closed; NULL is fine. */
void certificate_keeper_free(struct certificate_keeper *keeper);
