"""Whether a replica could be used at once, on SCSI disks: one that another node has reserved, one that the kernel has
given up, and one that has grown."""

import re

import pytest
from cluster.waiting import until
from integration.node.machine import MIB
from integration.node.volume import wish

from .node import GuestVolume, Plugin
from .test_fence import device, other, put_away, reserved, shared, use  # noqa: F401
from .test_promotion import demote, promote

READY = r"true \S+Z"
SIZE = 64 * MIB


def until_said(v: GuestVolume, pattern: str) -> str:
    until(lambda: re.fullmatch(pattern, v.cloud.replica_ready(v.name) or ""), pattern)
    return v.cloud.replica_ready(v.name)


def often(plugin: Plugin) -> None:
    plugin.stop()
    plugin.run("--replica-check-interval=200ms")


@pytest.fixture
def replica(plugin, cloud, node):
    v = GuestVolume(plugin, cloud, "data", node.disk("data", SIZE), 1)
    cloud.publish(v.name)
    cloud.settle(v.name, SIZE)
    demote(v)
    often(plugin)
    node.attach(v.disk, v.lun)
    until_said(v, READY)
    return v


def reads(v: GuestVolume) -> int:
    """How often the disk has been read."""
    return int(v.guest.run("cat", f"/sys/block/{device(v).removeprefix('/dev/')}/stat").split()[0])


def looked_at(v: GuestVolume) -> None:
    before = reads(v)
    until(lambda: reads(v) > before + 10, "it is looked at again and again")


def test_the_disk_is_reserved_by_the_primary(shared, other):  # noqa: F811
    """Which is no reason not to read it, and none to write to it."""
    a, b = shared()
    often(other.plugin)
    until_said(b, READY)
    use(a, wish("ext4"))
    key = a.cloud.fence(a.name).removeprefix("held ")
    version = b.cloud.version(b.name)
    looked_at(b)
    assert b.cloud.version(b.name) == version and reserved(b) == ([key], key)
    put_away(a)


def test_the_kernel_has_given_it_up(replica):
    """It has a name still, and nobody can open it."""
    v = replica
    state = f"/sys/block/{device(v).removeprefix('/dev/')}/device/state"
    v.guest.shell(f"echo offline >{state}")
    until_said(v, rf"false \S+Z no disk at LUN {v.lun}")
    v.guest.shell(f"echo running >{state}")
    until_said(v, READY)


def test_it_goes_and_comes_back(replica, node):
    v = replica
    node.detach(v.lun)
    until_said(v, rf"false \S+Z no disk at LUN {v.lun}")
    node.attach(v.disk, v.lun)
    until_said(v, READY)
    promote(v)
    v.stage(wish("ext4"))
    until(lambda: v.cloud.replica_ready(v.name) is None, "nothing is said of it any more")
    v.unstage()


def test_it_grows(replica, node):
    """The kernel does not know it, and is asked again."""
    v = replica
    v.disk.grow(2 * SIZE)
    v.cloud.settle(v.name, 2 * SIZE)
    version = v.cloud.version(v.name)
    v.cloud.attest(v.name, role="Replica", lun=v.lun, size=2 * SIZE)
    assert version != v.cloud.version(v.name)
    version = v.cloud.version(v.name)
    until(lambda: node.size(v.lun) == 2 * SIZE, "the kernel knows it")
    looked_at(v)
    assert v.cloud.version(v.name) == version
