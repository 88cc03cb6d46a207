"""Which tests csi-sanity may skip, and for want of which capability."""

# csi-sanity's words: the capability, as service and name
WORDS = {
    "GetCapacity not supported": "Controller GET_CAPACITY",
    "Snapshot not supported": "Controller CREATE_DELETE_SNAPSHOT",
    "CreateSnapshot not supported": "Controller CREATE_DELETE_SNAPSHOT",
    "DeleteSnapshot not supported": "Controller CREATE_DELETE_SNAPSHOT",
    "ListSnapshots not supported": "Controller LIST_SNAPSHOTS",
    "Volume Cloning not supported": "Controller CLONE_VOLUME",
    "ControllerPublishVolume.readonly field not supported": "Controller PUBLISH_READONLY",
    "GroupControllerService not supported": "Plugin GROUP_CONTROLLER_SERVICE",
}

_CONTROLLER = "Controller Service [Controller Server]"
_GROUPS = "GroupController Service [GroupController VolumeGroupSnapshots]"

_TESTS = {
    "Controller GET_CAPACITY": (
        f"{_CONTROLLER} GetCapacity should return capacity (no optional values added)",
    ),
    "Controller CREATE_DELETE_SNAPSHOT": (
        f"{_CONTROLLER} CreateVolume should create volume from an existing source snapshot",
        f"{_CONTROLLER} CreateVolume should fail when the volume source snapshot is not found",
        "CreateSnapshot [Controller Server] should fail when no name is provided",
        "CreateSnapshot [Controller Server] should fail when no source volume id is provided",
        "CreateSnapshot [Controller Server] should fail when requesting to create a snapshot "
        "with already existing name and different source volume ID",
        "CreateSnapshot [Controller Server] should succeed when creating snapshot with maximum-length name",
        "CreateSnapshot [Controller Server] should succeed when requesting to create a snapshot "
        "with already existing name and same source volume ID",
        "DeleteSnapshot [Controller Server] should fail when no snapshot id is provided",
        "DeleteSnapshot [Controller Server] should return appropriate values (no optional values added)",
        "DeleteSnapshot [Controller Server] should succeed when an invalid snapshot id is used",
    ),
    "Controller LIST_SNAPSHOTS": (
        "ListSnapshots [Controller Server] check the presence of new snapshots in the snapshot list",
        "ListSnapshots [Controller Server] should return appropriate values (no optional values added)",
        "ListSnapshots [Controller Server] should return empty when the specified snapshot id does not exist",
        "ListSnapshots [Controller Server] should return empty when the specified source volume id does not exist",
        "ListSnapshots [Controller Server] should return next token when a limited number of entries are requested",
        "ListSnapshots [Controller Server] should return snapshots that match the specified snapshot id",
        "ListSnapshots [Controller Server] should return snapshots that match the specified source volume id",
    ),
    "Controller CLONE_VOLUME": (
        f"{_CONTROLLER} CreateVolume should create volume from an existing source volume",
        f"{_CONTROLLER} CreateVolume should fail when the volume source volume is not found",
    ),
    "Controller PUBLISH_READONLY": (
        f"{_CONTROLLER} ControllerPublishVolume should fail when the volume is already published "
        "but is incompatible",
    ),
    "Plugin GROUP_CONTROLLER_SERVICE": (
        "GroupController Service [GroupController Server] GroupControllerGetCapabilities "
        "should return appropriate capabilities",
        f"{_GROUPS} CreateVolumeGroupSnapshot should fail when no name is provided",
        f"{_GROUPS} DeleteVolumeGroupSnapshot should fail when no volume id is provided",
        f"{_GROUPS} DeleteVolumeGroupSnapshot should succeed when an invalid volume id is used",
        f"{_GROUPS} GetVolumeGroupSnapshot should fail when an invalid volume id is used",
        f"{_GROUPS} GetVolumeGroupSnapshot should fail when no volume id is provided",
    ),
}

# test: the capability that it needs and the driver does not have
ALLOWED = {test: capability for capability, tests in _TESTS.items() for test in tests}
