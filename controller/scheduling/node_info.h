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

struct node_row {
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
    unsigned promised;    /* attachments that are being made at this moment */

    bool was_lost; /* when node_table_newly_lost looked last */
    size_t index;
    bool has_plugin;
    UT_hash_handle hh; /* by `name` */
};

struct node_table;

/* `silence_limit_ms`: a plug-in that was silent for longer is not ready. */
struct node_table *node_table_new(struct loop *loop, const char *driver_name,
                                  uint64_t silence_limit_ms);
void node_table_free(struct node_table *table);
DEFINE_CLEANUP(struct node_table, node_table_free)

size_t node_table_count(const struct node_table *table);
struct node_row *node_table_row(const struct node_table *table, size_t index);
struct node_row *node_table_find(const struct node_table *table, const char *name); /* or NULL */

/* ---- of a row ---- */

/* May a replica be placed there? */
bool node_row_is_well(const struct node_table *table, const struct node_row *row);
/* Not, and for so long that a replica there no longer counts. Before that a moment's silence is
 * given time to end. */
bool node_row_is_lost(const struct node_table *table, const struct node_row *row);
unsigned node_row_free_slots(const struct node_row *row);

/* ---- changes; `before` or `after` may be NULL ---- */

void node_table_node_changed(struct node_table *table, const struct kube_object *before,
                             struct kube_object *after);
void node_table_plugin_changed(struct node_table *table, const struct kube_object *before,
                               const struct kube_object *after);
void node_table_attachment_changed(struct node_table *table, const struct kube_object *before,
                                   const struct kube_object *after);

/* An attachment that is being made: nobody else may take its slot until it is in the store, and the
 * volumes of the same pod follow it. In the caller's memory. */
struct node_promise {
    struct list link;
    const char *volume, *node; /* names */
};
void node_table_promise(struct node_table *table, struct node_promise *promise);
void node_table_redeem(struct node_table *table, struct node_promise *promise);
/* The one after `previous`, or the first; NULL at the end. */
const struct node_promise *node_table_next_promise(const struct node_table *table,
                                                   const struct node_promise *previous);

/* Silence is no change of any object. The next row that was lost since the last time; NULL when
 * there are no more. */
struct node_row *node_table_newly_lost(struct node_table *table);
