"""Disks that must not be touched, and those that may be though they look strange."""

import os
import subprocess

import grpc
import pytest
from cluster.waiting import until

from ..csi import block
from .machine import MIB, SMALLEST_EXT4, SMALLEST_XFS, Disk
from .plugin import until_done
from .volume import Code, Volume, refused, refused_in_time, wish

FOREIGN = "0e65e0d1-5a3b-4d2e-9d80-6d5a0a1b2c3d"  # a UUID of nobody's volume
OTHER = "617a646b-1111-8111-8111-111111111111"  # of another volume of this driver


def partition(disk: Disk) -> None:
    disk.write(446, bytes([0, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0]))
    disk.write(510, b"\x55\xaa")


def format_as(uuid: str):
    return lambda disk: disk.run("mkfs.ext4", "-q", "-U", uuid)


def make_xfs(disk: Disk) -> None:
    disk.run("mkfs.xfs", "-q")


def make_two(disk: Disk) -> None:
    make_xfs(disk)
    disk.write(1024 + 56, b"\x53\xef")  # ext4's magic number, and what goes with it
    disk.write(1024 + 76, b"\x01")


def write_data(disk: Disk) -> None:
    disk.write(disk.size - 4096, b"somebody's data")


def leave_blank(disk: Disk) -> None:
    pass


RECORD = f"ext4 {FOREIGN}"
ANY = wish()
READ_ONLY = wish(mode="SINGLE_NODE_READER_ONLY")

REFUSALS = {
    "smaller": (leave_blank, {"size": SMALLEST_EXT4 + 512}, ANY, "wrong disk: the volume has"),
    "larger": (leave_blank, {"size": SMALLEST_EXT4 - 512}, ANY, "wrong disk: the volume has"),
    "data": (write_data, {}, ANY, "found data without a signature"),
    "partitions": (partition, {}, ANY, "found dos, which is not a file system"),
    "swap": (lambda disk: disk.run("mkswap"), {}, ANY, "found swap, which is not a file system"),
    "another type": (make_xfs, {"size": SMALLEST_XFS}, ANY, "ext4 was requested: found xfs"),
    "two signatures": (make_two, {"size": SMALLEST_XFS}, ANY, "several signatures"),
    "another volume": (format_as(OTHER), {}, ANY, "wrong disk: it contains the file system of another"),
    "record, blank": (leave_blank, {"record": RECORD}, ANY, f"expected {RECORD}: found nothing"),
    "record, another": (format_as(OTHER), {"record": RECORD}, ANY, f"expected {RECORD}: found ext4 {OTHER}"),
    "record, another type": (
        format_as(FOREIGN), {"record": f"xfs {FOREIGN}"}, ANY,
        f"expected xfs {FOREIGN}: found ext4 {FOREIGN}",
    ),
    "record, another type is asked for": (
        format_as(FOREIGN), {"record": RECORD}, wish("xfs"),
        "the volume's file system is ext4, but xfs was requested",
    ),
    "record, partitions": (partition, {"record": RECORD}, ANY, f"expected {RECORD}: found dos"),
    "blank, read-only": (leave_blank, {}, READ_ONLY, "a volume that is published read-only is not formatted"),
    "blank, mount flag ro": (leave_blank, {}, wish(flags=["ro"]),
                             "a volume that is published read-only is not formatted"),
    "block, smaller": (leave_blank, {"size": SMALLEST_EXT4 + 512}, block(), "wrong disk: the volume has"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_refused_and_left_as_it_is(plugin, cloud, disk_of, case):
    make, status, capability, message = REFUSALS[case]
    disk = disk_of(SMALLEST_XFS if status.get("size") == SMALLEST_XFS else SMALLEST_EXT4)
    make(disk)
    before = disk.checksum()
    v = Volume(plugin, cloud, "wrong", disk).attach(**status)
    for _ in range(2):
        failure = refused(v.stage, capability)
        assert failure.code() == Code.FAILED_PRECONDITION
        assert message in failure.details()
    assert disk.checksum() == before
    assert plugin.machine.mounts(v.staging) == 0
    assert cloud.record(v.name) == status.get("record")
    refusals = plugin.metrics()['azuredisk_disk_proofs_total{verdict="refused"}']
    assert refusals == 2


# ---- what a node that was taken over could have written ----

FORGED = {
    "size": ({"size": SMALLEST_EXT4 + MIB},
             f"has {SMALLEST_EXT4 + MIB} bytes according to its attachment, but {SMALLEST_EXT4} according to its"),
    "file system": ({"record": f"ext4 {OTHER}"},
                    f"file system is ext4 {OTHER} according to its attachment, but {RECORD} according to its"),
    "type": ({"record": f"xfs {FOREIGN}"},
             f"file system is xfs {FOREIGN} according to its attachment, but {RECORD} according to its"),
}


@pytest.mark.parametrize("case", FORGED)
def test_an_attachment_that_says_what_the_volume_does_not(plugin, cloud, disk_of, case):
    """With what it says the proof would have passed: there is another tenant's disk, at the LUN of that disk."""
    forged, message = FORGED[case]
    disk = disk_of(forged.get("size", SMALLEST_EXT4))
    format_as(OTHER if case == "file system" else FOREIGN)(disk)
    before = disk.checksum()
    v = attach_unconfirmed(Volume(plugin, cloud, "forged", disk), RECORD, **forged)
    failure = until(lambda: told(v), "a refusal")
    assert failure.code() == Code.FAILED_PRECONDITION
    assert message in failure.details() and "AzVolumeAttachment forged-node-a-attachment" in failure.details()
    assert disk.checksum() == before
    assert plugin.machine.mounts(v.staging) == 0


def attach_unconfirmed(v: Volume, confirmed: str | None = None, **said) -> Volume:
    """What its attachment says now is the first that the plug-in hears of it."""
    v.plugin.machine.attach(v.disk, v.lun)
    v.cloud.publish(v.name)
    v.cloud.settle(v.name, SMALLEST_EXT4, confirmed)
    v.cloud.attest(v.name, **{"lun": v.lun, "size": SMALLEST_EXT4, "record": RECORD, **said})
    return v


def told(v: Volume) -> grpc.RpcError | None:
    """The refusal, once the plug-in has seen the attachment as it is now."""
    failure = refused(v.plugin.stage, v.id, v.staging)
    return failure if "according to its attachment" in failure.details() else None


def test_a_record_that_nobody_has_confirmed(plugin, cloud, disk_of):
    """What the attachment alone says of the file system may be forged; the controller confirms it, or never does."""
    disk = disk_of(SMALLEST_EXT4)
    format_as(FOREIGN)(disk)
    v = attach_unconfirmed(Volume(plugin, cloud, "unconfirmed", disk))
    refused_in_time(lambda: plugin.stage(v.id, v.staging), Code.ABORTED, "AzVolume unconfirmed does not yet confirm")
    assert plugin.machine.mounts(v.staging) == 0
    cloud.settle(v.name, disk.size, RECORD)
    v.stage()
    v.unstage()


def test_a_record_that_is_confirmed_a_little_later(plugin, cloud, disk_of):
    """As when kubelet stages a volume twice at once."""
    disk = disk_of(SMALLEST_EXT4)
    format_as(FOREIGN)(disk)
    v = attach_unconfirmed(Volume(plugin, cloud, "slow", disk))
    series = 'azuredisk_stage_duration_seconds_count{phase="attach"}'
    before = plugin.metrics().get(series, 0)
    staged = plugin.later(plugin.stage, v.id, v.staging)
    until(lambda: plugin.metrics().get(series, 0) > before, "it knows the attachment")
    cloud.settle(v.name, disk.size, RECORD)
    staged.result()
    v.unstage()


def test_a_volume_of_another_disk(volume, cloud):
    v = volume()
    cloud.settle(v.name, v.disk.size, volume_id="/subscriptions/s/another")
    failure = refused(v.stage)
    assert failure.code() == Code.FAILED_PRECONDITION
    assert "AzVolume data has disk /subscriptions/s/another" in failure.details()


def test_a_volume_without_a_record(volume, cloud):
    v = volume()
    cloud.delete_volume(v.name)
    failure = refused(v.stage)
    assert failure.code() == Code.ABORTED
    assert "AzVolume data does not exist" in failure.details()


def test_two_devices_at_one_lun(volume, plugin, disk_of):
    v = volume()
    other = disk_of(SMALLEST_EXT4)
    folder = plugin.machine.path("/dev/disk/azure/scsi1")
    folder.mkdir()
    (folder / "lun0").symlink_to(other.path)
    failure = refused(v.stage)
    assert failure.code() == Code.FAILED_PRECONDITION
    assert f"LUN 0 refers to both {other.path} and {v.disk.path}" in failure.details()


def test_a_disk_that_was_made_elsewhere(plugin, cloud, disk_of):
    """It is used as it is, and nothing is put on record of it."""
    disk = disk_of(SMALLEST_EXT4)
    disk.run("mkfs.ext4", "-q", "-U", FOREIGN)
    v = Volume(plugin, cloud, "static", disk).attach()
    v.stage()
    v.unstage()
    assert disk.run("blkid", "-p", "-s", "UUID", "-o", "value").strip() == FOREIGN
    assert cloud.record(v.name) is None


def test_a_file_system_that_was_restored_to_a_raw_volume(plugin, cloud, disk_of):
    """With dd, say, from a backup of another volume: what is on a raw volume is its user's."""
    disk = disk_of(SMALLEST_EXT4)
    format_as(OTHER)(disk)
    before = disk.checksum()
    v = Volume(plugin, cloud, "restored", disk).attach()
    v.stage(block())
    v.publish(block())
    v.unpublish()
    v.unstage()
    assert disk.checksum() == before
    assert cloud.record(v.name) is None


def test_a_record_that_was_lost(volume, cloud):
    """Of a file system that is ours it is made anew."""
    v = volume()
    v.stage()
    v.publish()
    v.seen("file").write_text("precious")
    record = cloud.record(v.name)
    v.unpublish()
    v.unstage()
    cloud.unpublish(v.name)
    cloud.publish(v.name, lun=v.lun, size=v.disk.size)
    until_done(v.stage)  # it may hear of the old attachment's end only now
    v.publish()
    assert v.seen("file").read_text() == "precious"
    assert cloud.record(v.name) == record
    v.unpublish()
    v.unstage()


def test_a_larger_device_that_is_to_be_grown(plugin, cloud, disk_of):
    v = Volume(plugin, cloud, "grows", disk_of(SMALLEST_EXT4)).attach(size=SMALLEST_EXT4 - MIB)
    assert refused(v.stage).code() == Code.FAILED_PRECONDITION
    v.stage(resizeRequired="true")
    v.unstage()


def test_a_damaged_file_system(volume, plugin):
    v = volume()
    v.stage()
    v.unstage()
    v.disk.run("debugfs", "-w", "-R", "ssv state 2")
    v.disk.write(256 * 1024, os.urandom(8 * MIB))
    failure = refused(v.stage)
    assert failure.code() == Code.INTERNAL
    assert "e2fsck ended with status 4" in failure.details()
    assert "UNEXPECTED INCONSISTENCY" in failure.details()
    assert plugin.machine.mounts(v.staging) == 0


def test_still_mounted_where_nobody_sees_it(volume, plugin):
    """A process with an older view of the mounts keeps the file system alive."""
    v = volume()
    v.stage()
    script = "mount --make-rprivate / && echo here && exec sleep infinity"
    holder = subprocess.Popen(
        plugin.machine.command("unshare", "--mount", "sh", "-c", script),
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdout.readline() == "here\n"
    for _ in range(2):
        failure = refused(v.unstage)
        assert failure.code() == Code.FAILED_PRECONDITION
        assert "the device is in use" in failure.details()
    holder.kill()
    holder.wait()
    v.unstage()
