/* pods.h - the pods of a silent node, and which of them can be moved although the node is not given
 * up: those that use nothing but volumes of which the disks refuse the node's writes.
 *
 * A volume can be moved only with every pod that uses it, and a pod only with everything that it
 * uses; so it is together that they stay or go.
 */
#pragma once

#include "controller/failover/work.h"

struct failover_pod {
    struct kube_object *object; /* referenced */
    bool foreign;               /* it uses what nobody can prove */
    size_t *volumes;            /* that it uses, by their indices in the work */
    size_t n_volumes;
};

/* Fills in may_move and moves of the volumes. Pure. */
void failover_pods_mark(const struct failover_pod *pods, size_t n_pods,
                        struct failover_volume *volumes, size_t n_volumes);

/* Gathers those that run or may run there, and what kubelet has in use. */
void failover_pods_gather(struct failover_work *work);
void failover_pods_fini(struct failover_work *work);

/* Says in the Node's status, as kubelet would, that it has let go of the volumes that move, and
 * ends their pods. The first comes without a yield: what was decided may not hold after one. */
struct err *failover_pods_move(struct task *self, struct failover_work *work)
    __attribute__((warn_unused_result));

/* Ends a pod without waiting for kubelet, if it is there still. */
struct err *failover_pod_end(struct task *self, const struct failover_work *work,
                             const char *namespace_, const char *name)
    __attribute__((warn_unused_result));
