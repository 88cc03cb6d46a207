/* node_info.h - what placement needs to know about every node, updated with each change.
 *
 * One row for each node that has a Node, an AzDriverNode or attachments. A changed object updates
 * the row of one node, so that a heartbeat or a publish costs the same in a cluster of a thousand
 * nodes as in one of three. The controller owns the table; routing/replica_events.c updates it, and
 * everybody may read it. A pointer to a row is valid until the next yield.
 */
#pragma once

#include "lib/base/hash.h"
#include "lib/base/list.h"
#include "lib/kube/object.h"
#include "lib/rt/loop.h"

struct node_info {
    char *name;
    struct kube_object *node;               /* referenced; NULL: there is no Node */
    const char *zone, *fault_domain, *pool; /* its labels; "" if it has none */
    bool spot;                              /* Azure may evict it at any time */

    bool ready;            /* the Node's condition Ready */
    bool given_up;         /* Kubernetes considers it unreachable, or there is no Node */
    bool plugin_ready;     /* as last reported */
    int64_t heard_us;      /* time of that report; wall time */
    bool unwell;           /* one of these two is not ready */
    uint64_t unwell_since; /* loop time */

    unsigned slots;       /* data disks of the driver that the VM can have */
    unsigned attachments; /* recorded for this node */
    unsigned primaries;   /* of them */
    unsigned assumed;     /* attachments that are being created at this moment */

    bool was_unreachable; /* at the last call of node_infos_newly_unreachable */
    size_t index;
    bool has_plugin;
    UT_hash_handle hh; /* by `name` */
};

struct node_infos;

/* `heartbeat_limit_ms`: a plug-in whose last heartbeat is older is not ready. */
struct node_infos *node_infos_new(struct loop *loop, const char *driver_name,
                                  uint64_t heartbeat_limit_ms);
void node_infos_free(struct node_infos *table);
DEFINE_CLEANUP(struct node_infos, node_infos_free)

size_t node_infos_count(const struct node_infos *table);
struct node_info *node_infos_at(const struct node_infos *table, size_t index);
struct node_info *node_infos_find(const struct node_infos *table, const char *name); /* or NULL */

/* ---- of a row ---- */

/* Whether a replica may be placed there. */
bool node_info_is_ready(const struct node_infos *table, const struct node_info *row);
/* Whether the node has not been ready for so long that a replica there no longer counts; a short
 * interruption does not matter, nor does a silence of all plug-ins at once. */
bool node_info_is_unreachable(const struct node_infos *table, const struct node_info *row);
unsigned node_info_free_slots(const struct node_info *row);

/* ---- changes; `before` or `after` may be NULL ---- */

void node_infos_node_changed(struct node_infos *table, const struct kube_object *before,
                             struct kube_object *after);
void node_infos_plugin_changed(struct node_infos *table, const struct kube_object *before,
                               const struct kube_object *after);
void node_infos_attachment_changed(struct node_infos *table, const struct kube_object *before,
                                   const struct kube_object *after);

/* An attachment that is being created: its slot is taken until it is in the store, and the volumes
 * of the same pod are placed with it. The caller owns the memory. */
struct assumed_attachment {
    struct list link;
    const char *volume, *node; /* names */
};
void node_infos_assume(struct node_infos *table, struct assumed_attachment *assumed);
void node_infos_forget(struct node_infos *table, struct assumed_attachment *assumed);
/* The one after `previous`, or the first; NULL at the end. */
const struct assumed_attachment *node_infos_next_assumed(const struct node_infos *table,
                                                         const struct assumed_attachment *previous);

/* The next row that has become unreachable since the last call; NULL if there is none. No object
 * changes when a node becomes unreachable, so this has to be polled. */
struct node_info *node_infos_newly_unreachable(struct node_infos *table);
