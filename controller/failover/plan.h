/* plan.h - what comes next for a node of which nothing is heard, whose Node was deleted, or that
 * was given up. Pure.
 *
 * The order is the safety of it: the taint, by which Kubernetes gives the node's volumes to others,
 * comes only after the disk of every volume in use there has confirmed that it refuses the node's
 * writes, or the cloud that the machine is off (docs/failover.md). A Node that was deleted gets it
 * on a stand-in (stand_in.h).
 *
 * Where that cannot be had for all of them, pods move one by one, with the volumes that only they
 * use: those of which every volume is proven (pods.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "controller/failover/machine_look.h"

/* A volume that is published to the node. */
struct failover_volume {
    bool wanted; /* its parameters ask for automatic failover */
    bool fenced; /* its disk knows the node's key */
    bool proven; /* a replica's node has preempted that key since the node fell silent, or for its
                  * deletion */
    size_t n_replicas;   /* that may be asked to */
    size_t n_asked;      /* of these */
    size_t n_unanswered; /* requests about it that stand */

    /* Of its own, whatever becomes of the node's other volumes; pods.h. */
    bool may_move; /* once it is proven, and what its pods use besides */
    bool moves;    /* it is, and so is that */
    bool held;     /* by a pod there, or by kubelet's last word */
};

struct failover_facts {
    bool has_node;             /* in the API server */
    bool silent;               /* the plug-in and kubelet are */
    bool deleted;              /* there is none, and what it was is known */
    bool out_of_service;       /* the taint is there */
    bool ours;                 /* we set it */
    bool moved;                /* pods were moved away, and the taint that says so is there */
    bool stand_in;             /* and it is there for no other reason */
    bool registered;           /* kubelet takes it for its own all the same */
    bool booted;               /* the node was started anew since either taint */
    bool ready;                /* kubelet says so */
    bool of_other_boot;        /* the plug-in was last heard of in another boot than the Node's */
    bool has_boot_id;          /* without one nobody could tell that it was started anew */
    bool begun;                /* this leader has decided before that the node is to be given up */
    bool impatient;            /* the first replica that was asked has had its time */
    enum machine_look machine; /* whether it is off */

    unsigned n_overdue, n_overdue_most; /* nodes, silent with it or about to be */
    unsigned n_recent, n_recent_most;   /* failovers begun within a minute */
    size_t n_foreign;                   /* volumes in use there that are not ours to prove */
    size_t n_unanswered;                /* requests that stand and were not answered */
    size_t
        n_left; /* disks that are there for no pod any more, and may be written to all the same */
    size_t n_leaving;    /* that may be as well, and are on their way from there */
    size_t n_unreleased; /* volumes that Kubernetes, or the record, has on the node still */

    const struct failover_volume *volumes;
    size_t n_volumes;
};

enum failover_step {
    FAILOVER_NONE,
    FAILOVER_HOLD,     /* `why`: to be told */
    FAILOVER_ASK,      /* a further replica of `volume` to preempt the node's key */
    FAILOVER_LOOK,     /* whether the machine is off */
    FAILOVER_WAIT,     /* for answers */
    FAILOVER_WITHDRAW, /* the requests that were not answered, if there are any those of which the
                        * volume is proven */
    FAILOVER_TAINT,
    FAILOVER_STAND_IN, /* make one */
    FAILOVER_RELEASE,  /* the pods that use the volumes */
    FAILOVER_DETACH,   /* the disks that were left */
    FAILOVER_AVOID,    /* keep new pods away */
    FAILOVER_MOVE,     /* the pods of which all volumes are proven; `why` the others stay */
    FAILOVER_RETURN,   /* take the taints away */
    FAILOVER_REMOVE,   /* the stand-in */
};

enum failover_obstacle {
    FAILOVER_MANY_SILENT,
    FAILOVER_MANY_RECENT,
    FAILOVER_NO_BOOT_ID,
    FAILOVER_OTHER_BOOT, /* the one that fell silent has ended */
    FAILOVER_FOREIGN,
    FAILOVER_NOT_WANTED, /* by `volume`, likewise below */
    FAILOVER_NOT_FENCED,
    FAILOVER_NO_REPLICA,
    FAILOVER_NO_ANSWER, /* for long; it is waited for all the same */
};

struct failover_plan {
    enum failover_step step;
    enum failover_obstacle why;
    size_t volume;
};

struct failover_plan failover_next(const struct failover_facts *in);

/* Whether the step changes what the next one goes by, which is decided at once then. Nobody is told
 * of a taint that changes nothing else: the node may have been cordoned before. */
bool failover_goes_on(enum failover_step step);
