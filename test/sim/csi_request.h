/* csi_request.h - what the sidecars ask of the driver's Controller service.
 *
 * Messages live in the arena; so do the texts that are not the volume's. A call goes to whichever
 * controller's sidecar leads now.
 */
#pragma once

#include "lib/api/csi.pb-c.h"
#include "lib/base/arena.h"
#include "test/sim/attach_detach.h"

struct volume_snapshot;
struct world;

const ProtobufCMessage *csi_request_create(struct arena *arena, const struct volume *volume);
const ProtobufCMessage *csi_request_delete(struct arena *arena, const struct volume *volume);
const ProtobufCMessage *csi_request_publish(struct arena *arena,
                                            const struct publication *publication);
const ProtobufCMessage *csi_request_unpublish(struct arena *arena,
                                              const struct publication *publication);
const ProtobufCMessage *csi_request_modify(struct arena *arena, const struct volume *volume,
                                           const char *sku);
const ProtobufCMessage *csi_request_expand(struct arena *arena, const struct volume *volume,
                                           int64_t bytes);
const ProtobufCMessage *csi_request_create_snapshot(struct arena *arena,
                                                    const struct volume_snapshot *snapshot);
const ProtobufCMessage *csi_request_delete_snapshot(struct arena *arena,
                                                    const struct volume_snapshot *snapshot);
/* A page of a few volumes. */
const ProtobufCMessage *csi_request_list(struct arena *arena, const char *token);

/* As controller_process_call; at times the caller dies early (TIMEOUT), or asks twice at once. The
 * response is for protobuf_c_message_free_unpacked; `ret_response` NULL: not wanted. */
struct err *csi_request_send(struct task *self, struct world *world, const char *method,
                             const ProtobufCMessage *request, uint64_t timeout_ms,
                             ProtobufCMessage **ret_response) __attribute__((warn_unused_result));
