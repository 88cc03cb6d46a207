#include "lib/api/csi_secrets.h"

#include <string.h>

#include "lib/base/alloc.h"

static const struct {
    const char *message, *field;
} secrets[] = {
    {"csi.v1.CreateVolumeRequest", "secrets"},
    {"csi.v1.DeleteVolumeRequest", "secrets"},
    {"csi.v1.ControllerPublishVolumeRequest", "secrets"},
    {"csi.v1.ControllerUnpublishVolumeRequest", "secrets"},
    {"csi.v1.ValidateVolumeCapabilitiesRequest", "secrets"},
    {"csi.v1.ControllerModifyVolumeRequest", "secrets"},
    {"csi.v1.ControllerExpandVolumeRequest", "secrets"},
    {"csi.v1.CreateSnapshotRequest", "secrets"},
    {"csi.v1.DeleteSnapshotRequest", "secrets"},
    {"csi.v1.ListSnapshotsRequest", "secrets"},
    {"csi.v1.GetSnapshotRequest", "secrets"},
    {"csi.v1.NodeStageVolumeRequest", "secrets"},
    {"csi.v1.NodePublishVolumeRequest", "secrets"},
    {"csi.v1.NodeExpandVolumeRequest", "secrets"},
    {"csi.v1.CreateVolumeGroupSnapshotRequest", "secrets"},
    {"csi.v1.DeleteVolumeGroupSnapshotRequest", "secrets"},
    {"csi.v1.GetVolumeGroupSnapshotRequest", "secrets"},
    {"csi.v1.GetMetadataAllocatedRequest", "secrets"},
    {"csi.v1.GetMetadataDeltaRequest", "secrets"},
};

bool csi_field_is_secret(const ProtobufCMessageDescriptor *message,
                         const ProtobufCFieldDescriptor *field)
{
    for (size_t i = 0; i < COUNT_OF(secrets); i++)
        if (strcmp(secrets[i].message, message->name) == 0 &&
            strcmp(secrets[i].field, field->name) == 0)
            return true;
    return false;
}
