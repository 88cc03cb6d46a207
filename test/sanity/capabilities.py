"""What the programs advertise."""

from integration.csi import Csi


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
