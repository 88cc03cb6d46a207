/* restored_volume.h - a volume whose objects are those of a backup of etcd, taken when the first
 * attempt to make its disk had failed. Azure has made it since, and pods have written to it. For
 * workload_incidents.c only.
 *
 * Only one that no VM has: of a disk that some VM has, nobody knows whose it is once its
 * attachments are lost.
 */
#pragma once

#include "test/sim/incident.h"

/* The first volume that suits, within half an hour. */
void restore_volume(struct sim *sim, const struct incident *incident);
