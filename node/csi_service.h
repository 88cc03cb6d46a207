/* csi_service.h - CSI's Node service.
 *
 * Each call may be repeated at any time and after any failure. Calls for one volume do not overlap:
 * the second is refused as pending. Only NodeGetVolumeStats may be called at any time.
 */
#pragma once

#include "lib/api/csi.pb-c.h"
#include "lib/rpc/server.h"
#include "node/node.h"

/* A row for rpc_server_config.services. */
struct rpc_service csi_node_service(struct node *node);

/* The calls, in csi_stage.c, csi_unstage.c, csi_publish.c, csi_stats.c and csi_info.c; the context
 * is the node. */
rpc_handler csi_stage_volume, csi_unstage_volume, csi_publish_volume, csi_unpublish_volume,
    csi_expand_volume, csi_get_volume_stats, csi_get_info, csi_get_capabilities;

/* ---- for these files ---- */

/* A volume that a call has for itself. */
struct csi_claim {
    struct node *node;
    char *volume; /* NULL: none */
};

/* INVALID if the call names no volume, BUSY if another call has it. A call by which kubelet shows
 * that it knows of the volume says so before (left_mount.h). */
struct err *csi_claim(struct node *node, const char *volume_id, struct csi_claim *ret)
    __attribute__((warn_unused_result));
void csi_release(struct csi_claim *claim); /* for CLEANUP */

/* NodeStageVolume, by a caller that has claimed the volume: NodePublishVolume mounts anew what is
 * not staged any more. */
struct err *csi_stage_claimed(struct task *self, struct rpc_call *call,
                              const Csi__V1__NodeStageVolumeRequest *request)
    __attribute__((warn_unused_result));
/* What NodeUnstageVolume does, for whoever has claimed the volume. */
struct err *csi_unstage_at(struct task *self, struct node *node, const char *volume_id,
                           const char *path, uint64_t deadline) __attribute__((warn_unused_result));

/* Until when a call may wait for something, so that there is time to answer. */
uint64_t csi_wait_deadline(struct node *node, const struct rpc_call *call);
