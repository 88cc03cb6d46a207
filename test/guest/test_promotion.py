"""A disk that two guests have: what the one wrote is what the other finds."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from integration.csi import block
from integration.node.cloud_side import CloudSide
from integration.node.machine import MIB, SMALLEST_XFS
from integration.node.plugin import HEALTH_PORT
from integration.node.volume import wish

from .iscsi import IscsiController
from .node import GuestVolume, Node, Plugin

NODE_A, NODE_B = "promoted-a", "promoted-b"


@pytest.fixture(scope="module")
def machines(_node, boot, storage):
    """Of two guests; the first one has disks of its own, too."""
    return Node(IscsiController(_node.guest, storage, NODE_A)), Node(IscsiController(boot(), storage, NODE_B))


@pytest.fixture
def both(apiserver, boot, machines, tmp_path_factory):
    """The volume on the node on which it is the primary, and where it is a replica."""
    with ExitStack() as stack:
        stack.callback(_clear, machines, boot)
        a, b = (stack.enter_context(_node_of(machine, name, apiserver, tmp_path_factory.mktemp(name)))
                for machine, name in zip(machines, (NODE_A, NODE_B), strict=True))
        disk = machines[0].disk("shared", SMALLEST_XFS)
        on_a, on_b = GuestVolume(*a, "shared", disk, lun=1), GuestVolume(*b, "shared", disk, lun=2)
        on_b.cloud.publish(on_b.name)
        on_a.attach()
        machines[1].attach(disk, on_b.lun)
        demote(on_b)
        yield on_a, on_b


@contextmanager
def _node_of(machine: Node, name: str, apiserver, folder: Path) -> Iterator[tuple[Plugin, CloudSide]]:
    cloud = CloudSide(apiserver.client(), name)
    plugin = Plugin(machine, folder, apiserver.kubeconfig, name, health_port=HEALTH_PORT + 1)
    plugin.run()
    yield plugin, cloud
    if machine.guest.is_alive():
        plugin.close()
    else:
        plugin.kill()
    cloud.clear()


def _clear(machines: tuple[Node, Node], boot) -> None:
    for machine in reversed(machines):  # the disks are on the list of the first
        if not machine.guest.is_alive():
            machine.controller.log_in(boot())
        machine.clear()


def demote(v: GuestVolume) -> None:
    v.cloud.want(v.name, "Replica")
    v.cloud.attest(v.name, role="Replica", lun=v.lun, size=v.disk.size)


def promote(v: GuestVolume) -> None:
    v.cloud.want(v.name, "Primary")
    v.cloud.attest(v.name, role="Primary", lun=v.lun, size=v.disk.size)


def use(v: GuestVolume, capability: dict) -> None:
    v.stage(capability)
    v.cloud.take_over(v.name)
    v.publish(capability)


@contextmanager
def reader(v: GuestVolume) -> Iterator[None]:
    """Somebody who has read of the disk and keeps it open, so that what he read stays in the kernel's cache."""
    device, done = v.plugin.machine.controller.device(v.lun), f"/run/read-{v.lun}"
    script = f"exec 3<{device}; head -c {8 * MIB} {device} >/dev/null; touch {done}; exec sleep infinity"
    with v.guest.started("sh", "-c", script) as process:
        process.until(lambda: v.guest.try_to_run("test", "-e", done)[0] == 0, "what it reads")
        yield
    if v.guest.is_alive():
        v.guest.run("rm", done)


def hand_over(one: GuestVolume, other: GuestVolume) -> None:
    one.unpublish()
    one.unstage()
    demote(one)
    promote(other)


def get_back(a: GuestVolume, b: GuestVolume, cut: bool) -> None:
    if not cut:
        hand_over(b, a)
        return
    b.guest.close()  # with all that was not on the disk
    demote(b)
    promote(a)


@pytest.mark.parametrize(("fs_type", "cut"), [("xfs", False), ("ext4", True)])
def test_each_finds_what_the_other_wrote(both, fs_type, cut):
    a, b = both
    capability = wish(fs_type)
    with reader(b):
        use(a, capability)
        a.write("first", "of a")
        hand_over(a, b)
        use(b, capability)
        assert b.read("first") == "of a"
    with reader(a):
        b.write("second", "of b")
        get_back(a, b, cut)
        use(a, capability)
        assert (a.read("first"), a.read("second")) == ("of a", "of b")
        a.unpublish()
        a.unstage()


def test_a_raw_volume(both):
    a, b = both
    with reader(b):
        use(a, block())
        a.guest.shell(f"yes a | tr -d '\\n' | dd of={a.target} bs=1M count=2 iflag=fullblock conv=fsync 2>&1")
        hand_over(a, b)
        use(b, block())
        others = b.guest.shell(f"head -c {2 * MIB} {b.target} | tr -d a | wc -c")
        assert int(others) == 0
        b.unpublish()
        b.unstage()
