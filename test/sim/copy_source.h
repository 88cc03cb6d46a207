/* copy_source.h - what the volume of a claim is to be a copy of: a VolumeSnapshot, or the volume of
 * another claim.
 *
 * It is drawn among those that are there when the claim is made, and may be in use, be copied
 * itself, or be gone by the time that somebody copies it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct random;
struct volume;
struct volume_snapshot;
struct workload;
struct world;

struct copy_source { /* at most one of them */
    struct volume_snapshot *snapshot;
    struct volume *volume;
};

/* For a volume of the workload; nothing if there is none that would do. */
struct copy_source copy_source_draw(const struct workload *workload, struct random *random);
bool copy_source_is_any(const struct copy_source *source);
/* CSI's; NULL while it has none. */
const char *copy_source_id(const struct copy_source *source);
/* By the word of its PersistentVolume or VolumeSnapshotContent. */
int64_t copy_source_gib(const struct copy_source *source);
/* The one zone that it can be copied in; -1: it can be copied in all. */
int copy_source_zone(const struct copy_source *source);
/* Whether its data is of the kind that Azure copies in the background. */
bool copy_source_is_slow(const struct copy_source *source);
/* Whether a record that was lost cannot be made anew from what is there: a snapshot is gone from
 * which the content of the volume came, by however many copies. */
bool copy_source_is_untold(const struct volume *volume);

/* At times somebody deletes it within a minute. */
void copy_source_may_go(struct world *world, const struct copy_source *source);
