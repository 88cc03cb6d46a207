"""A PersistentVolume of an existing disk may be about a partition of it: that is what pods get, the rest of the disk is
left alone, and the disk is proven as ever."""

import subprocess

import pytest

from ..csi import block
from .machine import MIB, SMALLEST_EXT4
from .volume import Code, Volume, refused, wish

START, SIZE = MIB, SMALLEST_EXT4
BEYOND = START + SIZE + MIB  # something of the disk's, behind the partition


@pytest.fixture
def disk_of_two(volume):
    """Its second partition is the volume."""
    v = volume(size=4 * SMALLEST_EXT4)
    v.disk.add_partition(1, START + SIZE, MIB)
    v.disk.write(BEYOND, b"another partition's data")
    return v, v.disk.add_partition(2, START, SIZE)


def stats(v: Volume):
    return v.plugin.csi.call("Node/NodeGetVolumeStats", 30, volume_id=v.id, volume_path=str(v.target))


def test_a_file_system_on_it(cloud, disk_of_two):
    v, partition = disk_of_two
    subprocess.run(["mkfs.ext4", "-q", partition], check=True)
    for _ in range(2):
        v.stage(partition="2")
        v.publish(partition="2")
        v.seen("file").write_text("precious")
        assert SIZE / 2 < stats(v).usage[0].total < SIZE
        assert not stats(v).volume_condition.abnormal
        v.unpublish()
        v.unstage()
    v.stage(partition="2")
    v.publish(partition="2")
    assert v.seen("file").read_text() == "precious"
    v.unpublish()
    v.unstage()
    assert v.disk.read(BEYOND, 24) == b"another partition's data"
    assert cloud.record(v.name) is None, "its file system is not the driver's"


def test_a_block_device(plugin, disk_of_two):
    v, _ = disk_of_two
    v.stage(block(), partition="2")
    v.publish(block(), partition="2")
    with open(plugin.machine.path(v.target), "r+b", buffering=0) as device:
        assert device.seek(0, 2) == SIZE
        device.seek(0)
        device.write(b"raw".ljust(4096))
    assert stats(v).usage[0].total == SIZE and not stats(v).volume_condition.abnormal
    v.unpublish()
    v.unstage()
    assert v.disk.read(START, 3) == b"raw" and v.disk.read(0, 3) == bytes(3)


@pytest.mark.parametrize("capability", (wish(), block()))
def test_another_than_is_staged(plugin, disk_of_two, capability):
    """As with two PersistentVolumes of one volumeHandle: kubelet takes the second for staged."""
    v, partition = disk_of_two
    subprocess.run(["mkfs.ext4", "-q", partition], check=True)
    v.stage(capability, partition="2")
    for wanted, words in (({"partition": "1"}, "partition 1 of the disk is wanted"), ({}, "the whole disk is wanted")):
        failure = refused(v.publish, capability, **wanted)
        assert failure.code() == Code.FAILED_PRECONDITION
        assert f"{words}, but partition 2 of the disk is staged" in failure.details()
        assert plugin.machine.mounts(v.target) == 0
    v.publish(capability, partition="2")
    v.unpublish()
    v.unstage()


@pytest.mark.parametrize(("partition", "code", "words"), [
    ("3", "FAILED_PRECONDITION", "has no partition 3, which volume attribute partition names"),
    ("2", "FAILED_PRECONDITION", "a partition is not formatted by this driver"),
    ("0", "INVALID_ARGUMENT", "is not the number of a partition"),
])
def test_what_is_refused(disk_of_two, partition, code, words):
    v, _ = disk_of_two
    before = v.disk.checksum()
    failure = refused(v.stage, partition=partition)
    assert failure.code() == Code[code] and words in failure.details()
    assert v.disk.checksum() == before


def test_the_size_is_the_disks(plugin, cloud, disk_of):
    v = Volume(plugin, cloud, "data", disk_of(4 * SMALLEST_EXT4 + MIB)).attach(size=4 * SMALLEST_EXT4)
    v.disk.add_partition(2, START, 4 * SMALLEST_EXT4)
    failure = refused(v.stage, partition="2")
    assert failure.code() == Code.FAILED_PRECONDITION and "wrong disk" in failure.details()
