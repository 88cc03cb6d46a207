/* volume.h - a volume of the simulated cluster: a PersistentVolumeClaim with, once it is made, its
 * PersistentVolume, and what people wish of it.
 *
 * Volumes belong to the world and stay in its list to the end, so that checks can ask for those
 * that should be gone. The objects in the API server are written from these structs, never read.
 */
#pragma once

#include <jansson.h>

#include "lib/base/list.h"
#include "lib/rt/random.h"
#include "lib/rt/wait.h"
#include "test/sim/copy_source.h"

struct pod;
struct workload;
struct world;

enum { WORLD_ZONES = 3, VOLUME_GIB = 10 };

/* Where it is in the hands of the provisioner. */
enum volume_phase {
    VOLUME_PENDING,  /* CreateVolume was not answered with success yet */
    VOLUME_BOUND,    /* there is a disk and a PersistentVolume */
    VOLUME_RELEASED, /* its claim is gone; with reclaim policy Retain that is the end */
    VOLUME_GONE,     /* DeleteVolume was answered with success, or nothing was ever made */
};

enum volume_origin {
    VOLUME_DYNAMIC, /* CreateVolume */
    VOLUME_STATIC,  /* by hand */
    VOLUME_IN_TREE, /* by kube-controller-manager, before there was CSI */
};

/* Whether another cluster has a disk of the name that CreateVolume is to give to this one. */
enum taken_name {
    NAME_FREE,
    NAME_OF_OTHER_CLUSTER,   /* with that cluster's mark */
    NAME_OF_EARLIER_VERSION, /* with the mark of a driver that did not say which cluster it is in */
};

struct volume_wish {
    unsigned max_shares, replicas;
    bool zonal;  /* LRS, in the zone of the first pod; else ZRS */
    bool block;  /* RWX, raw, for several nodes at once; else RWO with a file system */
    bool retain; /* reclaim policy; of one that was made by hand: the person keeps it */

    enum volume_origin origin;
    bool large;  /* more than 4 TiB */
    bool silent; /* its PersistentVolume says nothing of the disk */
    bool old_pv; /* another PersistentVolume is left, Released, from an earlier use of its disk */

    enum taken_name taken;
    bool taken_differs; /* the other cluster's disk has another size */

    struct copy_source source; /* what it is to be a copy of */
    bool fast;                 /* PremiumV2; a zonal one */
    int64_t gib;               /* its size at first; 0: VOLUME_GIB */

    bool failover; /* automatic, asked for by the StorageClass */
    bool by_label; /* ... by the pods instead */
    bool unfenced; /* its devices have no reservations */

    bool refused; /* Azure attaches its disk to no VM, which it knows by the disk's name */
};

struct volume {
    struct list link; /* world->volumes */
    struct world *world;
    char *claim, *pv;
    char *old_pv; /* NULL: there is none (any more) */
    struct volume_wish wish;
    enum volume_phase phase;
    bool asked; /* a CreateVolume was sent: there may be a disk */
    char
        *taken_by; /* the unique id of the other cluster's disk of its name; NULL: there was none */
    bool delete_asked;          /* a DeleteVolume was sent */
    bool delete_wanted;         /* its claim was deleted */
    char *handle;               /* what CreateVolume answered; NULL before */
    char *disk;                 /* the key of that id in Azure (resource.h); NULL likewise */
    char filesystem[UUID_SIZE]; /* the UUID of the one that belongs on it, likewise */
    json_t *context;            /* likewise */
    unsigned zones;             /* where it can be attached, one bit for each; 0: not made yet */
    int chosen_zone;            /* where it is to be made: its first pod's; -1: not known yet */
    unsigned refusals;          /* of its creation, for good */
    char *error;                /* of the last call that failed; NULL: it did not */
    uint64_t by_hand_ms; /* the next time it is attached elsewhere too, for so long; 0: it is not */
    int64_t gib;         /* its PersistentVolume's capacity */
    int64_t wanted_gib;  /* its claim's request */
    char *resize_error;  /* of the last ControllerExpandVolume that failed; NULL: it did not */
    const char *wanted_sku;  /* its VolumeAttributesClass's, a literal; NULL: it has none */
    unsigned asked_skus;     /* all that it was ever asked for, a bit each (sku_bit) */
    const char *given_sku;   /* likewise, of the last ControllerModifyVolume that succeeded */
    char *modify_error;      /* of the last one that failed; NULL: it did not */
    int64_t by_hand_gib;     /* to which somebody has made its disk grow in Azure; 0: nobody has */
    unsigned by_hand_shares; /* likewise, that somebody has left it; 0: nobody has */
    uint64_t given_up_at;    /* loop_now: a node that had it was; 0: none ever was */
    unsigned stages;         /* how often it was mounted, anywhere */
    struct waiters changed;
};

/* Creates the claim; a provisioner takes care of it from now on. */
struct volume *volume_new(struct world *world, const char *claim, const struct volume_wish *wish);
void volume_free(struct volume *volume);
/* Deletes the claim: it goes when no pod uses it. */
void volume_delete(struct volume *volume);
unsigned volume_shares(const struct volume *volume); /* that its disk has by now */
bool volume_is_used(const struct volume *volume);    /* by a pod that is there */
/* Ends the object of a claim that was deleted. */
void volume_remove_claim(struct volume *volume);
/* Takes over what CreateVolume has answered, and binds the claim. */
void volume_bind(struct volume *volume, const char *handle, json_t *context, unsigned zones);
/* Its claim waits for a PersistentVolume again; there is a disk. */
void volume_unbind(struct volume *volume);
/* Its claim asks for so much from now on. */
void volume_request(struct volume *volume, int64_t gib);
/* Bit n is for DISK_SKU_NAMES[n]. */
unsigned sku_bit(const char *sku);
/* It gets another VolumeAttributesClass, which is about the disk's kind: a literal. */
void volume_request_sku(struct volume *volume, const char *sku);
/* Takes over what ControllerExpandVolume has answered. */
void volume_resize(struct volume *volume, int64_t gib);
/* That is, all of its PersistentVolumes. */
void volume_remove_pv(struct volume *volume);
/* One of them: whichever a VolumeAttachment names. */
const char *volume_any_pv(const struct volume *volume);
/* What its disk is called, by its handle. */
const char *volume_disk_name(const struct volume *volume);
struct volume *volume_find_by_handle(const struct world *world, const char *handle);
/* Whether its story has come to an end, or rests where it should. */
bool volume_is_settled(const struct volume *volume);
