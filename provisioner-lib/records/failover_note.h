/* failover_note.h - the note of the Event FailedOver on an AzVolume: when its node fell silent, or
 * its Node was deleted, and when the controller took each step until the node was given up
 * (docs/failover.md).
 *
 * Written by the controller, read by azdiskctl. It is a sentence for people, in which the times
 * have fixed places. Pure; for all programs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define EVENT_FAILED_OVER "FailedOver"

/* Microseconds since 1970. What comes after them, that the node was given up, is the time of the
 * Event. */
struct failover_times {
    bool deleted;      /* its Node was */
    int64_t lost_us;   /* the plug-in's last renewal, by the node's clock; or the deletion */
    int64_t asked_us;  /* the first replica's node was asked to fence the disk */
    int64_t proven_us; /* all disks of the node's volumes refused its writes, or its VM was off */
};

/* free() it. */
char *failover_note_text(const char *node, const struct failover_times *times)
    __attribute__((warn_unused_result));
/* False if it is not such a note. `ret_node`: free() it. */
bool failover_note_parse(const char *note, char **ret_node, struct failover_times *ret)
    __attribute__((warn_unused_result));
