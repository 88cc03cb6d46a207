/* extender_args.h - what kube-scheduler asks: ExtenderArgs of k8s.io/kube-scheduler/extender/v1.
 *
 * Its members are found whatever their case, because the types had lower-case names in JSON once
 * and have the names of their Go fields now. The nodes come in one of two forms: names alone
 * (nodeCacheCapable) or whole objects, which may be many megabytes. Built is only what is wanted:
 * of the pod its name, its namespace and its volumes with claims; the rest of the request is passed
 * over (pod_text.h). What the nodes are called is read separately, because most pods have no volume
 * of ours and are answered without.
 */
#pragma once

#include "lib/api/kubernetes.pb-c.h"
#include "lib/base/arena.h"
#include "lib/json/cursor.h"
#include "scheduler-extender/name_table.h"

enum { EXTENDER_MAX_NODES = 20 * 1000 }; /* a cluster has 15,000 at most, Azure's 5,000 */

enum nodes_form {
    NODES_NONE,
    NODES_BY_NAME, /* NodeNames */
    NODES_WHOLE,   /* Nodes */
};

struct extender_args {
    struct arena *arena; /* holds the pod */
    Api__Pod *pod;       /* of it, what is named above */
    enum nodes_form form;
    struct json_piece nodes; /* the member itself: a list of names, or an object with a list */

    /* Of extender_args_read_nodes; pieces of the request, in its order. */
    size_t n_nodes;
    struct named *names;        /* as the request spells them between the quotes */
    struct json_piece *objects; /* of NODES_WHOLE */
};

/* INVALID, with the member and what is wrong with it; EXHAUSTED for more claims than these. `text`
 * must outlive the result. Any thread. */
struct err *extender_args_parse(const char *text, size_t length, struct extender_args *ret)
    __attribute__((warn_unused_result));
/* Once, after the parse. INVALID and EXHAUSTED likewise. Any thread. */
struct err *extender_args_read_nodes(struct extender_args *args)
    __attribute__((warn_unused_result));
void extender_args_fini(struct extender_args *args);
