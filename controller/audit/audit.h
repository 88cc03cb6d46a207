/* audit.h - compares the records with Kubernetes and with the cloud while this process is the
 * leader.
 *
 * Scans run one after another, with a pause before each: of the records, of one node's VM at a
 * time, of the disks, of the snapshots. So the rate of calls does not depend on the size of the
 * cluster, and they have the lowest priority (CLOUD_AUDIT). A finding that two scans have confirmed
 * is counted, and reported once as an Event and in the log. If the cloud's data settles the
 * finding, the audit requeues the attachment, so that its reconciler reads the VM again, unless
 * --repair=none; everything else is left to people.
 */
#pragma once

#include "controller/controller.h"
#include "lib/rt/group.h"

struct audit;

/* Starts a task of `group`; free the audit after closing the group. NULL if the audit is disabled.
 */
struct audit *audit_start(struct controller *controller, struct task_group *group);
void audit_free(struct audit *audit);
