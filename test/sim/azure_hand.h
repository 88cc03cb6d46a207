/* azure_hand.h - somebody else in the Azure account, who attaches and detaches disks of the driver
 * by hand, behind its back. For azure_incidents.c only.
 */
#pragma once

#include <stdbool.h>

#include "test/sim/incident.h"

struct attachment;

/* A disk that the driver holds attached as a replica is detached from its VM. */
void hand_detaches_replica(struct sim *sim, const struct incident *incident);
/* A disk with a share to spare is attached to a VM for which there is no AzVolumeAttachment; and
 * taken away from where it is in nobody's records. */
void hand_attaches_disk(struct sim *sim, const struct incident *incident);
void hand_detaches_disk(struct sim *sim, const struct incident *incident);
/* Of a bound volume, where Azure lets people do so. */
void hand_grows_disk(struct sim *sim, const struct incident *incident);
/* The first disk that no VM has may be had by fewer of them from then on. */
void hand_lowers_shares(struct sim *sim, const struct incident *incident);
void hand_does_nothing(struct sim *sim, const struct incident *incident);
