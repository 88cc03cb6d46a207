"""A guest as a node: azdisk-node in it, as kubelet calls it, and volumes on its disks.

The plug-in is the program that users install: the one with sanitizers has no room in a guest.
"""

import http.client
from pathlib import Path

from integration.csi import TREE
from integration.node.plugin import NodePlugin
from integration.node.volume import Volume

from .disks import Controller, Disk
from .guest import Guest

PLAIN = TREE / "build/plain/bin/azdisk-node"


class Node:
    """What test/integration/node calls a machine."""

    def __init__(self, controller: Controller):
        """A guest with several controllers is several VMs for a disk."""
        self.controller = controller
        self.controllers = [self.controller]
        self.disks: list[Disk] = []

    @property
    def guest(self) -> Guest:
        return self.controller.guest

    def command(self, *words: str | Path) -> list[str]:
        return self.guest.command(*words)

    def disk(self, name: str, size: int, **properties) -> Disk:
        self.disks.append(self.controller.disk(name, size, **properties))
        return self.disks[-1]

    def second_controller(self, **properties) -> Controller:
        self.controllers.append(type(self.controller)(self.guest, 2, **properties))
        return self.controllers[-1]

    def attach(self, disk: Disk, lun: int) -> None:
        self.controller.attach(disk, lun)

    def detach(self, lun: int) -> None:
        self.controller.detach(lun)

    def clear(self) -> None:
        """As it was before it had disks."""
        for lun in self.controller.luns():
            self.detach(lun)
        while len(self.controllers) > 1:
            self.controllers.pop().remove()
        while self.disks:
            self.disks.pop().remove()


    def mounted(self, path: str | Path) -> str:
        """The device that is mounted at a path; "" if there is none."""
        for line in self.guest.run("cat", "/proc/mounts").splitlines():
            device, target, *_ = line.split()
            if target == str(path):
                return device
        return ""

    def size(self, lun: int) -> int:
        """Of the disk, as far as the kernel knows."""
        return int(self.guest.run("blockdev", "--getsize64", self.controller.device(lun)))


class Plugin(NodePlugin):
    """Its folder, in which kubelet's paths are, is the guest's own; its sockets are the machine's, too."""

    def __init__(self, node: Node, folder: Path, kubeconfig: Path, name: str, **ports: int):
        super().__init__(node, folder, kubeconfig, name, **ports)
        self.prepare_boot()

    @property
    def guest(self) -> Guest:
        return self.machine.guest

    def prepare_boot(self) -> None:
        self.guest.run("mount", "-t", "tmpfs", "tmpfs", self.folder)
        for path in (self.csi_socket, self.registration_socket):
            path.unlink(missing_ok=True)  # of the boot before
            self.guest.show_socket(path)

    def start(self, *flags: str, environment: dict | None = None, program: Path = PLAIN):
        return super().start(*flags, environment=environment, program=program)

    def _listens(self) -> bool:
        """gRPC comes again only after a second if there was nobody at the first time."""
        return self.get("/healthz")[0] != 0 and super()._listens()

    def close(self) -> None:
        """Nothing that it has mounted may be left."""
        super().close()
        mounts = [line.split()[1] for line in self.guest.run("cat", "/proc/mounts").splitlines()]
        left = [path for path in mounts if path.startswith(f"{self.folder}/")]
        self.guest.run("umount", "--lazy", "--recursive", self.folder)
        assert not left, f"still mounted: {left}"

    def get(self, path: str) -> tuple[int, str]:
        link = http.client.HTTPConnection("127.0.0.1", self.health_port, timeout=10)
        link.sock = self.guest.connect(connect=self.health_port)
        try:
            link.request("GET", path)
            answer = link.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException) as failure:
            return 0, str(failure)
        finally:
            link.close()


class GuestVolume(Volume):
    def __init__(self, plugin: Plugin, cloud, name: str, disk: Disk, lun: int = 0):
        super().__init__(plugin, cloud, name, disk, lun)
        self.prepare_boot()

    @property
    def guest(self) -> Guest:
        return self.plugin.guest

    def prepare_boot(self) -> None:
        """As kubelet does."""
        self.guest.run("mkdir", "-p", self.staging)

    def write(self, name: str, text: str) -> None:
        """Of the published volume; on the disk when this returns."""
        self.guest.shell(f"printf %s '{text}' >{self.target}/{name}; sync {self.target}/{name}")

    def read(self, name: str) -> str:
        return self.guest.run("cat", self.target / name)
