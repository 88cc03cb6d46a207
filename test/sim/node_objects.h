/* node_objects.h - what is said of a machine in the API server: its Node with lease, and the
 * AzDriverNode of its plug-in (node/heartbeat.h).
 *
 * For machine.c and node_lifecycle.c.
 */
#pragma once

#include "test/sim/machine.h"

/* The Node of a machine that has none. */
void node_register(struct machine *machine);
/* The boot id, by which kubelet tells that the machine was started anew. */
void node_report_boot(struct machine *machine);
/* Renews the lease and writes the plug-in's heartbeat; a node that was not ready is ready again. */
void node_beat(struct machine *machine);
/* Places for disks on the VM that are not taken; -1 as long as the controller did not say how many
 * there are. */
int node_count_free_slots(const struct machine *machine);
/* What the plug-in has to tell before its next heartbeat is due. */
bool node_has_news(const struct machine *machine);
/* The boot that the driver has given up, by the taint of a Node (NULL is fine); NULL: none. */
const char *node_given_up(const json_t *node);
/* Whether the Node stands in for one that was deleted, likewise. */
bool node_is_stand_in(const json_t *node);
/* Whether a Node, as it is written, names the volume in status.volumesInUse. */
bool node_has_in_use(const json_t *node, const struct volume *volume);
/* node.status.volumesAttached, by the attach/detach controller. */
void node_write_attached(struct machine *machine);
