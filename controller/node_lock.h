/* node_lock.h - which of the controllers that share a node's network may have its sidecars work.
 *
 * The sidecars elect their leaders by the name of the host, and pods in the network of their node
 * all have the node's: two provisioners, or two attachers, of one node would both lead. So the
 * sidecars of all but one controller in a network are kept waiting, by CSI's Probe. Which one it is
 * a Unix socket with an abstract name decides: such names belong to a network, and the kernel frees
 * them when a process ends. A pod in a network of its own always has it.
 */
#pragma once

#include <stdbool.h>

#include "lib/rt/loop.h"

struct node_lock;

/* Taken at once if it is free, else as soon as it is. `name`: controllers of another name are not
 * in the way. */
struct node_lock *node_lock_new(struct loop *loop, const char *name);
void node_lock_free(struct node_lock *lock); /* NULL is fine */
DEFINE_CLEANUP(struct node_lock, node_lock_free)

bool node_lock_is_held(const struct node_lock *lock);
