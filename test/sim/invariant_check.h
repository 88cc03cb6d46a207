/* invariant_check.h - what the files of the invariants share, and the invariants' names.
 *
 * A name is the list of arguments of verdict_violated between the sim and the text: what the design
 * calls it, and what a user would have lost. For invariant*.c and liveness.c only.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "lib/base/hash.h"
#include "test/azsim/arm/arm.h"
#include "test/sim/invariant.h"
#include "test/sim/record.h"
#include "test/sim/sim.h"
#include "test/sim/world.h"

/* clang-format off */

#define ONE_PRIMARY "I1 one primary", \
    "Two nodes believe that they may mount the volume: two writers destroy its file system."
#define REPLICA_NOT_MOUNTED "I1 a replica is not mounted", \
    "A pod uses a volume through an attachment that may be taken away at any moment."
#define ONE_WRITER "I6 one writer", \
    "Two nodes write to a disk with a file system for one: it is destroyed."
#define NOT_BEHIND "I6 nothing is written after a successor", \
    "A node that was given up goes on writing to a file system that another one has mounted since."
#define NO_PROOF "I21 no node is given up without proof", \
    "A pod is started elsewhere while the node may still write to its volumes, whatever they are."
#define HEARD_OF "I21 a node that is heard of is not given up", \
    "All pods of a node that is well are killed."
#define SILENCE_OF_ANOTHER "I21 no boot of a node is given up for another one's silence", \
    "A node that was just started anew is out of service until a person starts it once more."
#define NETWORK_IS_DOWN "I21 of many nodes that are cut off together none is given up", \
    "A switch that fails for a minute has the pods of its nodes killed, although they run."
#define STAYS_GIVEN_UP "I21 what was given up is started anew first", \
    "Pods run on over file systems that have lost writes."
#define KEEPS_FENCE "I21 a node that is heard of keeps its fences", \
    "A pod that runs can no longer write to its volume."
#define GIVEN_UP_IN_TIME "I22 a silent node is given up in time", \
    "Its pods are down for minutes, as if there were no failover."
#define RUNS_ELSEWHERE "I22 what was given up goes to a replica at once", \
    "A failover takes as long as without replicas."
#define TAKEN_BACK "I22 a node that was started anew is taken back", \
    "It stands idle until a person sees why."
#define ONE_LEADER "I6 one leader", \
    "Two controllers change the same VMs, each by what it believes: a disk in use is detached."
#define RIGHT_DISK "I2 the right disk", \
    "A pod has another volume's data, and overwrites it."
#define LUN_OF_ONE_DISK "I2 a LUN is one disk's", \
    "A node is sent to another volume's device."
#define ONE_RECORD "I1 one record of a disk", \
    "Each of them decides who may write to the disk, and neither knows of the other."
#define NOT_OURS "I3 what is not ours stays", \
    "Somebody else's disk is taken away, or what is on it."
#define PRIMARY_FIRST "I4 a primary never waits for a replica", \
    "A pod waits while spare copies of other volumes are attached to its node."
#define PUBLISHED_STAYS "I5 a published volume stays attached", \
    "The disk is pulled out from under a running pod."
#define USED_STAYS "I5 a volume in use is not deleted", \
    "All data of the volume is lost."
#define SNAPSHOT_STAYS "I5 a snapshot stays until it is deleted", \
    "The backup that somebody relies on is gone."
#define COPY_OF_SOURCE "I20 a copy has its source's content", \
    "A restored volume is empty, or has somebody else's data."
#define COPY_IS_KNOWN "I20 a copy's record says whose file system it has", \
    "No node mounts the volume, or one mounts a disk that is not its."
#define COPY_IS_MADE "I20 a source that is there is copied", \
    "The backup is there, and nobody can restore it."
#define CALL_WAS_DONE "I7 an answered call is done", \
    "Kubernetes goes on as if it were done: a pod starts without its disk, or a disk is left over."
#define RETRY_AFTER "I8 nothing before its Retry-After", \
    "Azure extends its throttling, and nothing at all is attached for minutes."
#define SHARES "I2 no more attachments than shares", \
    "Azure refuses the whole change of the VM: a pod waits for another try, its neighbours too."
#define ONE_AT_A_TIME "I11 a disk is changed on one VM after the other", \
    "Azure refuses the whole change of the second VM: a pod waits for another try."
#define KEPT_FOR_A_WHILE "I13 replicas stay for a while", \
    "A pod that comes back waits for the cloud: its replicas went the moment it was gone."
#define AT_ONCE "I12 what can go on goes on", \
    "A pod waits minutes for a disk that is there: a fail-over takes as long as without replicas."
#define LEAVES "I12 what leaves has left", \
    "A volume's deletion waits for as long as another volume's disk cannot be attached."
#define CHANGES_ALONE "I17 a disk is changed where Azure allows it", \
    "Azure refuses it, again and again: the volume stays as it was."
#define GROWS_AS_ASKED "I18 a disk is as large as was asked for", \
    "It can never become smaller, and is paid for as long as it exists."
#define MODIFIED_AS_ASKED "I18 a disk is of the kind that was asked for", \
    "It is paid for as another kind, and as fast; Azure allows two changes a day."
#define SAYS_SIZE "I19 an attachment says how large its disk is", \
    "The node takes the disk for another one, and the pod does not start."
#define NO_BLIND_WRITE "I14 nothing is written over unseen", \
    "What somebody else has just recorded is lost: a pod is sent to a LUN of before."
#define PROGRAM_IS_SEEN "I16 a program that writes is seen", \
    "mkfs or fsck writes to a disk that a pod on another node has mounted: it is destroyed."
#define NO_LOOP "I10 nothing in a loop", \
    "The API server is flooded, and everything else in the cluster waits for it."
#define NO_SECRETS "I9 no secret is written down", \
    "Whoever can read objects in the cluster can log in to the Azure account."

#define NO_GATE "I23 no pod waits at the gate", \
    "A pod that could run does not: it waits for a proposal that was to be advice only."
#define OTHERS_GATES "I24 the gates of others stay", \
    "A pod runs that somebody else has held back, and had his reasons."

#define WISHES "L1 all wishes are met", \
    "A pod never starts, or a deletion never ends, though nothing is wrong any more."
#define RECORDS_TRUE "L2 records are true", \
    "The driver says of a disk what is not so; the next failover is decided on it."
#define NOTHING_LEFT "L3 nothing is left over", \
    "A disk is paid for that nobody knows of, or a place on a VM is lost."
#define REPLICAS_THERE "L4 replicas are where they can be", \
    "The next node that dies takes minutes to recover from, not seconds."

/* clang-format on */

/* A volume on a node as CSI calls say it. */
struct publishing {
    char *key;      /* "disk node" */
    uint64_t since; /* world's time of the answer that it is published; 0: it is not */
    unsigned publishes, unpublishes; /* calls under way */
    bool crossed;                    /* an unpublish began while a publish was under way */
    uint64_t recorded;    /* the model's sequence when it last was on record: what is attached since
                           * then, somebody else has attached */
    bool deleted_by_hand; /* the AzVolumeAttachment; until there is one of a primary again */
    UT_hash_handle hh;
};

/* What CSI calls have asked a volume's size to be. */
struct growing {
    char *disk;
    int64_t most_bytes;     /* ever */
    int64_t asked_bytes;    /* and not taken back, by the answer to a later call */
    uint64_t asked_at;      /* that answer */
    unsigned calls;         /* under way */
    uint64_t unclear_until; /* a call that nobody waits for any more may be at work */
    UT_hash_handle hh;
};

/* A volume, and what CreateVolume was asked to make it of. */
struct copying {
    char *key;              /* "name source-id"; the latter is "" for an empty one */
    uint64_t since;         /* the first call */
    int64_t since_us;       /* likewise, by Azure's clock */
    char source[UUID_SIZE]; /* its unique id when a call began; "": it was never there */
    bool is_snapshot;       /* it is one */
    int64_t gib;            /* its size then */
    bool was_absent;        /* it was not there when a call began, or is to be deleted */
    char made[UUID_SIZE];   /* the disk that was answered; "": none was */
    UT_hash_handle hh;
};

struct invariants {
    struct sim *sim;
    struct copying *copyings;
    struct growing *growings;
    struct records records;
    uint64_t changes;                                       /* of AzVolumeAttachments */
    uint64_t seen_changes, seen_azure_changes, seen_mounts; /* at the last look */
    bool leads[SIM_CONTROLLERS];
    uint64_t led_since;         /* the last time that another one began to lead */
    unsigned troubles;          /* incidents under way that are not work */
    uint64_t trouble_at;        /* the last time that one began or ended */
    uint64_t mended;            /* the last time that one ended; 0: none has */
    unsigned server_troubles;   /* of these: with controllers, servers and the ways to them */
    uint64_t server_trouble_at; /* likewise */
    unsigned control_troubles;  /* of these: all but Azure's */
    uint64_t control_mended;    /* when the last of them began or ended; 0: none has */
    uint64_t server_back;       /* when the API server was last seen to be away */
    uint64_t gates_seen;        /* when gates were looked at last */
    uint64_t failovers_seen;    /* when nodes were looked at last */
    uint64_t waits_seen;        /* when waits were looked at last */
    struct publishing *publishings;
};

/* The volume that has this disk; NULL: it is none of ours. A disk is known by its key
 * (test/azsim/model/resource.h), here and below. */
struct volume *volume_of_disk(const struct sim *sim, const char *disk);
const struct publishing *publishing_find(const struct invariants *invariants, const char *disk,
                                         const char *node);
/* Whether CSI says that it is there now, on a node that has its VM. */
bool is_published(const struct invariants *invariants, const char *disk, const char *node);

/* invariant_state.c: what is, after something has changed */
void check_record(struct invariants *invariants, const struct volume_record *volume);
/* Which disk it is about, after either kind of object has changed. */
void check_disk(const struct invariants *invariants, const struct volume_record *volume);
uint64_t mounts_now(const struct sim *sim); /* another number when others write to disks */
void check_mounts(struct invariants *invariants);
/* invariant_wait.c: how long it takes */
void check_waits(struct invariants *invariants);
bool is_calm(const struct invariants *invariants); /* nothing has been wrong for minutes */
/* A cache may have lacked then, world's time, what others wrote: by a fault that lasts. */
bool may_be_behind(const struct invariants *invariants, uint64_t then);
/* invariant_request.c: what the driver has asked of Azure */
void check_request(struct invariants *invariants, const struct arm_record *record);
bool vm_has_disk(const struct vm *vm, const char *disk);
/* In the world's time, when the request came. */
uint64_t came_at(const struct sim *sim, const struct arm_record *record);
/* invariant_call.c: what was answered to CSI calls */
void check_answer(struct invariants *invariants, const char *method,
                  const ProtobufCMessage *request, const ProtobufCMessage *response,
                  const struct err *err);
void note_question(struct invariants *invariants, const char *method,
                   const ProtobufCMessage *request);
/* invariant_change.c: disks that become larger or of another kind */
void note_growth_question(struct invariants *invariants, const ProtobufCMessage *request);
void check_growth_answer(struct invariants *invariants, const ProtobufCMessage *request,
                         const ProtobufCMessage *response, const struct err *err);
/* It is about to be asked for, with this body. */
void check_changes(struct invariants *invariants, const char *disk_id, const char *text,
                   size_t length);
/* What has just been recorded as attached. */
void check_attached_size(const struct invariants *invariants, const struct record *record);
void check_change_request(struct invariants *invariants, const struct arm_record *record);
void check_modify_answer(struct invariants *invariants, const ProtobufCMessage *request,
                         const struct err *err);
/* The replicas of a volume that nobody has, and that is to be changed, go at once. */
bool makes_way_for_change(const struct invariants *invariants, const struct volume_record *volume);
void check_changes_at_end(struct sim *sim, const struct volume *volume);

/* ---- invariant_failover.c ---- */

/* A Node has changed. */
void check_taint(struct invariants *invariants, const json_t *before, const json_t *after);
void check_failovers(struct invariants *invariants);
/* Whether nothing but a fence keeps its node from writing, and there is none. */
bool mount_may_write(const struct mount *mount);

/* ---- invariant_move.c ---- */

enum { FAILOVER_DECISION_MS = 15 * 1000 }; /* from the end of the grace period to what is written */

/* A Node has changed. */
void check_moved(const struct invariants *invariants, const json_t *before, const json_t *after);
/* No pod there uses another driver's volume, nor will. */
bool pods_can_move(const struct machine *machine);
/* The machine is silent, and nobody is in the way since `due`. */
void check_moved_in_time(const struct machine *machine, uint64_t due);

/* ---- invariant_gate.c ---- */

/* A pod has changed. */
void check_gates_of(const struct invariants *invariants, const json_t *before, const json_t *after);
void check_gates(struct invariants *invariants);

/* ---- invariant_copy.c ---- */

void note_copy_question(struct invariants *invariants, const ProtobufCMessage *request);
void check_copy_answer(struct invariants *invariants, const ProtobufCMessage *request,
                       const ProtobufCMessage *response, const struct err *err);
/* A disk is asked for. */
void check_creation(struct invariants *invariants, const struct arm_record *record);
/* What is on a disk that is mounted. */
void check_mounted_content(const struct invariants *invariants, const struct mount *mount);
void copyings_fini(struct invariants *invariants);

/* ---- invariant_snapshot.c ---- */

void check_snapshot_created(struct invariants *invariants, const ProtobufCMessage *request,
                            const ProtobufCMessage *response, const struct err *err);
void check_snapshot_deleted(struct invariants *invariants, const ProtobufCMessage *request,
                            const struct err *err);
void check_snapshots_at_end(struct sim *sim);
void growings_fini(struct invariants *invariants);
/* There is an AzVolumeAttachment, or has been until now. */
void note_record(struct invariants *invariants, const char *disk, const char *node);
void note_deleted_by_hand(struct invariants *invariants, const char *disk, const char *node);
void calls_fini(struct invariants *invariants);
