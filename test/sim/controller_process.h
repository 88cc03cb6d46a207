/* controller_process.h - one azdisk-controller of a simulation: its code unchanged (controller/),
 * in a process of its own, behind links to the API server and to Azure.
 *
 * It can be started, killed at whatever its tasks are waiting for, paused, and started anew. A
 * process that ends itself because it lost its lease is started anew by the sim, as a Deployment
 * does.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "lib/api/csi.pb-c.h"
#include "lib/base/err.h"
#include "lib/rt/task.h"

struct controller_process;
struct sim;

struct controller_process *controller_process_start(struct sim *sim, const char *name);
/* Nothing that it still wants to say gets out. Frees it; calls under way are UNAVAILABLE. Not from
 * one of its own tasks. */
void controller_process_kill(struct controller_process *process);
void controller_process_end(struct controller_process *process); /* as by SIGTERM */
void controller_process_pause(struct controller_process *process, uint64_t ms);

bool controller_process_leads(const struct controller_process *process); /* as it believes */
bool controller_process_serves(const struct controller_process *process);
/* It has ended by itself. */
bool controller_process_ended(const struct controller_process *process);

/* All of what ListVolumes answers now, for protobuf_c_message_free_unpacked; NULL if it does not
 * serve. From anywhere. */
Csi__V1__ListVolumesResponse *controller_process_list(struct controller_process *process);

/* A CSI call by the sidecars of its pod, from a task of the world: `method` is that of the
 * Controller service, "ControllerPublishVolume". UNAVAILABLE if it dies meanwhile or does not serve
 * yet; TIMEOUT if the caller's patience ends, and then the call is cancelled. The response, for
 * protobuf_c_message_free_unpacked, is only there without an error. */
struct err *controller_process_call(struct task *self, struct controller_process *process,
                                    const char *method, const ProtobufCMessage *request,
                                    uint64_t timeout_ms, ProtobufCMessage **ret_response)
    __attribute__((warn_unused_result));
