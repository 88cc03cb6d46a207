/* volume.h - an AzVolume: what it says.
 *
 * For all programs. Pure; what is returned is borrowed. A member that is not there, or cannot be
 * read, is said not to be there.
 */
#pragma once

#include "lib/api/azdisk.pb-c.h"
#include "lib/api/names.h"
#include "lib/kube/object.h"
#include "provisioner-lib/parameters.h"

const Api__AzVolume *as_volume(const struct kube_object *object);

const char *volume_state(const Api__AzVolume *volume); /* "" if it has none yet */
/* A size that ControllerExpandVolume asks for, in spec.capacityRange, and what became of it. */
#define STATE_UPDATING "Updating"
#define STATE_UPDATED "Updated"
#define STATE_UPDATE_FAILED "UpdateFailed"
/* A note in status.annotation; NULL if it is not there. */
const char *volume_annotation(const Api__AzVolume *volume, const char *name);
/* A StorageClass's; NULL if it does not say. */
const char *volume_parameter(const Api__AzVolume *volume, const char *name);

/* ---- its disk ---- */

bool volume_is_created(const Api__AzVolume *volume); /* its disk exists */
/* The id of a disk that was there before the driver; NULL if the driver makes the disk. */
const char *volume_adopted_id(const Api__AzVolume *volume);
/* The id of the disk that is on record, or that it was written for; NULL if the driver is to make
 * one. */
const char *volume_recorded_disk(const Api__AzVolume *volume);
/* Whether a disk of this uniqueId is not the recorded one but a newer one of the same name: what is
 * recorded about the data does not apply to it. */
bool volume_disk_is_another(const Api__AzVolume *volume, const char *unique_id);
/* What is known of it. */
struct caching_disk volume_disk(const Api__AzVolume *volume);

/* How much of its data the cloud has copied to it from its source, in per cent; 100 unless it still
 * copies. */
int volume_percent(const Api__AzVolume *volume);

/* The zone in which it can be attached; "" if any. free() it. */
char *volume_zone(const Api__AzVolume *volume, const char *driver_name)
    __attribute__((warn_unused_result));

/* The size that is requested in spec.capacityRange, when it was made or by ControllerExpandVolume.
 */
int64_t volume_requested_gib(const Api__AzVolume *volume);

/* The id of the disk or snapshot that it is a copy of; NULL if it is of none. */
const char *volume_source_id(const Api__AzVolume *volume);
/* spec.contentVolumeSource.content_source */
enum { SOURCE_VOLUME, SOURCE_SNAPSHOT };

/* ---- who may use it ---- */

/* How many nodes may have the disk: no more than the parameters say, nor than it was seen to have.
 */
unsigned volume_max_shares(const Api__AzVolume *volume);
/* What the parameters say of it; 0 if nothing. */
unsigned volume_max_shares_wanted(const Api__AzVolume *volume);
/* Whether nodes without the primary's role are kept from writing, by the disk (host/fence.h): what
 * the parameters say of a disk that several nodes may have. */
enum fencing { FENCING_NONE, FENCING_PREFERRED, FENCING_REQUIRED };
enum fencing volume_fencing(const Api__AzVolume *volume);
/* Replicas that are requested, as far as the disk can have them. */
unsigned volume_replicas_requested(const Api__AzVolume *volume);
/* More than one of them may be the primary at once. */
bool volume_is_multi_node(const Api__AzVolume *volume);

/* ---- its modification, which ControllerModifyVolume requests in spec.mutableParameters ---- */

/* When it was last recorded what the disk has (status.mutableParameters), it had these. Of a volume
 * whose disk was created. */
bool volume_was_seen_with(const Api__AzVolume *volume, const struct parameter *list, size_t n);
/* Requested; neither done, which status.mutableParameters says, nor refused, which
 * status.modifyError says. */
bool volume_is_modifying(const Api__AzVolume *volume);
/* What is requested: see volume_parameters_parse_mutable(). */
struct err *volume_parse_mutable(const Api__AzVolume *volume, struct volume_parameters *ret)
    __attribute__((warn_unused_result));

/* ---- its parameters: of a disk that is to be made, and of one that exists ---- */

struct err *volume_parse_parameters(const Api__AzVolume *volume, struct volume_parameters *ret)
    __attribute__((warn_unused_result));
struct err *volume_parse_existing(const Api__AzVolume *volume, struct volume_parameters *ret)
    __attribute__((warn_unused_result));
