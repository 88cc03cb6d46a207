/* audit.h - compares what is on record with Kubernetes and with the cloud, as long as this process
 * leads.
 *
 * One look after the other, with a pause before each: at the records, at the machine of one node
 * after the other, at the disks. So the rate of calls is bounded whatever the cluster's size, and
 * they are the least urgent ones (CLOUD_AUDIT). A difference that two looks have shown is counted,
 * and told once by an event and in the log. Where the cloud's word decides, the attachment's
 * reconciler is made to look anew, unless --repair=none; everything else is left to people.
 */
#pragma once

#include "controller/controller.h"
#include "lib/rt/group.h"

struct audit;

/* Looks as a member of `group`; free after that is closed. NULL if it is switched off. */
struct audit *audit_start(struct controller *controller, struct task_group *group);
void audit_free(struct audit *audit);
