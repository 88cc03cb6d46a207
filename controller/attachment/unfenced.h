/* unfenced.h - tells users of a volume that it has no fence although it should have one.
 *
 * With fencing: preferred, which is the default, a volume is used without a fence where its device
 * supports none (docs/fencing.md). The node notes that in its attachment, where nobody looks; so
 * the AzVolume gets a warning Event. There is one for each attachment: not again with the next pod
 * on the same node, nor when lists are read anew or the leader changes.
 */
#pragma once

#include "controller/controller.h"

/* Whether the attachment's node has just noted that the volume, which should have a fence, has
 * none. A pure function. */
bool unfenced_is_news(const Api__AzVolume *volume, const Api__AzVolumeAttachment *before,
                      const Api__AzVolumeAttachment *after);

/* After each change of an attachment; nothing unless this process leads. */
void unfenced_consider(struct controller *controller, const struct kube_object *before,
                       const struct kube_object *after);

void unfenced_forget(struct controller *controller); /* whom an Event was about */
