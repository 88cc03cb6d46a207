"""A volume that is published read-only: a node writes nothing to its disk, and nobody on the node can."""

import fcntl
import os
import struct

import pytest
from cluster.waiting import until

from ..csi import block
from .machine import MIB, SMALLEST_EXT4, SMALLEST_XFS
from .test_checks import cut_off
from .test_growth import expand, grow_disk, record_size, when_heard
from .volume import Code, Volume, refused, refused_in_time, wish

SIZES = {"ext4": SMALLEST_EXT4, "xfs": SMALLEST_XFS}
XFS_IOC_GOINGDOWN, LOG_WHAT_IS_WRITTEN = 0x8004587D, 1
BLKROGET = 0x125E
GIB = 1024 * MIB
WAITED = 'azuredisk_stage_duration_seconds_count{phase="attach"}'


def is_read_only(v: Volume) -> bool:
    """The device itself."""
    return struct.unpack("i", fcntl.ioctl(v.disk.fd, BLKROGET, bytes(4)))[0] != 0


def fill(v: Volume, fs_type: str) -> None:
    """A file system with a file, made by a publish for writing."""
    v.stage(wish(fs_type))
    v.publish(wish(fs_type))
    v.seen("file").write_text("precious")
    v.unpublish()
    v.unstage()
    v.cloud.take_over(v.name)


def publish_anew(v: Volume, read_only: bool) -> None:
    """To the same node, in another way; and the plug-in has heard of it, because it has heard of what came after."""
    v.cloud.set_read_only(v.name, read_only)
    marker = f"marker-{read_only}".lower()
    v.cloud.publish(marker, lun=9, size=MIB)
    v.plugin.knows_attachments(2)
    v.cloud.unpublish(marker)
    v.plugin.knows_attachments(1)


@pytest.mark.parametrize("fs_type", SIZES)
def test_nothing_is_written(volume, plugin, fs_type):
    v = volume(size=SIZES[fs_type])
    fill(v, fs_type)
    before = v.disk.checksum()
    publish_anew(v, read_only=True)
    for _ in range(2):
        v.stage(wish(fs_type))
    assert is_read_only(v)
    for _ in range(2):
        v.publish(wish(fs_type))
    assert v.seen("file").read_text() == "precious"
    for folder in (v.target, v.staging):
        with pytest.raises(OSError, match="Read-only"):
            (plugin.machine.path(folder) / "file").write_text("x")
    v.unpublish()
    v.unstage()
    assert v.disk.checksum() == before

    publish_anew(v, read_only=False)
    v.stage(wish(fs_type))
    v.publish(wish(fs_type))
    v.seen("file").write_text("written again")
    v.unpublish()
    v.unstage()


def test_a_blank_disk_is_not_formatted(volume):
    v = volume(read_only=True)
    before = v.disk.checksum()
    refused_in_time(v.stage, Code.FAILED_PRECONDITION, "a volume that is published read-only is not formatted")
    assert v.disk.checksum() == before
    publish_anew(v, read_only=False)
    v.stage()
    v.unstage()


def crash_xfs(v: Volume) -> None:
    mount = v.plugin.machine.path(v.staging)
    file = os.open(mount / "file", os.O_CREAT | os.O_WRONLY)
    os.write(file, b"precious")
    os.fsync(file)
    fcntl.ioctl(file, XFS_IOC_GOINGDOWN, struct.pack("I", LOG_WHAT_IS_WRITTEN))
    os.close(file)
    v.plugin.machine.run("umount", str(v.staging))


@pytest.mark.parametrize("fs_type", SIZES)
def test_a_journal_is_not_replayed(volume, fs_type):
    v = volume(size=SIZES[fs_type])
    v.stage(wish(fs_type))
    v.cloud.take_over(v.name)
    (cut_off if fs_type == "ext4" else crash_xfs)(v)
    before = v.disk.checksum()
    publish_anew(v, read_only=True)
    failure = refused(v.stage, wish(fs_type))
    assert failure.code() == Code.FAILED_PRECONDITION, failure.details()
    assert "replaying its journal would write to a disk that is published read-only" in failure.details()
    assert v.disk.checksum() == before and v.plugin.machine.mounts(v.staging) == 0

    publish_anew(v, read_only=False)
    v.stage(wish(fs_type))
    v.publish(wish(fs_type))
    assert v.seen("file").read_text() == "precious"
    v.unpublish()
    v.unstage()


def test_a_file_system_does_not_grow(volume):
    v = volume(size=GIB)
    fill(v, "xfs")
    grow_disk(v)
    before = v.disk.checksum()
    v.cloud.grow(v.name, v.disk.size, v.lun)
    publish_anew(v, read_only=True)
    v.stage(wish("xfs"))
    v.publish(wish("xfs"))
    record_size(v)
    assert when_heard(expand, v, v.disk.size) == v.disk.size
    v.unpublish()
    v.unstage()
    assert v.disk.checksum() == before


def test_block(volume, plugin):
    v = volume(size=4 * MIB, read_only=True)
    before = v.disk.checksum()
    raw = block()
    for _ in range(2):
        v.stage(raw)
    assert is_read_only(v)
    for _ in range(2):
        v.publish(raw)
    for path in (v.target, v.staging / "device"):
        with pytest.raises(OSError), plugin.machine.path(path).open("r+b", buffering=0) as node:
            node.write(b"x")
    other = v.target.with_name("other")
    v.publish(raw, target=other)
    v.unpublish(other)
    v.unpublish()
    v.unstage()
    assert v.disk.checksum() == before and not is_read_only(v)


@pytest.mark.parametrize("capability", [None, block()], ids=["file system", "block"])
def test_what_a_former_plugin_staged_for_writing_stays_so(volume, plugin, capability):
    """The record says read-only, but that plug-in did not read it; kubelet's repeated calls go on as before."""
    v = volume(size=SMALLEST_EXT4)
    v.stage(capability)
    v.publish(capability)
    v.cloud.take_over(v.name)
    plugin.stop()
    v.cloud.set_read_only(v.name, True)
    plugin.run()
    v.stage(capability)
    v.publish(capability)
    assert not is_read_only(v)
    v.unpublish()
    v.unstage()
    v.stage(capability)
    assert is_read_only(v)
    v.unstage()


def test_a_publish_that_changes_while_it_is_staged(volume, plugin):
    """The plug-in looks at the record again when the device is there."""
    v = volume()
    plugin.machine.detach(v.lun)
    staging = plugin.later(v.stage)
    until(lambda: plugin.metrics().get(WAITED, 0) > 0, "it waits for the device")
    publish_anew(v, read_only=True)
    plugin.machine.attach(v.disk, v.lun)
    failure = staging.exception(timeout=60)
    assert failure.code() == Code.ABORTED and "published anew in the meantime" in failure.details()
