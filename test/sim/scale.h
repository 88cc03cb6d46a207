/* scale.h - a large cluster in simulation: how long a promotion takes the controller, and how much
 * it keeps in memory.
 */
#pragma once

#include <jansson.h>

struct scale_report {
    unsigned nodes, volumes, attachments;
    unsigned promotions;
    double promotion_cpu_ms_median, promotion_cpu_ms_most; /* from the publish call to the write */
    double standby_mib, leader_mib; /* of resident memory that one controller adds */
    double cpu_seconds;             /* of the whole run */
};

/* Ends the program, with a line on standard error, if the cluster does not come to rest. */
void scale_run(unsigned nodes, unsigned volumes, struct scale_report *ret);
/* Its members by name. */
json_t *scale_json(const struct scale_report *report);
