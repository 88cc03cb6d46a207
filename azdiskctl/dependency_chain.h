/* dependency_chain.h - from what a person asks about to everything that it stands on: pod, claim,
 * volume, attachment, node, VM.
 *
 * Pure; borrows from the cluster. What is not there, or does not matter, is NULL.
 */
#pragma once

#include "azdiskctl/cluster.h"
#include "azdiskctl/named_kind.h"
#include "provisioner-lib/cloud.h"

struct dependency_chain {
    const struct cluster *cluster;
    const struct kube_object *pod, *claim, *pv, *volume;
    const struct kube_object *volume_attachment; /* the VolumeAttachment that counts */
    const struct kube_object
        *attachment;                 /* on that node; if it is for none, the primary, else any */
    const struct kube_object *rival; /* another node's primary */
    const char *node_name;
    const struct kube_object *node, *plugin; /* Node and AzDriverNode */

    bool machine_known; /* it was asked for */
    const struct cloud_instance *machine;
};

struct dependency_chains {
    struct dependency_chain *items;
    size_t n;
};

/* The kinds of subjects. */
named_kind_fn dependency_chain_kind;

/* `subject` is KIND/NAME. One chain, for a pod one for each of its claims. INVALID if it is not of
 * that form or of no known kind, NOT_FOUND if there is no such object. */
struct err *dependency_chains_find(const struct cluster *cluster, const char *subject,
                                   const char *namespace_, struct dependency_chains *ret)
    __attribute__((warn_unused_result));
/* Those of a pod of the cluster: one for each claim that exists, or one that has only the pod. */
void dependency_chains_of_pod(const struct cluster *cluster, const struct kube_object *pod,
                              struct dependency_chains *ret);
void dependency_chains_fini(struct dependency_chains *chains);
