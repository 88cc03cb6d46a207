/* proof.h - what may be done with a device: the decision that keeps the driver from the wrong disk.
 *
 * A pure function of what the device must be and of what was seen on it. Seeing is probe.h's
 * business, doing is filesystem.h's and mount.h's.
 *
 * Guarantees, for any input:
 *   - a device of another size than the volume's is not used;
 *   - nor is a disk that says that it is another one, unless it has the volume's file system;
 *   - a volume whose file system is on record gets exactly that file system or nothing, and is
 *     never formatted;
 *   - a device with any signature or any data is never formatted. The one exception is what a
 *     formatting of this very volume, or of the one that it is a copy of, left behind when it was
 *     cut off, which says so itself (format_mark.h): it has never been mounted;
 *   - a file system that belongs to another volume of this driver is not mounted, unless the
 *     volume has none on record and is known to be a copy of that one;
 *   - a volume that is known to be a copy of a file system is never formatted; one that is a copy
 *     of a disk without one on record is, if it is blank;
 *   - read-only access never formats, nor is a partition formatted: somebody else has made it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "provisioner-lib/host/identity.h"
#include "provisioner-lib/host/nvme_namespace.h"

struct disk_expectation {
    const char *disk;    /* the volume's id, which ends in the disk's name; NULL: any disk */
    uint64_t size;       /* bytes */
    uint64_t grown_size; /* that it may have instead, while the disk grows; 0: it does not grow */
    bool may_be_larger;  /* the file system is to be grown */
    bool partition;      /* of the disk is used; the sizes are the disk's */
    bool raw;            /* the volume is a block device; its content is its user's business */
    bool read_only;
    const char *type;                           /* of file system that is asked for */
    const struct filesystem_identity *recorded; /* NULL: none */
    char uuid[UUID_SIZE];                       /* that a file system of this volume has */
    /* While none is on record: what the disk may carry because it is a copy. */
    const struct filesystem_identity *source; /* of the disk that it was made from; NULL: of none */
    const char *accepted;                     /* UUID, by the user's word; NULL: none */
    const char *possible; /* UUIDs, with spaces, that the disk's origin may have had without a
                             record of it; NULL: none. It may have been empty as well. */
};

enum disk_content {
    DISK_UNSIGNED, /* nothing that anybody's software would recognise */
    DISK_FILESYSTEM,
    DISK_OTHER,     /* a partition table, a member of a RAID, swap, ... */
    DISK_AMBIGUOUS, /* several signatures at once */
};

enum { DISK_WORD_SIZE = 64 };

struct disk_observation {
    uint64_t size; /* of the disk; the rest is about the device that is used */
    char disk_name[NVME_DISK_NAME_SIZE]; /* the disk's own word; "": it says nothing */
    enum disk_content content;
    char type[DISK_WORD_SIZE];   /* libblkid's word: "ext4", "gpt"; "" if it has none */
    char uuid[DISK_WORD_SIZE];   /* of the file system; "" if it has none */
    bool blank;                  /* unsigned, and nothing but zeros in the first and the last MiB */
    char format_mark[UUID_SIZE]; /* of a formatting that has not ended; "": none */
};

struct disk_verdict {
    bool format;     /* before it is mounted */
    bool record_due; /* what it carries, then, is to be put on record */
    /* It carries its origin's file system. Before it is mounted for writing, this gets the volume's
     * UUID, which is on record then; read-only it is mounted as it is, and nothing is written. */
    bool copy;
};

/* Nothing is on it, or what a formatting left that was cut off: whatever the volume is, no other
 * device is formatted. */
bool proof_may_be_formatted(const struct disk_observation *found);

/* PRECONDITION, saying what was expected and what was found, if the device must not be touched. */
struct err *proof_decide(const struct disk_expectation *expected,
                         const struct disk_observation *found, struct disk_verdict *ret)
    __attribute__((warn_unused_result));
