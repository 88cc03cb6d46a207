/* node_info.h - what placement has to know of every node, kept up to date with each change.
 *
 * One row for each node of which there is anything: a Node, an AzDriverNode or attachments. A
 * change of an object costs the row of one node, so that a heartbeat or a publish costs the same in
 * a cluster of a thousand nodes as in one of three. The controller owns the table;
 * routing/replica_events.c feeds it, everybody may read it. A row is good until the next yield.
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
    bool spot;                              /* Azure may take it away at any time */

    bool ready;            /* Kubernetes says so */
    bool given_up;         /* Kubernetes has not heard of it for too long, or there is no Node */
    bool plugin_ready;     /* its last word */
    int64_t heard_us;      /* when that was; wall time */
    bool unwell;           /* one of these two is not ready */
    uint64_t unwell_since; /* loop time */

    unsigned slots;       /* data disks of ours that the VM can have */
    unsigned attachments; /* that are there, or are to be */
    unsigned primaries;   /* of them */
    unsigned assumed;     /* attachments that are being made at this moment */

    bool was_unreachable; /* when node_infos_newly_unreachable looked last */
    size_t index;
    bool has_plugin;
    UT_hash_handle hh; /* by `name` */
};

struct node_infos;

/* `heartbeat_limit_ms`: a plug-in that was silent for longer is not ready. */
struct node_infos *node_infos_new(struct loop *loop, const char *driver_name,
                                  uint64_t heartbeat_limit_ms);
void node_infos_free(struct node_infos *table);
DEFINE_CLEANUP(struct node_infos, node_infos_free)

size_t node_infos_count(const struct node_infos *table);
struct node_info *node_infos_at(const struct node_infos *table, size_t index);
struct node_info *node_infos_find(const struct node_infos *table, const char *name); /* or NULL */

/* ---- of a row ---- */

/* May a replica be placed there? */
bool node_info_is_ready(const struct node_infos *table, const struct node_info *row);
/* Not, and for so long that a replica there no longer counts. Before that a moment's silence is
 * given time to end. */
bool node_info_is_unreachable(const struct node_infos *table, const struct node_info *row);
unsigned node_info_free_slots(const struct node_info *row);

/* ---- changes; `before` or `after` may be NULL ---- */

void node_infos_node_changed(struct node_infos *table, const struct kube_object *before,
                             struct kube_object *after);
void node_infos_plugin_changed(struct node_infos *table, const struct kube_object *before,
                               const struct kube_object *after);
void node_infos_attachment_changed(struct node_infos *table, const struct kube_object *before,
                                   const struct kube_object *after);

/* An attachment that is being made: nobody else may take its slot until it is in the store, and the
 * volumes of the same pod follow it. In the caller's memory. */
struct assumed_attachment {
    struct list link;
    const char *volume, *node; /* names */
};
void node_infos_assume(struct node_infos *table, struct assumed_attachment *assumed);
void node_infos_forget(struct node_infos *table, struct assumed_attachment *assumed);
/* The one after `previous`, or the first; NULL at the end. */
const struct assumed_attachment *node_infos_next_assumed(const struct node_infos *table,
                                                         const struct assumed_attachment *previous);

/* Silence is no change of any object. The next row that was lost since the last time; NULL when
 * there are no more. */
struct node_info *node_infos_newly_unreachable(struct node_infos *table);
