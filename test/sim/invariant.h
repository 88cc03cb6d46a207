/* invariant.h - what must hold at every moment (I1 to I8 of the design), checked against what is
 * true, not against what the driver believes.
 *
 * The truth is azsim's attachments, the objects in the API server, what nodes have mounted and what
 * CSI calls were answered. A check looks only at what has changed since it looked last. The first
 * that fails goes into sim->verdict with the sentence that says what a user would have lost. The
 * sim owns the invariants and calls them.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

#include "lib/base/err.h"
#include "test/sim/verdict.h"

struct incident;
struct invariants;
struct pod;
struct records;
struct sim;

/* When servers and world are there; it listens to both servers from then on. */
struct invariants *invariants_new(struct sim *sim);
void invariants_free(struct invariants *invariants); /* NULL is fine */

/* After each step; whether all hold. */
bool invariants_hold(struct invariants *invariants);

/* An incident begins, and ends if it has an end. */
void invariants_incident(struct sim *sim, const struct incident *incident);
void invariants_incident_ended(struct sim *sim, const struct incident *incident);

/* A CSI call is about to begin, and has been answered, with `err` NULL for success. */
void invariants_asked(struct sim *sim, const char *method, const ProtobufCMessage *request);
void invariants_answered(struct sim *sim, const char *method, const ProtobufCMessage *request,
                         const ProtobufCMessage *response, const struct err *err);

/* Somebody deletes a disk's AzVolumeAttachment, whatever Kubernetes has there: a mount is without
 * one until the driver has made it anew. */
void invariants_deleted_by_hand(struct sim *sim, const char *disk, const char *node);

/* Somebody removes a VolumeAttachment: the volume is unpublished without a call. */
void invariants_unpublished_by_hand(struct sim *sim, const char *disk, const char *node);

/* A machine takes this key away at a disk, because it was asked to. */
void invariants_preempted(struct sim *sim, const char *by, uint64_t key);
/* The driver has deleted a pod, which is gone. */
void invariants_pod_ended(struct sim *sim, const struct pod *pod);

/* What the API server has, for record.h. */
struct records *invariants_records(struct invariants *invariants);
