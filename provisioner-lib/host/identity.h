/* identity.h - which file system belongs to which volume.
 *
 * A LUN says only where a disk hangs. That it is the right disk is seen from what is on it: this
 * driver gives every file system that it makes a UUID that follows from the volume's id, so that
 * any node can tell, without asking anybody, whose file system it has found.
 *
 * The UUID: bytes 0 to 3 are the driver's mark, "azdk"; the others are the first twelve bytes of
 * the SHA-256 of the volume id in lower case (Azure's ids differ only by more than their case),
 * with version 8 and the variant of RFC 9562 put in. So a UUID with the mark that is not the
 * volume's own is the UUID of another volume.
 *
 * Once a file system is on record (an annotation of the volume's custom resources), type and UUID
 * are what the disk must carry. Any thread.
 */
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/rt/random.h"

enum { FILESYSTEM_NAME_SIZE = 16 }; /* "ext4", its NUL included */

struct filesystem_identity {
    char type[FILESYSTEM_NAME_SIZE];
    char uuid[UUID_SIZE];
};

/* The UUID that a file system made for this volume gets. */
void identity_derive(const char *volume_id, char uuid[UUID_SIZE]);
/* Whether a UUID is one that this driver gives to some volume. */
bool identity_has_mark(const char *uuid);

bool identity_is_uuid(const char *text);
/* INVALID if it is none. */
struct err *identity_uuid_bytes(const char *text, unsigned char ret[16])
    __attribute__((warn_unused_result));

/* The record: "ext4 617a646b-...". INVALID if it is not of that form. */
struct err *identity_parse(const char *record, struct filesystem_identity *ret)
    __attribute__((warn_unused_result));
char *identity_format(const struct filesystem_identity *identity)
    __attribute__((warn_unused_result));
