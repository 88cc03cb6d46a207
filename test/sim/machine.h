/* machine.h - a machine of the simulated cluster: a VM of Azure, its Node, its azdisk-node plug-in
 * and what it has mounted.
 *
 * Machines belong to the world, to its end; one whose VM was deleted may come back under its name.
 * What kubelet does with pods is kubelet.c; that the cluster notices when a machine falls silent is
 * node_lifecycle.c.
 */
#pragma once

#include "lib/base/err.h"
#include "lib/base/list.h"
#include "lib/rt/timer.h"
#include "lib/rt/wait.h"
#include "test/azsim/model/vm.h"
#include "test/sim/volume.h"

struct incident;

struct machine {
    struct list link; /* world->machines, in order of name */
    struct world *world;
    char *name;
    unsigned nth;      /* of all machines, from 0 */
    unsigned zone;     /* from 0 */
    unsigned vms_made; /* one after the other */

    bool up;        /* it runs: its kubelet and its plug-in do */
    bool cut;       /* from the API server; what runs goes on */
    bool frozen;    /* it stands still, as while a host is repaired; implies cut */
    unsigned boots; /* boot id */

    /* As the API server has it. */
    bool registered; /* there is a Node */
    /* Its Node was deleted by hand: kubelet registers it again when it is restarted, not before.
     * Pods go, the plug-in's own with them, after which nothing can be unmounted. */
    bool dismissed;
    bool plugin_gone;
    bool ready, cordoned, out_of_service;
    char *given_up;            /* the boot that the driver has given up, by its taint; NULL: none */
    bool stood_in_for;         /* by the same, on a Node that is the driver's, or was */
    char *moved;               /* the boot from which the driver has moved pods, likewise */
    uint64_t registered_since; /* loop_now time; meaningful while it is registered */
    uint64_t renewed;          /* the lease, loop_now time */
    uint64_t unready_since;    /* meaningful while not ready */
    struct list publications; /* struct publication, by_machine: what VolumeAttachments want here */

    struct volume **in_use; /* node.status.volumesInUse, as last written */
    size_t n_in_use;
    int free_slots; /* as last written; -1: not known */

    const struct incident *struck;  /* by what it is down, cut or drained now; NULL: nothing */
    unsigned rule;                  /* of a fault of its VM, for vm_incidents.c; 0: there is none */
    const struct incident *foreign; /* by what there are somebody else's disks; NULL: nothing */
    bool retired;                   /* it is not to come back */
    bool disks_cut;                 /* no command reaches its disks */

    /* Where nodes are failed over: node_lease.h, node_fence.h, node_repair.h. */
    bool holds_lease; /* as the plug-in knows */
    bool answering;   /* a question about a fence */
    struct timer lease, kubelet_lease, asked;
    unsigned lease_boot;      /* in which it was renewed last */
    uint64_t lease_renewed;   /* loop_now time */
    uint64_t connected_since; /* likewise: it has run and reached the API server since then */
    uint64_t crowded_at;      /* likewise: too many were silent with it */
    uint64_t unprovable_at;   /* likewise: it last had a volume that keeps it from being given up */
    uint64_t may_run_at;      /* likewise, even if Azure says that it is off */
    uint64_t immovable_at;    /* likewise: not every pod that it had was one to be moved */
    uint64_t silent_since;    /* likewise: it does not */
    uint64_t cut_disks_until; /* likewise: the last time that it was cut off from them */
    uint64_t given_up_at;     /* likewise */

    json_t *known;      /* its AzVolumeAttachments, while it cannot hear of them; NULL: all */
    struct list mounts; /* struct mount */
    struct list jobs;   /* struct running_job */
    bool notes_left;    /* of jobs that have ended, perhaps */
    struct timer look;  /* of the plug-in, at its jobs and such notes */
    unsigned plugin_starts;
    uint64_t plugin_back; /* loop_now time: it serves from then on, since its last start */
    bool plugin_told;     /* its AzDriverNode, since then */
    struct timer beat, boot;
    uint64_t beat_due;      /* of the next, if nothing changes before */
    struct waiters changed; /* anything that a pod's worker may wait for */
};

/* With a VM, which runs, and all that makes a node ready. */
struct machine *machine_new(struct world *world, unsigned nth, unsigned zone);
void machine_free(struct machine *machine);
struct machine *machine_find(const struct world *world, const char *name); /* or NULL */
struct vm *machine_vm(const struct machine *machine);                      /* NULL: there is none */
bool machine_is_connected(const struct machine *machine);
/* It is, and the API server is there. */
bool machine_reaches_server(const struct machine *machine); /* up, and reaches the API server */
/* Somebody has set the taint, a person or the driver. */
bool machine_is_out_of_service(const struct machine *machine);
/* Its Node has changed, or is gone (NULL). Must not write. */
void machine_see_node(struct machine *machine, const json_t *node);

/* What it was running and had mounted is lost. The VM stays, with its disks, and Azure says that it
 * is stopped. */
void machine_power_off(struct machine *machine);
/* The same by its host, of which Azure does not know. */
void machine_lose_host(struct machine *machine);
/* It stands still, and Azure says that it is deallocated; it goes on when it is healed. */
void machine_hibernate(struct machine *machine);
/* Azure says that it does not run, or there is none. */
bool machine_is_off(const struct machine *machine);
void machine_power_on(struct machine *machine); /* with a new boot id */
char *machine_boot_id(const struct machine *machine);
/* Its connection to the API server; `frozen` if it also stands still. */
void machine_cut(struct machine *machine, bool frozen);
void machine_heal(struct machine *machine);
void machine_cut_disks(struct machine *machine, bool cut);
/* The VM is deleted, with its power; or another one is made of the same name. */
void machine_delete_vm(struct machine *machine);
bool machine_lost_vm(struct machine *machine); /* whether the deletion has ended; insists on it */
bool machine_make_vm(struct machine *machine); /* false while the old one is still going */
void machine_cordon(struct machine *machine, bool cordoned);
void machine_set_out_of_service(struct machine *machine, bool out_of_service);
/* The Node object goes, as by the cloud's node controller. */
void machine_unregister(struct machine *machine);
/* A person deletes the Node of a machine that runs, and later restarts its kubelet. */
void machine_dismiss(struct machine *machine);
void machine_readmit(struct machine *machine);
/* The pod of the plug-in is gone as well, until then. */
void machine_lose_plugin(struct machine *machine);
/* The plug-in crashes, and its successor serves in `ms`. */
void machine_restart_plugin(struct machine *machine, uint64_t ms);
bool machine_serves(const struct machine *machine); /* the plug-in answers kubelet */
/* Ready is Unknown from now on. */
void machine_mark_unready(struct machine *machine);
/* Until something has changed that a pod's worker may wait for. CANCELED even if that was before
 * the task was cancelled: the mount that it works on is gone then. */
struct err *machine_wait(struct task *self, struct machine *machine, uint64_t deadline)
    __attribute__((warn_unused_result));
/* The driver has changed something of this machine in the API server. */
void machine_heard(struct machine *machine);

#define MACHINE_OF(item) CONTAINER_OF(item, struct machine, link)
