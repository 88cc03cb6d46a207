"""Which tests csi-sanity may skip, and for want of which capability."""

# csi-sanity's words: the capability, as service and name
WORDS = {
    "GetCapacity not supported": "Controller GET_CAPACITY",
    "GroupControllerService not supported": "Plugin GROUP_CONTROLLER_SERVICE",
}

_CONTROLLER = "Controller Service [Controller Server]"
_GROUPS = "GroupController Service [GroupController VolumeGroupSnapshots]"

_TESTS = {
    "Controller GET_CAPACITY": (
        f"{_CONTROLLER} GetCapacity should return capacity (no optional values added)",
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
