/* facts.h - what an operator asks first about each object: one flat JSON object for each, which the
 * tables of get and describe are made of.
 *
 * All of it is on record; what is not, is left out. Pure; borrows from the cluster.
 */
#pragma once

#include <jansson.h>

#include "azdiskctl/kind.h"

/* volumes:     name claim persistentVolume sizeBytes primaryNode readyReplicas replicas state
 * percent zone sku maxShares disk attachments: name volume node role state lun ready notReady fence
 * nodes:       name zone places used primaries replicas heartbeat heartbeatSeconds state message
 *
 * and all of them: created ageSeconds. Seconds are those that had passed when the cluster was read;
 * replicas have the facts of attachments. For those of nodes the cluster has to know the limit of
 * heartbeats. */
json_t *facts_json(const struct overview *overview, enum kind_id kind,
                   const struct kube_object *object);
