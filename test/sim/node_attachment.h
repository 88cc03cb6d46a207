/* node_attachment.h - what the AzVolumeAttachment of a volume on a simulated machine says to the
 * machine's plug-in, decided as node/attachment.c decides it.
 *
 * A plug-in hears of changes with no delay as long as the API server can be reached, and goes on by
 * what it knew last while it cannot.
 */
#pragma once

#include "lib/base/err.h"
#include "test/sim/machine.h"

/* What the attachment said when it was looked at. */
struct place {
    char uid[64];
    unsigned lun;
    bool recorded; /* that the disk has a file system */
    bool of_boot;  /* Azure was seen to have the disk there in this boot of the machine */
};

/* The machine does not reach the API server any more, or does again: to be called whenever that may
 * have changed. */
void node_attachments_heard(struct machine *machine);
/* A plug-in that has just started knows nothing. */
void node_attachments_forget(struct machine *machine);

/* The object's name; "" if there is none. */
const char *node_attachment_name(const struct machine *machine, const struct volume *volume);
/* Whether it is Attached, with this node as its primary. */
bool node_attachment_is_ready(const struct machine *machine, const struct volume *volume,
                              struct place *ret);
/* Whether there is one, and it says that the class or the pods there ask for automatic failover. */
bool node_attachment_asks_for_failover(const struct machine *machine, const struct volume *volume);
/* Time has passed since `place` was read. */
struct err *node_attachment_check(const struct machine *machine, const struct volume *volume,
                                  const struct place *place) __attribute__((warn_unused_result));
