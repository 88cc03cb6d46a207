/* node_attachment.h - what the AzVolumeAttachment of a volume on a simulated machine says to the
 * machine's plug-in, decided as node/attachment.c decides it.
 *
 * It is read from the API server itself: a plug-in hears of changes with no delay, as long as it is
 * connected.
 */
#pragma once

#include "lib/base/err.h"
#include "test/sim/machine.h"

/* What the attachment said when it was looked at. */
struct place {
    char uid[64];
    unsigned lun;
    bool recorded; /* that the disk has a file system */
};

/* The object's name; "" if there is none. */
const char *node_attachment_name(const struct machine *machine, const struct volume *volume);
/* Whether it is Attached, with this node as its primary. */
bool node_attachment_is_ready(const struct machine *machine, const struct volume *volume,
                              struct place *ret);
/* Time has passed since `place` was read. UNAVAILABLE while the API server cannot be reached. */
struct err *node_attachment_check(const struct machine *machine, const struct volume *volume,
                                  const struct place *place) __attribute__((warn_unused_result));
