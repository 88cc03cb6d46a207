/* growth.h - a disk that is to become larger.
 *
 * ControllerExpandVolume writes the size that is wanted into spec.capacityRange and the state
 * "Updating"; the reconciler of the AzVolume (volume/reconcile.c) does the rest, whoever leads by
 * then. The state says that the size is wanted: a range alone, which the volume was made with or
 * another version of the driver wrote, makes no disk larger.
 *
 * No disk grows while Azure copies data to it. Azure would let the snapshots of a PremiumV2 or
 * Ultra disk fail that it still copies: such a disk waits for those, too. A disk that several VMs
 * may have cannot grow while one has it (provisioner-lib/disk_sku.h): it grows when no pod uses the
 * volume (volume/user.h).
 */
#pragma once

#include "controller/controller.h"
#include "controller/volume/plan.h"

/* What the plan has to know of it. */
void growth_gather(const struct controller *controller, const Api__AzVolume *volume,
                   struct volume_snapshot *ret);

/* PRECONDITION if the disk cannot grow to this size now: with what is copied, and how much of it
 * has been, or with who uses it and what to do. */
struct err *growth_check_possible(const struct controller *controller,
                                  const struct kube_object *object, int64_t to_gib)
    __attribute__((warn_unused_result));

/* Patches of the AzVolume, for ControllerExpandVolume: the size, and the state that requests it. */
json_t *growth_wish_json(int64_t required_bytes, int64_t limit_bytes);
json_t *growth_begin_json(void);

/* Makes the disk as large as is asked for, and records it. */
struct err *growth_carry_out(struct task *self, struct controller *controller,
                             const struct kube_object *object) __attribute__((warn_unused_result));
