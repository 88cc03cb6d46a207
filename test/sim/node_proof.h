/* node_proof.h - what a simulated node may do with a device: azdisk-node's own decision
 * (provisioner-lib/host/proof.h), over what is on the simulated disk and on record.
 *
 * How large devices are is not looked at.
 */
#pragma once

#include "lib/rt/task.h"
#include "provisioner-lib/host/proof.h"
#include "test/sim/content.h"
#include "test/sim/mount.h"
#include "test/sim/node_attachment.h"

/* Waits a moment, as node/volume_record.c does, until the AzVolume confirms what the attachment has
 * on record; BUSY if it does not, PRECONDITION if the device must not be touched. */
struct err *node_prove(struct task *self, const struct mount *mount, const struct place *place,
                       const struct content *content, struct disk_verdict *ret)
    __attribute__((warn_unused_result));
