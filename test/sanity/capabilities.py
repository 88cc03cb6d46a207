"""What the programs advertise, and for want of what csi-sanity may skip a test."""

from integration.csi import Csi

# csi-sanity's words: the capability, as service and name
NEEDS = {
    "GetCapacity not supported": "Controller GET_CAPACITY",
    "ListVolumes not supported": "Controller LIST_VOLUMES",
    "Snapshot not supported": "Controller CREATE_DELETE_SNAPSHOT",
    "CreateSnapshot not supported": "Controller CREATE_DELETE_SNAPSHOT",
    "DeleteSnapshot not supported": "Controller CREATE_DELETE_SNAPSHOT",
    "ListSnapshots not supported": "Controller LIST_SNAPSHOTS",
    "Volume Cloning not supported": "Controller CLONE_VOLUME",
    "ControllerExpandVolume not supported": "Controller EXPAND_VOLUME",
    "ControllerModifyVolume not supported": "Controller MODIFY_VOLUME",
    "Modify volume not supported": "Controller MODIFY_VOLUME",
    "Modify Volume not supported": "Controller MODIFY_VOLUME",
    "ControllerPublishVolume.readonly field not supported": "Controller PUBLISH_READONLY",
    "NodeGetVolume not supported": "Node GET_VOLUME_STATS",
    "NodeExpandVolume not supported": "Node EXPAND_VOLUME",
    "GroupControllerService not supported": "Plugin GROUP_CONTROLLER_SERVICE",
}


def advertised(controller: Csi, node: Csi) -> set[str]:
    found = _names("Controller", controller, "Controller/ControllerGetCapabilities", "rpc")
    found |= _names("Node", node, "Node/NodeGetCapabilities", "rpc")
    for program in (controller, node):
        found |= _names("Plugin", program, "Identity/GetPluginCapabilities", "service")
    return found


def _names(service: str, program: Csi, method: str, member: str) -> set[str]:
    rows = program.call(method).capabilities
    described = [getattr(row, member) for row in rows if row.HasField(member)]
    names = (row.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_number for row in described)
    return {f"{service} {name[row.type].name}" for row, name in zip(described, names, strict=True)}
