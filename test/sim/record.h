/* record.h - the AzVolumeAttachments and AzVolumes in the API server, read once for each change, so
 * that checks can ask for them after every step.
 *
 * The invariants own them, and feed them with what the API server does. Which disk they are about,
 * they say themselves; a disk is known by its key (test/azsim/model/resource.h). Disks of several
 * resource groups may have one name, and their AzVolumes then have several.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hash.h"
#include "lib/base/list.h"
#include "test/azsim/model/operation.h"

struct sim;

struct volume_record {
    char *name;            /* of the AzVolume */
    char *disk;            /* that it is about, or will be once it is made */
    bool exists, deleting; /* the AzVolume */
    bool created;          /* ... says so */
    const char *state;     /* "Updating" and so on; "" for none; a literal */
    int64_t bytes;         /* that it says the disk has */
    int64_t wanted_bytes;  /* of its spec */
    bool modifying;        /* its disk is to be modified, and that is neither done nor refused */
    unsigned replicas;     /* that it wants */
    char *primary_nodes;   /* that it says it is published to */
    unsigned ready;        /* replicas that it says are attached */
    uint64_t published;    /* loop_now of the world when it last had a primary */
    struct list attachments;
    UT_hash_handle hh, by_disk;
};

struct record {
    struct list link; /* of its volume */
    struct volume_record *volume;
    char *name; /* the object's */
    char *disk; /* that it says it is about */
    char *node;
    bool primary;      /* is to be */
    bool is_primary;   /* is, by its status */
    const char *state; /* "Attached"; "" for none; a literal */
    int lun;           /* -1: none */
    int64_t bytes;     /* of the disk, by its publish context; 0: none */
    bool deleting, detach_requested;
    char attaching[UUID_SIZE]; /* Azure's operation that was to bring the disk last; "": none */
    uint64_t promoted;  /* loop_now of the world when it came to be so, by the first of these */
    uint64_t deleted;   /* loop_now of the world when somebody did; 0: nobody has */
    uint64_t created;   /* likewise */
    uint64_t since;     /* likewise: it has had its role, and whether it is attached, so long */
    uint64_t due_since; /* for invariant_wait.c; 0: it waits for something */
    uint64_t withheld_since; /* likewise; 0: the disk is not */
};

#define RECORD_OF(item) CONTAINER_OF(item, struct record, link)

struct records {
    struct sim *sim;
    struct volume_record *volumes;
    struct volume_record *by_disk; /* the last of each that was said to be about it */
};

void records_fini(struct records *records);
/* Azure has begun with an operation that is to bring the disk there. */
void records_see_operation(const struct records *records, const char *disk, const char *node,
                           const char *operation);
/* What the API server has changed; NULL for what was not there, or is gone. The record or volume
 * that is different, or was. */
void records_see_attachment(struct records *records, const json_t *before, const json_t *after);
void records_see_volume(struct records *records, const json_t *before, const json_t *after);

/* What is on record of a disk, in the sim's invariants; NULL if there is none. */
const struct record *record_find(const struct sim *sim, const char *disk, const char *node);
const struct volume_record *record_volume(const struct sim *sim, const char *disk);
/* By the AzVolume's name. */
const struct volume_record *record_named(const struct sim *sim, const char *name);
const struct record *record_on(const struct volume_record *volume, const char *node);

/* By attachments that have a LUN. */
unsigned record_shares_held(const struct volume_record *volume);

/* How a state is spelled: one of these, by the same pointer for the same word. */
const char *record_state_word(const char *state);
