/* landscape.h - what kind of cluster a scenario is about: how Azure keeps its VMs, in which
 * resource group, and what its nodes are called.
 *
 * It follows from the seed by a stream of random numbers of its own, so that it changes no other
 * choice. A saved scenario names its landscape; one that does not is of the plain one: standalone
 * VMs in azure.json's resource group, named like their nodes.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

enum vm_kind {
    VM_STANDALONE,
    VM_UNIFORM,  /* instances of a uniform scale set: numbers below the set */
    VM_FLEXIBLE, /* VMs of a flexible scale set, with names that are not their nodes' */
};

struct landscape {
    bool kinds[VM_FLEXIBLE + 1]; /* of VMs that there are; nodes take turns */
    bool vms_elsewhere;          /* in another resource group than azure.json's */
    bool other_subscription;     /* that group, and all disks, are of another subscription too */
    bool disks_elsewhere;        /* in a resource group of their own */
    bool no_provider_ids;        /* Nodes without spec.providerID; plain VMs only */
    bool alike_names;            /* of nodes that end in those of others: "a-node-00"; of disks that
                                    begin with those of others: "pvc-1-a" */
    bool static_volumes;         /* some workloads have volumes that were made by hand */
    bool in_tree_volumes;        /* or in-tree (spec.azureDisk), before there was CSI */
    bool old_pvs;                /* a Released PersistentVolume is left beside a bound one */
    bool namesakes;              /* disks made by hand may have the names of others, in resource
                                    groups of their own; with static_volumes */
    bool copies;                 /* some volumes are made of snapshots, or of other volumes */
    bool failover;               /* silent nodes are failed over, with the volumes that want it */
    bool shared_group;           /* another cluster has its disks in the same resource group */
    bool gates;                  /* pods wait until the leader has proposed a node for them */
    bool gate_keepers;           /* others take gates away that are overdue; with gates */
    bool proposals_refused;      /* the role for it is missing; with gates */
};

extern const struct landscape LANDSCAPE_PLAIN;

struct landscape landscape_of_seed(uint64_t seed);
/* The kind of the nth VM. */
enum vm_kind landscape_vm_kind(const struct landscape *landscape, unsigned nth);
/* What it is, in a word for each trait: "uniform elsewhere"; the caller's. */
char *landscape_text(const struct landscape *landscape);
/* INVALID for a word that there is not. */
struct err *landscape_parse(const char *text, struct landscape *ret)
    __attribute__((warn_unused_result));
