"""Two guests with a shared disk, which a third one keeps: each has a kernel, a boot id, a plug-in and a pod of its own."""

import json
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

from . import tsc
from .guest import Guest
from .iscsi import IscsiController
from .node import GuestVolume, Node, Plugin
from .test_promotion import demote, promote

NAMES = ("node-a", "node-b")
POD = Path(__file__).with_name("pod.py")
SIZES = {"ext4": SMALLEST_EXT4, "xfs": SMALLEST_XFS}
NUMBERS = count(1)  # of disks


class Pod:
    """pod.py in the guest, and what can be asked of it."""

    def __init__(self, guest: Guest, path: Path):
        self.guest, self.path = guest, path
        self.process = guest.started("python3", POD, path, repr(tsc.hertz()))
        self.process.until(lambda: guest.try_to_run("test", "-S", path)[0] == 0, "the pod's socket")

    def close(self) -> None:
        self.process.close()

    def ask(self, what: str, **arguments):
        with self.guest.connect(connect=str(self.path)) as connection:
            connection.sendall(json.dumps({what: arguments}).encode() + b"\n")
            answer = json.loads(connection.makefile().readline() or '{"failure": "the pod has ended"}')
        if "failure" in answer:
            raise RuntimeError(answer["failure"])
        return answer["answer"]


class Member:
    """A node of the two."""

    def __init__(self, name: str, boot: Callable[[], Guest], storage: Guest, apiserver, folder: Path):
        self.name, self.boot, self.folder = name, boot, folder
        self.cloud = CloudSide(apiserver.client(), self.name)
        self.machine = Node(IscsiController(boot(), storage, name))
        self.plugin = Plugin(self.machine, folder, apiserver.kubeconfig, self.name)
        self._start()

    def _start(self) -> None:
        self.plugin.run()
        self.pod = Pod(self.machine.guest, self.folder / "pod.sock")

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
        """Its power is cut: nothing is left but what is on its disks."""
        self.machine.guest.close()
        self.pod.close()
        self.plugin.kill()
        self.machine.controller.log_in(self.boot())
        self.plugin.prepare_boot()
        self._start()

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

    def device(self, member: Member) -> str:
        return member.machine.controller.device(self.of(member).lun)

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
        v.prepare_boot()
        member.plugin.stage(v.id, v.staging, wish(self.fs_type))

    def record(self, member: Member) -> None:
        self.of(member).cloud.take_over(self.of(member).name)

    def put_away(self, member: Member) -> None:
        """The first time it may say that data is lost."""
        until_done(self.of(member).unstage)
        demote(self.of(member))

    def holder(self) -> Member | None:
        """Whose the disk is, as it says itself."""
        holder = self.members.a.pod.ask("holder", device=self.device(self.members.a))
        found = [member for member in self.members if holder and self.key(member) == holder]
        return found[0] if len(found) == 1 else None


@contextmanager
def two_members(boot: Callable[[], Guest], storage: Guest, apiserver, folder: Path) -> Iterator[Pair]:
    made: list[Member] = []
    with ExitStack() as stack:
        stack.callback(lambda: [disk.remove() for member in made for disk in member.machine.disks])
        for name in NAMES:
            made.append(Member(name, boot, storage, apiserver, folder / name))
            stack.callback(made[-1].close)
        yield Pair(*made)
