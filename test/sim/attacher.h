/* attacher.h - external-attacher: carries out what VolumeAttachments ask for.
 *
 * Each has a worker, a task of the sim: its finalizer, ControllerPublishVolume until it succeeds or
 * the VolumeAttachment is deleted, the same once more if ListVolumes does not have it
 * (attacher_sync.h), then ControllerUnpublishVolume until that succeeds, then it is
 * gone.
 */
#pragma once

struct publication;

void attacher_start(struct publication *publication);
