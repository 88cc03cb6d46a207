"""A disk that two guests have: what the one wrote is what the other finds."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from integration.csi import block
from integration.node.cloud_side import CloudSide
from integration.node.machine import MIB, SMALLEST_XFS
from integration.node.volume import wish

from .disks import Controller, blank
from .node import GuestVolume, Node, Plugin

NODE_B = "node-b"


@pytest.fixture(scope="module")
def up():
    """The second machine, as long as it runs."""
    return []


@pytest.fixture
def other_node(boot, up):
    if not up:
        up.append(Node(Controller(boot())))
    [node] = up
    yield node
    if node.guest.is_alive():
        node.clear()
    else:
        up.clear()


@pytest.fixture
def both(apiserver, shared_image, node, plugin, cloud, other_node, tmp_path_factory):
    """The volume on the node on which it is the primary, and where it is a replica."""
    blank(shared_image, SMALLEST_XFS)
    cloud_b = CloudSide(apiserver.client(), NODE_B)
    plugin_b = Plugin(other_node, tmp_path_factory.mktemp("node-b"), apiserver.kubeconfig, NODE_B)
    plugin_b.run()
    sizes = {"size": SMALLEST_XFS}
    a = GuestVolume(plugin, cloud, "shared", node.shared_disk("shared", **sizes), lun=1)
    b = GuestVolume(plugin_b, cloud_b, "shared", other_node.shared_disk("shared", **sizes), lun=2)
    cloud_b.publish(b.name)
    a.attach()
    other_node.attach(b.disk, b.lun)
    demote(b)
    yield a, b
    if other_node.guest.is_alive():
        plugin_b.close()
    else:
        plugin_b.kill()


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
