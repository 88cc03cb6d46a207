/* attacher_sync.h - external-attacher's look at ListVolumes, every minute (--reconcile-sync).
 *
 * A volume that it has published and that the driver does not list as published is published once
 * more. What it compares with is what it knew before it asked.
 */
#pragma once

#include <stdbool.h>

#include "lib/api/csi.pb-c.h"
#include "lib/rt/task.h"

struct publication;

/* A task of the sim; `arg` is the world. */
void attacher_sync_run(struct task *self, void *arg);

/* Whether the answer has the volume, as its PersistentVolume spells it, on that node. */
bool attacher_sync_lists(const Csi__V1__ListVolumesResponse *response,
                         const struct publication *publication);
