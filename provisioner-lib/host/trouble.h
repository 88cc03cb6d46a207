/* trouble.h - what is wrong with a volume that is in use, in words for a person.
 *
 * Pure. The facts are what usage.h has seen.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct volume_facts {
    const char *device; /* that is mounted or bound: "/dev/sdc" */
    unsigned lun;
    const char *disk_now;   /* the device at the LUN; NULL: there is none */
    bool replaced;          /* and it is another */
    uint64_t size;          /* of the device at the LUN */
    const char *disk_state; /* as the kernel calls it: "running"; NULL: it does not say */
    int failure;            /* errno of looking into the file system; 0: none */

    const char *type;    /* of the file system; NULL: a raw volume */
    const char *options; /* of the file system as it is now */
    bool for_writing;    /* it was mounted for that */
    uint64_t errors;     /* that the kernel has recorded in it */
};

/* What, of which device, and what to do; NULL if nothing is wrong. */
char *trouble_describe(const struct volume_facts *facts) __attribute__((warn_unused_result));
