/* filesystem_note.h - which of the nodes' notes about a volume's file system are copied into the
 * volume's record.
 *
 * A node that has formatted a disk notes this in its attachment's status; from then on, every node
 * must find the file system on the disk that the volume's record names. A compromised node could
 * note anything. So a note counts only if it is from the volume's primary, and names a file system
 * that this driver could have created, with the UUID that follows from the volume's id.
 */
#pragma once

#include "controller/controller.h"

/* Why an attachment's note does not count, as the end of a sentence that begins with "the node's
 * note"; NULL if it counts. The volume has a disk. A pure function. */
const char *filesystem_note_fault(const Api__AzVolume *volume,
                                  const Api__AzVolumeAttachment *attachment, const char *note);

/* The file system that an attachment has noted and the volume's record lacks; NULL if there is
 * none. Each attachment whose note does not count gets an Event, once per leader. */
const char *filesystem_note_find(struct controller *controller, const struct kube_object *volume);

void filesystem_note_forget(struct controller *controller); /* the attachments that got an Event */
