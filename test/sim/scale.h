/* scale.h - a large cluster in simulation: how long a promotion takes the controller, and how much
 * it keeps in memory, and how long a new volume takes while a new leader looks at all VMs.
 */
#pragma once

#include <jansson.h>

struct scale_report {
    unsigned nodes, volumes, attachments;
    unsigned promotions;
    double promotion_cpu_ms_median, promotion_cpu_ms_most; /* from the publish call to the write */
    double standby_mib, leader_mib; /* of resident memory that one controller adds */
    /* CreateVolume in the cluster's time: as a rule, at most in the first minute of a new leader,
     * and at most in the eleven minutes after that, in which it looks at all VMs anew. */
    double create_s_median, create_s_new_leader, create_s_refresh;
    double cpu_seconds; /* of the whole run */
};

/* Ends the program, with a line on standard error, if the cluster does not come to rest. */
void scale_run(unsigned nodes, unsigned volumes, struct scale_report *ret);
/* Its members by name. */
json_t *scale_json(const struct scale_report *report);
