/* creation.h - something is created once, whatever answers are lost: disks and snapshots.
 *
 * It is looked at first, because a PUT over what exists would change it, or take its place. What an
 * earlier call has begun is waited for; what is left of one that failed is taken up by another PUT.
 */
#pragma once

#include "provisioner-lib/azure/arm_client.h"

enum creation_state { CREATION_UNDER_WAY, CREATION_DONE, CREATION_FAILED };

/* By what Azure says of it: properties.provisioningState, which may be NULL. */
enum creation_state creation_state_of(const char *provisioning_state);

struct creation {
    const char *what, *id; /* "disk", and its id */
    /* Reads it, and describes it once it is done. Fails if it is not what it is to be. */
    struct err *(*look)(struct task *self, void *ctx, enum creation_state *ret);
    struct err *(*put)(struct task *self, void *ctx); /* until the operation has ended */
    void *ctx;
};

/* BUSY if it is still under way after a minute, or was put and cannot be found by then; the error
 * of a look or of the PUT otherwise. */
struct err *creation_carry_out(struct task *self, const struct creation *creation)
    __attribute__((warn_unused_result));
