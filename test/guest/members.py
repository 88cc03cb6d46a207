"""Two guests with a shared disk, which a third one keeps: each has a kernel, a boot id, a plug-in and a pod of its own."""

import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

from cluster.waiting import until
from integration.node.cloud_side import CloudSide
from integration.node.machine import SMALLEST_EXT4, SMALLEST_XFS
from integration.node.plugin import until_done
from integration.node.volume import wish

from .disks import Controller
from .guest import Guest
from .iscsi import IscsiController
from .node import GuestVolume, Node, Plugin
from .test_promotion import demote, promote

NAMES = ("node-a", "node-b")
POD = Path(__file__).with_name("pod.py")
SIZES = {"ext4": SMALLEST_EXT4, "xfs": SMALLEST_XFS}
BOOT_ID = "/proc/sys/kernel/random/boot_id"
NUMBERS = count(1)  # of disks
# The plug-in's mounts are everybody's, as those of its container are, and the boot id is its own.
WITH_BOOT_ID = f"""mount --bind "$0" {BOOT_ID}; exec "$@" """


class Machine(Node):
    """Boots in that its boot id is another one."""

    def __init__(self, controller: Controller):
        super().__init__(controller)
        self.boot()

    def boot(self) -> None:
        self.boot_id = self.guest.folder / f"boot-{uuid.uuid4()}"
        self.boot_id.write_text(f"{uuid.uuid4()}\n")

    def remove_disks(self) -> None:
        """When no controller has them any more."""
        while self.disks:
            self.disks.pop().remove()

    def command(self, *words: str | Path) -> list[str]:
        apart = ["unshare", "--mount", "--propagation=unchanged", "sh", "-ec", WITH_BOOT_ID, self.boot_id]
        return self.guest.command(*apart, *words)


class Pod:
    """pod.py in the guest, and what can be asked of it."""

    def __init__(self, guest: Guest, socket: Path):
        self.guest, self.socket = guest, socket
        self.process = guest.started("python3", POD, socket)
        self.process.until(lambda: guest.try_to_run("test", "-S", socket)[0] == 0, "the pod's socket")

    def close(self) -> None:
        self.process.close()

    def ask(self, what: str, **arguments):
        with self.guest.connect(connect=str(self.socket)) as connection:
            connection.sendall(json.dumps({what: arguments}).encode() + b"\n")
            answer = json.loads(connection.makefile().readline() or '{"failure": "the pod has ended"}')
        if "failure" in answer:
            raise RuntimeError(answer["failure"])
        return answer["answer"]


class Member:
    """A node of the two."""

    def __init__(self, name: str, controller: Controller, apiserver, folder: Path):
        self.name = name
        self.cloud = CloudSide(apiserver.client(), self.name)
        self.machine = Machine(controller)
        self.plugin = Plugin(self.machine, folder, apiserver.kubeconfig, self.name)
        controller.guest.run("mount", "--make-shared", folder)
        self.plugin.run()
        self.pod = Pod(controller.guest, folder / "pod.sock")

    def close(self) -> None:
        self.pod.close()
        try:
            self.run()
            self.plugin.close()
        finally:
            self.machine.controller.remove()

    # ---- the plug-in ----

    def kill(self) -> None:
        if self.plugin.process.poll() is None:
            self.plugin.kill()
            until(lambda: self.plugin.get("/healthz")[0] == 0, "the end of the plug-in in the guest")

    def run(self) -> None:
        if self.plugin.process.poll() is not None:
            self.plugin.run()

    def reboot(self) -> None:
        self.kill()
        self.machine.boot()
        self.run()

    def stage_seconds(self, phases: tuple[str, ...]) -> Counter[str]:
        """That the plug-in has spent on these phases, of all stages."""
        metrics = self.plugin.metrics()
        series = "azuredisk_stage_duration_seconds_sum"
        return Counter({phase: metrics.get(f'{series}{{phase="{phase}"}}', 0) for phase in phases})


class Pair(NamedTuple):
    """Who has the volume at first, and who gets it."""

    a: Member
    b: Member


class SharedVolume:
    """A disk that both have, with a file system. Nobody has it mounted between two rounds."""

    def __init__(self, members: Pair, fs_type: str, lun: int, **parameters: str):
        self.members, self.fs_type, self.lun, self.parameters = members, fs_type, lun, parameters
        self.owner = members.a.machine  # of its disks
        self.is_fenced = parameters.get("fencing") != "none"
        self.acknowledged: set = set()  # what must be on it

    def attach(self) -> None:
        """A blank disk, to both."""
        self.acknowledged = set()
        name = f"{self.fs_type}-{next(NUMBERS)}"
        a, b = self.members
        self.disk = self.owner.disk(name, SIZES[self.fs_type])
        self._of = {
            member.name: GuestVolume(member.plugin, member.cloud, name, self.disk, self.lun + i)
            for i, member in enumerate(self.members)
        }
        b.machine.attach(self.disk, self.of(b).lun)
        b.cloud.publish(name)
        self.of(a).attach(parameters={"maxShares": "2", **self.parameters})
        demote(self.of(b))
        self.devices = {member.name: member.machine.controller.device(self.of(member).lun) for member in self.members}

    def detach(self) -> None:
        for member in self.members:
            member.cloud.unpublish(self.of(member).name)
            member.machine.detach(self.of(member).lun)
        self.owner.disks.remove(self.disk)
        self.disk.remove()

    def swap(self) -> None:
        self.members = Pair(*reversed(self.members))

    def of(self, member: Member) -> GuestVolume:
        return self._of[member.name]

    def key(self, member: Member) -> str:
        """Under which the disk knows a primary, as its plug-in has said; "" if it has no fence."""
        held, key, *_ = (member.cloud.fence(self.of(member).name) or "none ").split(" ")
        return key if held == "held" else ""

    def cut_power(self, member: Member) -> dict | None:
        """Of a node that has it mounted. What its workload has done."""
        return member.pod.ask("cut_power", folder=str(self.of(member).staging))

    # ---- as the controller and kubelet ----

    def promote(self, member: Member) -> None:
        promote(self.of(member))

    def stage(self, member: Member) -> None:
        v = self.of(member)
        member.plugin.stage(v.id, v.staging, wish(self.fs_type))

    def record(self, member: Member) -> None:
        self.of(member).cloud.take_over(self.of(member).name)

    def put_away(self, member: Member) -> None:
        """The first time it may say that data is lost."""
        until_done(self.of(member).unstage, seconds=30)
        demote(self.of(member))

    def holder(self) -> Member | None:
        """Whose the disk is, as it says itself."""
        holder = self.members.a.pod.ask("holder", device=self.devices[self.members.a.name])
        found = [member for member in self.members if holder and self.key(member) == holder]
        return found[0] if len(found) == 1 else None


@contextmanager
def two_members(boot: Callable[[], Guest], apiserver, folder: Path) -> Iterator[Pair]:
    made: list[Member] = []
    with ExitStack() as stack:
        stack.callback(lambda: [member.machine.remove_disks() for member in made])
        storage = boot()
        for name in NAMES:
            made.append(Member(name, IscsiController(boot(), storage, name), apiserver, folder / name))
            stack.callback(made[-1].close)
        yield Pair(*made)
