/* attacher.h - external-attacher: carries out what VolumeAttachments ask for.
 *
 * Each has a worker, a task of the sim: its finalizer, ControllerPublishVolume until it succeeds or
 * the VolumeAttachment is deleted, then ControllerUnpublishVolume until that succeeds, then it is
 * gone.
 */
#pragma once

struct publication;

void attacher_start(struct publication *publication);
