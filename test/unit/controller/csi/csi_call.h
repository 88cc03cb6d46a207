/* csi_call.h - a call of CSI's Controller service, in virtual time: of a cluster that is written as
 * words (cluster_text.h), with an API server that is a script, and a cloud that knows disks of any
 * name.
 */
#pragma once

#include "lib/api/csi.pb-c.h"
#include "lib/rpc/server.h"
#include "test/unit/controller/controller_of.h"
#include "test/unit/lib/kube/script.h"

#define RECORDS "/apis/disk.csi.azure.com/v1beta2/namespaces/d/"
#define META(version)                                                                              \
    "'metadata':{'namespace':'d','name':'x','uid':'u','resourceVersion':'" version "'}"

struct csi_call {
    struct rpc_call rpc;
    int64_t bytes; /* of the volume that is asked for; 0: any */
    struct err *err;
    char *id; /* of what was made; free() it */
};

/* A mount, for one node that writes. */
struct single_writer {
    Csi__V1__VolumeCapability__MountVolume mount;
    Csi__V1__VolumeCapability__AccessMode mode;
    Csi__V1__VolumeCapability capability;
};
Csi__V1__VolumeCapability *single_writer(struct single_writer *ret);

/* The task makes the call, which is its argument, and must ask for all that the script has. */
void csi_play(struct csi_call *call, const char *cluster, const struct script_step *steps, size_t n,
              task_fn *task);

/* Tasks: CreateVolume and CreateSnapshot of x. */
task_fn create_volume, create_snapshot;
