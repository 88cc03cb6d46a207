/* volume_view.h - what the objects of the cluster say, for those who decide.
 */
#pragma once

#include <jansson.h>

#include "controller/controller.h"
#include "provisioner-lib/parameters.h"

bool volume_is_created(const Api__AzVolume *volume); /* its disk exists */
/* The id of the disk that is on record, or that it was written for; NULL if the driver is to make
 * one. */
const char *volume_recorded_disk(const Api__AzVolume *volume);
/* A StorageClass's; NULL if it does not say. */
const char *volume_parameter(const Api__AzVolume *volume, const char *name);
/* What it says, else what its disk was seen to have. */
unsigned volume_max_shares(const Api__AzVolume *volume);
/* What is known of its disk; borrowed. */
struct caching_disk volume_disk(const Api__AzVolume *volume);

/* The zone in which the disk can be attached; "" if any. free() it. */
char *volume_zone(const struct controller *controller, const Api__AzVolume *volume);

/* More than one node may write to it at once. */
bool volume_is_multi_node(const Api__AzVolume *volume);

/* Of a disk that is to be made, and of one that exists. */
struct err *volume_parse_parameters(const Api__AzVolume *volume, struct volume_parameters *ret)
    __attribute__((warn_unused_result));
struct err *volume_parse_existing(const Api__AzVolume *volume, struct volume_parameters *ret)
    __attribute__((warn_unused_result));

/* The attachment's state on record, "" if there is none. */
const char *attachment_word(const Api__AzVolumeAttachment *attachment);
/* A new attachment of the volume, without its name (cache/node_attachment.h). */
json_t *attachment_json(const Api__AzVolume *volume, const char *node, const char *role);
/* A patch that makes it a primary or a replica, if it still is as it was looked at. */
json_t *attachment_role_json(const struct kube_object *attachment, const char *role);
/* The same for its status: nobody has it published any more, and it goes when it is deleted. */
json_t *attachment_detach_request_json(const struct kube_object *attachment);

bool node_is_ready(const Api__Node *node);
/* Pods may be placed there: not cordoned, and no taint keeps them away. */
bool node_is_schedulable(const Api__Node *node);
