/* attachment.h - an AzVolumeAttachment: what it says, and what is written of it in more than one
 * place.
 *
 * For all programs. Readers are pure; what they return is borrowed. A member that is not there, or
 * cannot be read, is said not to be there.
 */
#pragma once

#include <jansson.h>

#include "lib/api/azdisk.pb-c.h"
#include "lib/api/names.h"
#include "lib/kube/object.h"

enum { NO_LUN = -1 };

const Api__AzVolumeAttachment *as_attachment(const struct kube_object *object);

/* ---- what it says ---- */

bool attachment_wants(const Api__AzVolumeAttachment *attachment, const char *role); /* spec.role */
/* How it is published; false if it is for writing, or not published at all. */
bool attachment_is_read_only(const Api__AzVolumeAttachment *attachment);
/* The role on record, which a node goes by. */
bool attachment_is(const Api__AzVolumeAttachment *attachment, const char *role);
const char *attachment_state(const Api__AzVolumeAttachment *attachment); /* "" if it has none yet */
/* A note in status.annotation; NULL if it is not there. */
const char *attachment_annotation(const Api__AzVolumeAttachment *attachment, const char *name);
/* Whether the volume's parameters ask for automatic failover (docs/failover.md). */
bool attachment_wants_automatic_failover(const Api__AzVolumeAttachment *attachment);

int attachment_lun(const Api__AzVolumeAttachment *attachment); /* NO_LUN: none on record */
/* The disk's size when it was attached, in bytes; 0: none on record. Upstream's driver has none. */
uint64_t attachment_disk_size(const Api__AzVolumeAttachment *attachment);

/* Why the replica could not be used at once, by the word of its node; NULL if it could, and if the
 * node says nothing of it: plug-ins of earlier releases do not. */
const char *attachment_unready_reason(const Api__AzVolumeAttachment *attachment);

/* Somebody has asked for a replica on this node, for which another one may give way. */
bool attachment_is_asked_for(const Api__AzVolumeAttachment *attachment, int64_t now_us);

/* A store_index_fn: by the disk's id in lower case, as Azure does not keep to one spelling. */
void attachment_index_by_disk(const struct kube_object *object,
                              void (*emit)(void *ctx, const char *value), void *ctx);

/* ---- what is written ---- */

/* What an attachment is for. To be read-only is a matter of the publish and ends with it, so that
 * no replica is. */
struct attachment_purpose {
    const char *role;
    bool read_only;
};

struct attachment_purpose for_replica(void);
struct attachment_purpose for_publish(bool read_only);

/* A new attachment of the volume, without its name (controller/cache/node_attachment.h). */
json_t *attachment_json(const Api__AzVolume *volume, const char *node,
                        struct attachment_purpose purpose);
/* The same of a replica that is asked for until that time, with its name. */
json_t *attachment_asked_json(const Api__AzVolume *volume, const char *node, int64_t until_us);
/* The role on record, and where the disk is unless `lun` is NO_LUN: status.detail. `previous_role`
 * may be NULL. */
json_t *attachment_detail_json(const char *role, const char *previous_role, int lun, int64_t size);
/* A patch that makes it a primary or a replica. */
json_t *attachment_role_json(struct attachment_purpose purpose);
/* A patch of its status: nobody has it published any more, and it goes when it is deleted. */
json_t *attachment_detach_request_json(const Api__AzVolumeAttachment *attachment);
