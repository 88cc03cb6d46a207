"""NodeExpandVolume, and what a node takes for the volume's disk while that grows."""

import fcntl
import os
import re
from pathlib import Path

import grpc
import pytest
from cluster.waiting import until

from ..csi import block
from ..placement import disk_id
from .machine import MIB
from .slow_program import NeverEnds
from .volume import Code, Volume, refused, refused_in_time, wish

LOOP_SET_CAPACITY = 0x4C07
CAP_SYS_RESOURCE = 24  # which the kernel wants for ext4, and a privileged container has
GIB = 1024 * MIB
OLD, NEW = GIB, 3 * GIB


def has_capability(number: int) -> bool:
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"CapEff:\s*(\w+)", status)[1], 16) >> number & 1 == 1


GROWABLE = ["ext4", "ext3", "ext2", "xfs"] if has_capability(CAP_SYS_RESOURCE) else ["xfs"]


def grow_disk(volume: Volume, size: int = NEW) -> None:
    """In Azure, and for the kernel."""
    os.ftruncate(volume.disk.image, size)
    fcntl.ioctl(volume.disk.fd, LOOP_SET_CAPACITY)
    volume.disk.size = size


def record_size(volume: Volume, size: int = NEW) -> None:
    volume.cloud.grow(volume.name, size, volume.lun)


def when_heard(call, *arguments, **kwargs):
    """As kubelet does: again, while the plug-in has not heard yet of what was recorded a moment ago."""
    def attempt() -> list | None:
        try:
            return [call(*arguments, **kwargs)]
        except grpc.RpcError as failure:
            if "to which the volume has grown" not in failure.details():
                raise
            return None

    return until(attempt, "the plug-in has heard of it")[0]


def expand(volume: Volume, size: int = NEW, path=None, timeout: float = 30, volume_id: str | None = None) -> int:
    return volume.plugin.csi.call(
        "Node/NodeExpandVolume", timeout, volume_id=volume.id if volume_id is None else volume_id,
        volume_path=str(path or volume.target), staging_target_path=str(volume.staging),
        capacity_range={"required_bytes": size}).capacity_bytes  # fmt: skip


def size_of(volume: Volume) -> int:
    """Of the file system."""
    found = os.statvfs(volume.plugin.machine.path(volume.target))
    return found.f_blocks * found.f_frsize


@pytest.mark.parametrize("fs_type", GROWABLE)
def test_a_file_system_grows_while_it_is_in_use(volume, fs_type):
    v = volume(size=OLD)
    v.stage(wish(fs_type))
    v.publish(wish(fs_type))
    v.cloud.take_over(v.name)
    with v.seen("data").open("wb") as data:
        data.write(b"before")
        grow_disk(v)
        record_size(v)
        assert when_heard(expand, v) == NEW
        assert size_of(v) > NEW * 9 // 10
        data.write(b" and after")
    assert v.seen("data").read_bytes() == b"before and after"
    assert expand(v) == NEW, "again it is done"
    v.unpublish()
    v.unstage()


@pytest.mark.parametrize("fs_type", GROWABLE)
def test_a_disk_that_grew_while_nobody_had_it_is_used_whole(volume, fs_type):
    v = volume(size=OLD)
    v.stage(wish(fs_type))
    v.cloud.take_over(v.name)
    v.unstage()
    grow_disk(v)
    record_size(v)
    when_heard(v.stage, wish(fs_type))
    v.publish(wish(fs_type))
    assert size_of(v) > NEW * 9 // 10
    v.unpublish()
    v.unstage()


def test_growing_that_outlasts_the_call(stopped, cloud, disk_of, tmp_path):
    """A kubelet that was restarted does not know of the mount, and would never have it unstaged."""
    growing = NeverEnds(tmp_path, "xfs_growfs")
    stopped.run()
    v = Volume(stopped, cloud, "grows", disk_of(OLD)).attach()
    v.stage(wish("xfs"))
    v.cloud.take_over(v.name)
    v.unstage()
    stopped.stop()
    grow_disk(v)
    record_size(v)
    stopped.run(environment=growing.environment)
    staging = stopped.later(v.stage, wish("xfs"), timeout=10)
    until(growing.begun.exists, "xfs_growfs")
    assert staging.exception(timeout=60).code() == Code.DEADLINE_EXCEEDED
    until(lambda: stopped.machine.mounts(v.staging) == 0, "the end of the mount")
    stopped.stop()
    stopped.run()
    v.stage(wish("xfs"))
    v.publish(wish("xfs"))
    assert size_of(v) > NEW * 9 // 10
    v.unpublish()
    v.unstage()


@pytest.mark.skipif("ext4" in GROWABLE, reason="this machine lets ext4 grow")
def test_a_file_system_that_cannot_grow_is_used_as_it_is(volume):
    v = volume(size=OLD)
    v.stage(wish("ext4"))
    v.cloud.take_over(v.name)
    v.unstage()
    grow_disk(v)
    record_size(v)
    when_heard(v.stage, wish("ext4"))
    v.publish(wish("ext4"))
    assert size_of(v) < OLD
    failure = refused(expand, v)
    assert failure.code() == Code.INTERNAL and "Permission denied to resize" in failure.details()
    v.unpublish()
    v.unstage()


def test_a_raw_device(volume):
    v = volume(size=OLD)
    v.stage(block())
    v.publish(block())
    grow_disk(v)
    record_size(v)
    assert when_heard(expand, v) == NEW
    v.unpublish()
    v.unstage()


def test_either_size_while_it_grows_and_the_new_one_afterwards(volume):
    v, used = volume(size=OLD), wish("xfs")
    v.cloud.ask_for(v.name, NEW)
    v.stage(used)
    v.cloud.take_over(v.name)
    v.unstage()
    grow_disk(v, 2 * GIB)
    assert "wrong disk" in refused(v.stage, used).details()
    grow_disk(v)
    v.stage(used)
    v.unstage()
    record_size(v)
    when_heard(v.stage, used)
    v.unstage()
    grow_disk(v, OLD)
    failure = refused(v.stage, used)
    assert failure.code() == Code.FAILED_PRECONDITION and "wrong disk" in failure.details()


def test_an_attachment_that_is_behind_is_waited_for(volume):
    v = volume(size=OLD)
    grow_disk(v)
    v.cloud.settle(v.name, NEW)
    failure = refused(v.stage)
    assert failure.code() == Code.ABORTED and "to which the volume has grown" in failure.details()


def test_what_cannot_be_expanded(volume, plugin):
    v, used = volume(size=OLD), wish("xfs")
    v.stage(used)
    v.publish(used)
    v.cloud.take_over(v.name)
    for code, words, arguments in (
        (Code.INVALID_ARGUMENT, "volume_id", {"volume_id": ""}),
        (Code.NOT_FOUND, "not attached", {"volume_id": disk_id("another")}),
        (Code.NOT_FOUND, "is not at", {"path": plugin.folder, "size": OLD}),
        (Code.NOT_FOUND, "No such file", {"path": plugin.folder / "nothing", "size": OLD}),
        (Code.ABORTED, f"fewer than the {NEW}", {}),
    ):
        failure = refused(expand, v, **arguments)
        assert failure.code() == code and words in failure.details(), failure
    record_size(v)
    refused_in_time(lambda: when_heard(expand, v, timeout=6), Code.UNAVAILABLE, "not seen here yet")
    grow_disk(v)
    assert expand(v) == NEW
    v.unpublish()
    v.unstage()
