/* static_volume.h - a volume whose disk the driver has not made: a person's, or of the in-tree
 * plug-in that was before it.
 *
 * A person's disk may come minutes after the PersistentVolume, which says as much of it as people
 * say. When its claim is gone the person deletes the PersistentVolume, as soon as no
 * VolumeAttachment holds it, and then the disk. A disk of the in-tree plug-in's is deleted like one
 * of the driver's.
 */
#pragma once

#include <jansson.h>

struct volume;

/* The disk that suits the volume, as the body of a PUT. */
json_t *static_volume_disk_json(const struct volume *volume);

/* A task of the sim that goes with the volume from its claim to its end. */
void static_volume_start(struct volume *volume);
