"""Disks of replicas: nobody on the node takes them, and they are there when they are promoted."""

import pytest
from cluster.waiting import until
from integration.csi import block
from integration.node.machine import MIB
from integration.node.volume import wish

from .claims import CLAIMS
from .node import GuestVolume, Node, Plugin
from .test_promotion import demote, promote

SIZE = 64 * MIB


@pytest.fixture
def replica(plugin, cloud, node):
    """replica(name, lun): a volume whose disk is on its way to this node, where it is a replica."""

    def make(name: str = "raw", lun: int = 1) -> GuestVolume:
        v = GuestVolume(plugin, cloud, name, node.disk(name, SIZE), lun)
        cloud.publish(name)
        cloud.settle(name, SIZE)
        cloud.want(name, "Replica")
        cloud.attest(name, state="Attaching", role="Replica", lun=lun, size=SIZE)
        return v

    return make


def replicas(plugin: Plugin, state: str) -> int:
    return int(plugin.metrics().get(f'azuredisk_replica_disks{{state="{state}"}}', 0))


def until_held(plugin: Plugin, n: int = 1) -> None:
    """Soon: without news, a disk is looked for after a minute."""
    until(lambda: replicas(plugin, "held") == n, f"{n} disks are held", seconds=40)


def arrive(v: GuestVolume, node: Node) -> str:
    """The disk is there; where."""
    node.attach(v.disk, v.lun)
    return node.controller.device(v.lun)


def is_free(node: Node, device: str) -> bool:
    claim = f"import os; os.open('{device}', os.O_RDONLY | os.O_EXCL)"
    return node.guest.try_to_run("python3", "-c", claim)[0] == 0


@pytest.mark.parametrize("program", CLAIMS)
def test_nobody_takes_it(replica, plugin, node, program):
    claim, guest, v = CLAIMS[program], node.guest, replica()
    plugin.stop()
    claim.prepare(guest, arrive(v, node))
    device = node.controller.device(v.lun)
    status, output = claim.take(guest, device)
    assert status == 0 and claim.has(guest), f"it takes one that nobody holds: {output}"
    claim.let_go(guest)
    plugin.run()
    until_held(plugin)
    before = v.disk.image.read_bytes()
    _, output = claim.take(guest, device)
    assert not claim.has(guest), output
    assert v.disk.image.read_bytes() == before
    # The user of the volume, however, may.
    demote(v)
    promote(v)
    v.stage(block())
    v.publish(block())
    status, output = claim.take(guest, device)
    assert status == 0 and claim.has(guest), output
    claim.let_go(guest)
    v.unpublish()
    v.unstage()


def test_it_is_held_from_its_arrival_to_its_promotion(replica, plugin, node):
    """Already before it is on record that it is attached."""
    v = replica()
    device = arrive(v, node)
    until_held(plugin)
    assert not is_free(node, device)
    assert node.guest.try_to_run("mount", device, "/mnt")[0] != 0
    demote(v)
    promote(v)
    v.stage(wish("ext4"))
    assert replicas(plugin, "held") == 0
    v.cloud.take_over(v.name)
    v.unstage()
    demote(v)
    until_held(plugin)
    promote(v)
    v.stage(wish("ext4"))
    v.unstage()
    assert is_free(node, device)


def test_it_is_let_go_with_its_attachment(replica, plugin, node):
    v = replica()
    device = arrive(v, node)
    demote(v)
    until_held(plugin)
    v.cloud.attest(v.name, state="Detaching", role="Replica", lun=v.lun, size=SIZE)
    until(lambda: is_free(node, device), "it is let go")
    demote(v)
    until_held(plugin)
    v.cloud.unpublish(v.name)
    until(lambda: is_free(node, device), "it is let go")


def test_a_disk_that_goes_and_another_that_comes(replica, plugin, node):
    """The kernel tells of both, and nothing else does here."""
    plugin.stop()
    plugin.run("--heartbeat-interval=1h")
    v = replica()
    demote(v)
    plugin.knows_attachments(1)
    arrive(v, node)
    until_held(plugin)
    node.detach(v.lun)
    until(lambda: replicas(plugin, "held") == 0, "what is gone is let go")
    device = arrive(v, node)
    until_held(plugin)
    assert not is_free(node, device)


def test_one_that_is_taken_already(replica, plugin, node):
    """It is said, and the disk is held when it is free."""
    claim, guest, v = CLAIMS["multipath"], node.guest, replica()
    plugin.stop()
    device = arrive(v, node)
    status, output = claim.take(guest, device)
    assert status == 0, output
    plugin.run()
    until(lambda: replicas(plugin, "in_use") == 1, "the plug-in sees that it is taken")
    until(lambda: "has been claimed by somebody else" in plugin.log.read_text(), "that is told")
    claim.let_go(guest)
    until_held(plugin)
    assert replicas(plugin, "in_use") == 0
