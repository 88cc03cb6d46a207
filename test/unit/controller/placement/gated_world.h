/* gated_world.h - a leader that knows some nodes, volumes and pods, as if its watches had told it;
 * it runs nothing, in virtual time.
 *
 * Volume "v" has the disk, the PersistentVolume and the claim of that name; a pod of the namespace
 * "shop" has the claims that it is made with.
 */
#pragma once

#include "controller/controller.h"

struct gated_world {
    struct controller c;
    struct leading leading;
};

void gated_world_open(struct gated_world *world);
void gated_world_close(struct gated_world *world);

/* A node that is well, with places for so many disks; `spec` is that of its Node, without braces.
 */
void gated_world_node(struct gated_world *world, const char *name, unsigned limit,
                      const char *spec);
/* The condition Ready of its Node. */
void gated_world_node_ready(struct gated_world *world, const char *name, const char *status);
/* `mode` is CSI's number, 1 for one writer. */
void gated_world_volume(struct gated_world *world, const char *name, int mode);
void gated_world_attachment(struct gated_world *world, const char *volume, const char *node,
                            const char *role, const char *state);
/* `claims` are names, separated by spaces; `node` NULL: it is at the gate. Its
 * UID is its name. */
struct kube_object *gated_world_pod(struct gated_world *world, const char *name, const char *claims,
                                    const char *node);
/* At the gate, behind one of somebody else. */
struct kube_object *gated_world_held_pod(struct gated_world *world, const char *name,
                                         const char *claims);
void gated_world_remove_pod(struct gated_world *world, const char *name);
