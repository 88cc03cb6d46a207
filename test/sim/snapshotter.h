/* snapshotter.h - VolumeSnapshots of the simulated cluster, and csi-snapshotter, which asks for
 * them.
 *
 * They belong to the world and stay in its list to the end, so that checks can ask for those that
 * should be gone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/list.h"
#include "lib/rt/wait.h"

struct snapshot;
struct volume;
struct world;

enum snapshot_phase {
    SNAPSHOT_WANTED, /* CreateSnapshot was not answered with success yet */
    SNAPSHOT_TAKEN,
    SNAPSHOT_READY,
    SNAPSHOT_GONE, /* DeleteSnapshot was answered with success, or nothing was ever made */
};

struct volume_snapshot {
    struct list link; /* world->snapshots */
    struct world *world;
    char *name;           /* CSI's */
    char *source;         /* id of a volume, which may be gone by now */
    const char *location; /* region, as its VolumeSnapshotClass says it; NULL: the volume's */
    enum snapshot_phase phase;
    bool block;  /* of a block volume */
    char *id;    /* what CreateSnapshot answered; NULL before */
    int64_t gib; /* likewise */
    bool slow;   /* its data is of the kind that Azure copies in the background */
    int64_t taken_seconds;
    bool delete_asked;  /* a DeleteSnapshot was sent */
    bool delete_wanted; /* its VolumeSnapshot was deleted */
    bool impossible;    /* its volume was gone before it could be made */
    char *error;        /* of the last call that failed; NULL: it did not */
    struct waiters changed;
};

/* A VolumeSnapshot is created; `location` is static. */
struct volume_snapshot *snapshotter_take(const struct volume *volume, const char *location);
void volume_snapshot_free(struct volume_snapshot *snapshot);
/* It is deleted, if it was not before. */
void snapshotter_delete(struct volume_snapshot *snapshot);
/* What Azure has of the one from which it is copied to its location; NULL if it has none. */
const struct snapshot *volume_snapshot_local(const struct volume_snapshot *snapshot);
/* Whether its story has come to an end, or rests where it should. */
bool volume_snapshot_is_settled(const struct volume_snapshot *snapshot);
