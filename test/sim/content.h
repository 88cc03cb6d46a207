/* content.h - what is on the disks and snapshots of the simulated Azure: which file system, and
 * which disk's content, of which moment, they were given.
 *
 * By unique id, to the end of the run: checks ask for what was on disks that are gone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hash.h"
#include "lib/rt/random.h"
#include "test/azsim/model/model.h"

struct content {
    char unique_id[UUID_SIZE];
    char origin[UUID_SIZE]; /* the disk whose content it was given; "": it began empty */
    uint64_t moment;        /* loop_now at which that disk had it */
    char given[UUID_SIZE];  /* the UUID of the file system on it then; "": none */

    char filesystem[UUID_SIZE]; /* likewise, on it now */
    bool unclean;               /* it was not unmounted since: the next mount replays a journal */
    UT_hash_handle hh;
};

/* What the model calls; its context is a `struct contents`. */
extern const struct model_devices CONTENT_DEVICES;

struct contents {
    const struct model *model; /* set once it is there */
    struct content *by_id;
};

void contents_fini(struct contents *contents);
/* Of a disk or a snapshot. */
struct content *content_of(struct contents *contents, const char *unique_id);
