"""Disks that are found by their SCSI addresses, without udev; and others that are found in their place."""

import pytest
from cluster.waiting import until
from integration.node.machine import SMALLEST_EXT4
from integration.node.volume import Code, refused

from .node import GuestVolume


def use(v: GuestVolume, text: str) -> None:
    v.stage()
    v.publish()
    v.write("data", text)
    assert v.read("data") == text


def put_away(v: GuestVolume) -> None:
    v.unpublish()
    v.unstage()


def test_each_volume_is_on_the_disk_of_its_lun(volume, node):
    volumes = [volume(f"data-{lun}", lun=lun) for lun in (7, 0, 63)]
    assert node.guest.try_to_run("ls", "/dev/disk")[0] != 0, "nothing has made links"
    for v in volumes:
        use(v, v.name)
    for v in volumes:
        assert node.mounted(v.staging) == node.controller.device(v.lun)
        assert node.mounted(v.target) == node.controller.device(v.lun)
        put_away(v)
        assert v.name.encode() in v.disk.image.read_bytes()


def test_a_disk_that_comes_late_is_waited_for(plugin, cloud, node):
    v = GuestVolume(plugin, cloud, "late", node.disk("late", SMALLEST_EXT4), lun=5)
    cloud.publish(v.name, lun=v.lun, size=v.disk.size)
    staged = plugin.later(v.stage)
    attached = 'azuredisk_stage_duration_seconds_count{phase="attach"}'
    until(lambda: plugin.metrics().get(attached) == 1, "it looks for the disk")
    node.attach(v.disk, v.lun)
    staged.result()
    put_away(v)


def test_disks_of_one_lun_on_two_controllers_are_refused(volume, node):
    v = volume(lun=2)
    other = node.second_controller()
    other.attach(node.disk("other", SMALLEST_EXT4), 2)
    failure = refused(v.stage)
    assert failure.code() == Code.FAILED_PRECONDITION and "LUN 2 refers to both" in failure.details()
    other.detach(2)
    v.stage()
    v.unstage()


def test_another_makers_disk_is_not_taken(volume, node):
    """As the machine's own disks may be at the same LUN, of another controller."""
    v = volume(lun=2)
    other = node.second_controller()
    other.attach(node.disk("other", SMALLEST_EXT4, vendor="QEMU"), 2)
    v.stage()
    assert node.mounted(v.staging) == node.controller.device(2)
    v.unstage()


@pytest.mark.parametrize("filled", [False, True])
def test_another_disk_in_its_place_is_refused(volume, node, filled):
    """Somebody has swapped them while the volume was not in use; by size they are the same."""
    v, other = volume(lun=4), volume("other", lun=5)
    use(v, "mine")
    v.cloud.take_over(v.name)
    put_away(v)
    if filled:
        use(other, "theirs")
        put_away(other)
    before = other.disk.image.read_bytes()
    node.detach(v.lun)
    node.detach(other.lun)
    node.attach(other.disk, v.lun)
    failure = refused(v.stage)
    assert failure.code() == Code.FAILED_PRECONDITION and "expected ext4" in failure.details(), failure
    assert other.disk.image.read_bytes() == before
    node.detach(v.lun)
    node.attach(v.disk, v.lun)
    v.stage()
    v.publish()
    assert v.read("data") == "mine"
    put_away(v)
