/* foreign_disk.h - disks that somebody else attaches to a machine's VM, where they take places that
 * the driver would use. For node_incidents.c.
 */
#pragma once

#include "test/sim/machine.h"

enum { FOREIGN_DISKS = 4 };

struct incident;

/* Attaches up to `n` disks, one after the other, as the VM's other changes allow. */
void foreign_disks_attach(struct machine *machine, const struct incident *incident, unsigned n);
/* Detaches all disks of that kind from a machine. */
void foreign_disks_detach(struct machine *machine);
