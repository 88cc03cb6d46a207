/* other_driver.h - volumes of another CSI driver on some machines, where nodes are failed over:
 * nobody can prove that such a volume is not written to.
 *
 * A machine has one of them for good, which Kubernetes knows of in one of three ways, or for as
 * long as a pod is there that uses a share (workload.h).
 */
#pragma once

#include "test/sim/machine.h"

bool other_driver_is_on(const struct machine *machine);
/* A pod that may have it mounted is there. */
bool other_driver_is_shared_on(const struct machine *machine);
/* When the machine's Node is there. */
void other_driver_register(const struct machine *machine);
/* What kubelet says is in use there; NULL: nothing. */
const char *other_driver_in_use(const struct machine *machine);
