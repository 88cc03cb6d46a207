"""Disks that go while their volumes are in use."""

import time

from integration.csi import block
from integration.node.machine import SMALLEST_EXT4, SMALLEST_XFS
from integration.node.plugin import until_done
from integration.node.test_stats import is_well, trouble
from integration.node.volume import wish


def test_the_disk_goes_while_it_is_used(volume, node):
    """What kubelet does with such a volume comes to an end, and soon."""
    ext4, xfs, raw = volume("ext4", lun=1), volume("xfs", SMALLEST_XFS, lun=2), volume("raw", lun=3)
    wanted = {ext4: wish("ext4"), xfs: wish("xfs"), raw: block()}
    for v, capability in wanted.items():
        v.stage(capability)
        v.publish(capability)
        assert is_well(v)
    ext4.write("data", "on the disk")
    for v in (ext4, xfs):
        v.guest.shell(f"dd if=/dev/zero of={v.target}/cached bs=1M count=4 2>&1")
    with raw.guest.started("sh", "-c", f"exec 3<>{raw.target}; exec sleep infinity"):
        began = time.monotonic()
        for v in wanted:
            device = node.controller.device(v.lun)
            node.detach(v.lun)
            message = trouble(v)
            assert device in message and ("state is" in message or "the disk is gone" in message), message
        for v in (ext4, xfs):
            assert v.guest.try_to_run("sh", "-c", f"echo more >{v.target}/more && sync {v.target}/more")[0] != 0
            assert trouble(v)
    raw.unpublish()
    raw.unstage()
    for v in (ext4, xfs):
        v.unpublish()
        until_done(v.unstage)  # the first time it may say that data is lost
    assert not any(node.mounted(v.staging) for v in wanted)
    assert time.monotonic() - began < 30 * raw.guest.slowness
    # It comes back with what was on it.
    v = ext4
    node.attach(v.disk, v.lun)
    v.stage()
    v.publish()
    assert v.read("data") == "on the disk" and is_well(v)
    v.unpublish()
    v.unstage()


def test_it_comes_back_while_it_is_staged(volume, node):
    """Kubelet, which does not know of that any more, has it staged as if for the first time."""
    v = volume(lun=1)
    v.stage()
    v.publish()
    v.write("data", "on the disk")
    v.unpublish()
    node.detach(v.lun)
    node.attach(v.disk, v.lun)
    until_done(v.stage)  # the first time it may say that data is lost
    v.publish()
    assert v.read("data") == "on the disk" and is_well(v)
    v.unpublish()
    v.unstage()


def test_another_disk_in_the_place_of_one_in_use(volume, node):
    v, other = volume(lun=1), node.disk("other", SMALLEST_EXT4)
    v.stage()
    v.publish()
    assert is_well(v)
    node.detach(v.lun)
    node.attach(other, v.lun)
    assert trouble(v)
    v.unpublish()
    until_done(v.unstage)
    assert not any(other.image.read_bytes()), "nothing was written to it"
