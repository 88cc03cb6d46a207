/* extender_args.h - what kube-scheduler asks: ExtenderArgs of k8s.io/kube-scheduler/extender/v1.
 *
 * Its members are found whatever their case, because the types had lower-case names in JSON once
 * and have the names of their Go fields now. The nodes come in one of two forms: names alone
 * (nodeCacheCapable) or whole objects, which may be many megabytes and are passed over, not parsed.
 */
#pragma once

#include "lib/api/kubernetes.pb-c.h"
#include "lib/base/arena.h"
#include "lib/json/skim.h"
#include "lib/rt/task.h"

enum {
    EXTENDER_MAX_REQUEST = 64 * 1024 * 1024, /* bytes */
    EXTENDER_MAX_NODES = 100 * 1000,
};

enum nodes_form {
    NODES_NONE,
    NODES_BY_NAME, /* NodeNames */
    NODES_WHOLE,   /* Nodes */
};

struct extender_args {
    struct arena *arena; /* holds the pod and the names */
    const Api__Pod *pod;
    enum nodes_form form;
    size_t n_nodes;
    const char **names; /* in the order asked, as the request spells them between the quotes */
    struct json_piece *objects; /* of NODES_WHOLE: pieces of the request, in the same order */
};

/* INVALID, with the member and what is wrong with it; EXHAUSTED for more than EXTENDER_MAX_NODES.
 * `text`, of at most EXTENDER_MAX_REQUEST bytes, must outlive the result. */
struct err *extender_args_parse(struct task *self, const char *text, size_t length,
                                struct extender_args *ret) __attribute__((warn_unused_result));
void extender_args_fini(struct extender_args *args);
