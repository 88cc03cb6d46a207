"""The driver as it is installed, without a cluster's machines: the controller and one node's plug-in,
both with sanitizers, at a real API server; a simulated Azure that gives the node its disks.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from azsim import simulator
from cluster.waiting import until
from integration.apiserver import ApiServer
from integration.driver_world import Controller, World
from integration.node.machine import Machine
from integration.node.plugin import NodePlugin

SIZE = "Standard_D2s_v5"  # takes four disks, so that it is soon full
ANSWERS = {"accept": "5ms-20ms", "get": "5ms-20ms"}
QUICK = {**ANSWERS, "create": "50ms", "delete": "50ms", "attach": "200ms", "detach": "100ms"}
# Nothing is done within the second that a call through the proxies may take.
SLOW = {**ANSWERS, **dict.fromkeys(("create", "update", "delete", "attach", "detach"), "1200ms")}
BY_LUN = "/dev/disk/azure/data/by-lun"


class Installation:
    """`node` has a machine and a plug-in; `other` is no more than a VM that can hold replicas."""

    def __init__(self, folder: Path, world: World, machine: Machine):
        self.folder, self.world, self.machine = folder, world, machine
        self.node, self.other = f"{folder.name}-a", f"{folder.name}-b"
        self.controller = Controller(world)
        self.plugin = NodePlugin(machine, folder, world.apiserver.kubeconfig, self.node)

    # ---- before ----

    def add_vms(self, zone: str) -> None:
        """In no zone if that is empty."""
        place = {"size": SIZE, **({"zone": zone} if zone else {})}
        view = {
            "networkNamespace": f"/proc/{self.machine.process.pid}/ns/net",
            "deviceDirectory": str(self.machine.path("/dev/disk/azure")),
        }
        azure, world = self.world.azure, self.world
        azure.control("POST", "vms", {"name": self.node, **place, **view}, expect=201)
        azure.control("POST", "vms", {"name": self.other, **place}, expect=201)
        world.nodes += [self.node, self.other]
        world.add_node(self.other)
        vm = simulator.disk_id(self.node).replace("/disks/", "/virtualMachines/")
        node = {"metadata": {"name": self.node}, "spec": {"providerID": f"azure://{vm}"}}
        world.core.create_node(node)
        world.set_ready(self.node, True)

    def knows_its_limit(self) -> bool:
        """How many disks the node can take; the controller asks Azure once there is a plug-in."""
        found = self.world.find("azdrivernodes", self.node) or {}
        return "limit" in found.get("status", {}).get("slots", {})

    def modified_disks(self) -> set[str]:
        """Those that Azure was asked to change, not only to grow."""
        changed = {call["resource"] for call in self.world.calls("disks.update")}
        events = self.world.core.list_namespaced_event(self.world.namespace).items
        return changed & {e.involved_object.name for e in events if e.reason == "DiskModified"}

    # ---- what is left, in words ----

    def left(self) -> list[str]:
        summary = self.world.azure.control("GET", "summary")
        kinds = ("disks", "attachments", "wantedDataDisks", "operationsInProgress")
        found = [f"{summary[kind]} {kind} in Azure" for kind in kinds if summary[kind]]
        for plural in ("azvolumes", "azvolumeattachments"):
            found += [f"{plural} {item['metadata']['name']}" for item in self.world.objects(plural)]
        table = self.machine.path("/proc/self/mounts").read_text().splitlines()
        found += [f"mount {line}" for line in table if str(self.folder) in line]
        return found + [f"device {link}" for link in self.machine.path(BY_LUN).iterdir()]

    def left_after_the_end(self) -> list[str]:
        """Loop devices over disks of this Azure."""
        files = Path("/sys/block").glob("loop*/loop/backing_file")
        return [text for text in map(_text_if_there, files) if str(self.folder) in text]

    def sanitizer_reports(self) -> list[str]:
        """From the logs of all programs."""
        found = []
        for log in self.folder.glob("*.log"):
            text = log.read_text(errors="replace")
            begin = re.search(r"^.*(Sanitizer|runtime error:)", text, re.MULTILINE)
            if begin:
                found.append(f"{log.name}: {text[begin.start() :][:5000]}")
        return found


def _text_if_there(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:  # the device went meanwhile
        return ""


@contextmanager
def installed(
    folder: Path, apiserver: ApiServer, zone: str, latencies: dict[str, str]
) -> Iterator[Installation]:
    """Everything runs, and the node is ready for volumes. The programs end well, or this fails."""
    with ExitStack() as stack:
        machine = Machine()
        stack.callback(machine.close)
        machine.reach(apiserver.port)
        world = World(folder, apiserver, nodes=0, **latencies)
        stack.callback(world.azure.remove_devices)
        stack.callback(world.azure.__exit__)  # also of one that could not be prepared
        stack.enter_context(world)
        installation = Installation(folder, world, machine)
        installation.add_vms(zone)
        stack.enter_context(installation.controller)
        stack.callback(installation.plugin.close)
        installation.plugin.run(f"--object-namespace={world.namespace}")
        until(installation.knows_its_limit, "the node's limit")
        yield installation
