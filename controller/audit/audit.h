/* audit.h - compares what is on record with Kubernetes and with the cloud, as long as this process
 * leads.
 *
 * One scan after the other, with a pause before each: of the records, of the machine of one node
 * after the other, of the disks. So the rate of calls is bounded whatever the cluster's size, and
 * they are the least urgent ones (CLOUD_AUDIT). A finding that two scans have shown is counted,
 * and told once by an event and in the log. Where the cloud's word decides, the attachment's
 * reconciler is made to read the VM anew, unless --repair=none; everything else is left to people.
 */
#pragma once

#include "controller/controller.h"
#include "lib/rt/group.h"

struct audit;

/* Scans as a member of `group`; free after that is closed. NULL if it is switched off. */
struct audit *audit_start(struct controller *controller, struct task_group *group);
void audit_free(struct audit *audit);
