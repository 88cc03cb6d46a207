/* source.h - what a new disk or snapshot is made from: creationData.
 *
 * A source is a disk, a snapshot, or nothing, for a disk that is created Empty.
 */
#pragma once

#include "test/azsim/model/disk.h"
#include "test/azsim/model/snapshot.h"

struct source {
    const struct disk *disk;
    const struct snapshot *snapshot; /* at most one of them */
};

/* The source that a body names; refused if it is missing or not ready. */
struct refusal *source_find(const struct model *model, const json_t *body, struct source *ret)
    __attribute__((warn_unused_result));

const char *source_unique_id(const struct source *source); /* NULL: nothing */
int64_t source_size_gib(const struct source *source);      /* 0: nothing */
/* Whether the data is of a kind that is copied in the background. */
bool source_is_slow(const struct source *source);
