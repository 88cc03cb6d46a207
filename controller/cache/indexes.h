/* indexes.h - by what the objects of the controller's stores are found, beside their keys, and in
 * which order.
 */
#pragma once

#include "controller/controller.h"

/* To the stores of volumes, attachments, PersistentVolumes, VolumeAttachments and pods, which are
 * empty. */
void indexes_add(struct controller *controller);
