/* filesystem_note.h - which note of a node about a volume's file system is taken over into the
 * volume's record.
 *
 * A node that has formatted a disk says so in its attachment's status; what the volume's record
 * says is what every node must find on the disk from then on. A node that was taken over could say
 * anything, so a note counts only from the volume's primary, and only if it says what this driver
 * makes: a file system that it knows, with the UUID that follows from the volume's id.
 */
#pragma once

#include "controller/controller.h"

/* Why the note of an attachment of a volume that has a disk does not count, in words that go on
 * "the node's note ... "; NULL if it does. Pure. */
const char *filesystem_note_fault(const Api__AzVolume *volume,
                                  const Api__AzVolumeAttachment *attachment, const char *note);

/* What the volume's record lacks and an attachment says; NULL if there is no such thing. Of each
 * attachment whose note does not count an event says so, once in a leader's life. */
const char *filesystem_note_find(struct controller *controller, const struct kube_object *volume);

void filesystem_note_forget(struct controller *controller); /* of which it was said */
