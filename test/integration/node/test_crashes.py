"""The plug-in is killed, alone or with all that it has started, or cannot write: a repetition of the
call finishes what was begun."""

import os
import subprocess
import sys
import time

import pytest
from cluster.waiting import until

from .machine import SMALLEST_EXT4, Disk
from .volume import Code, Volume, refused


SLOW_MKFS = """#!{python}
import os, sys, time
fd = os.open(sys.argv[-1], os.O_RDWR | os.O_EXCL)
os.pwrite(fd, b"half of a file system", 65536)
os.fsync(fd)
open("{folder}/begun", "w").close()
time.sleep(2)
os.close(fd)
os.execv("/usr/sbin/mkfs.ext4", sys.argv)
"""


def slow_mkfs(folder) -> dict:
    """An environment in which mkfs.ext4 writes something, makes a file `begun`, and takes its time."""
    script = folder / "mkfs.ext4"
    script.write_text(SLOW_MKFS.format(python=sys.executable, folder=folder))
    script.chmod(0o700)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def signature(disk: Disk) -> dict[str, str]:
    """What blkid says of the disk; nothing if it knows nothing."""
    found = subprocess.run(["blkid", "-p", "-o", "export", disk.path], capture_output=True, text=True)
    return dict(line.split("=", 1) for line in found.stdout.splitlines())


def test_killed_while_formatting(stopped, cloud, disk_of, tmp_path):
    """Three times; what mkfs had written is no obstacle to beginning anew."""
    slow, begun = slow_mkfs(tmp_path), tmp_path / "begun"
    v = Volume(stopped, cloud, "cut", disk_of(SMALLEST_EXT4)).attach()
    blank = v.disk.checksum()
    for _ in range(3):
        stopped.run(environment=slow)
        stopped.later(v.stage)
        until(begun.exists, 10, "mkfs")
        stopped.kill_all()
        begun.unlink()
        assert v.disk.checksum() != blank and not signature(v.disk)
        assert cloud.record(v.name) is None
    stopped.run()
    v.stage()
    v.publish()
    v.seen("file").write_text("x")
    assert cloud.record(v.name) == f"ext4 {signature(v.disk)['UUID']}"
    v.unpublish()
    v.unstage()


def test_mkfs_outlives_the_plugin(stopped, cloud, disk_of, tmp_path):
    """Only the plug-in is killed: its successor waits for mkfs to end, and does not disturb it."""
    stopped.run(environment=slow_mkfs(tmp_path))
    v = Volume(stopped, cloud, "orphan", disk_of(SMALLEST_EXT4)).attach()
    stopped.later(v.stage)
    until((tmp_path / "begun").exists, 10, "mkfs")
    stopped.kill()
    stopped.run()
    failure = refused(v.stage)
    assert failure.code() == Code.FAILED_PRECONDITION
    assert "somebody else uses the device" in failure.details()
    stopped.stage_until_done(v.id, v.staging)
    assert cloud.record(v.name) == f"ext4 {signature(v.disk)['UUID']}"
    v.unstage()


def test_formatting_outlasts_the_call(stopped, cloud, disk_of, tmp_path):
    """A caller whose time is over comes again; meanwhile the volume is busy, and then done."""
    stopped.run(environment=slow_mkfs(tmp_path))
    v = Volume(stopped, cloud, "long", disk_of(SMALLEST_EXT4)).attach()
    assert refused(v.stage, timeout=1).code() == Code.DEADLINE_EXCEEDED
    assert refused(v.stage, timeout=1).code() == Code.ABORTED
    stopped.stage_until_done(v.id, v.staging)
    assert stopped.log.read_text().count("NodeStageVolume: DeadlineExceeded") == 1
    v.unstage()


def test_demoted_while_formatting(stopped, cloud, disk_of, tmp_path):
    """By the time that the file system is made, another node may be the volume's user."""
    stopped.run(environment=slow_mkfs(tmp_path))
    v = Volume(stopped, cloud, "demoted", disk_of(SMALLEST_EXT4)).attach()
    staging = stopped.later(v.stage)
    until((tmp_path / "begun").exists, 10, "mkfs")
    cloud.want(v.name, "Replica")
    failure = staging.exception(timeout=30)
    assert failure.code() == Code.ABORTED
    assert stopped.machine.mounts(v.staging) == 0
    cloud.want(v.name, "Primary")
    stopped.stage_until_done(v.id, v.staging)
    v.unstage()


def test_killed_before_the_record(stopped, cloud, installed, disk_of):
    """Formatted, but nobody has been told."""
    stopped.run()
    v = Volume(stopped, cloud, "untold", disk_of(SMALLEST_EXT4)).attach()
    time.sleep(0.5)
    installed.stop()
    staging = stopped.later(v.stage)
    until(lambda: signature(v.disk), 20, "the file system")
    time.sleep(0.5)
    assert not staging.done()
    assert stopped.machine.mounts(v.staging) == 0
    stopped.kill()
    installed.cont()
    uuid = signature(v.disk)["UUID"]
    stopped.run()
    v.stage()
    assert signature(v.disk)["UUID"] == uuid
    assert cloud.record(v.name) == f"ext4 {uuid}"
    v.unstage()


def test_a_record_that_cannot_be_written(plugin, cloud, installed, disk_of):
    """The call fails, and a repetition finishes."""
    v = Volume(plugin, cloud, "unwritten", disk_of(SMALLEST_EXT4)).attach()
    time.sleep(0.5)
    installed.stop()
    try:
        failure = refused(v.stage, timeout=3)
    finally:
        installed.cont()
    assert failure.code() in (Code.DEADLINE_EXCEEDED, Code.CANCELLED)
    assert plugin.machine.mounts(v.staging) == 0
    plugin.stage_until_done(v.id, v.staging)
    assert cloud.record(v.name).startswith("ext4 617a646b-")
    v.unstage()


@pytest.mark.parametrize("moment", range(0, 300, 30))
def test_killed_at_some_moment(stopped, cloud, disk_of, moment):
    """Whatever it was doing: the next one ends what it began, and nothing is mounted twice."""
    stopped.run()
    v = Volume(stopped, cloud, "moment", disk_of(SMALLEST_EXT4)).attach()
    stopped.later(v.stage)
    time.sleep(moment / 1000)
    stopped.kill_all()
    stopped.run()
    stopped.stage_until_done(v.id, v.staging)
    assert stopped.machine.mounts(v.staging) == 1
    v.publish()
    v.seen("file").write_text("x")
    v.unpublish()
    v.unstage()


def test_mounts_outlive_the_plugin(stopped, cloud, disk_of):
    stopped.run()
    v = Volume(stopped, cloud, "lives", disk_of(SMALLEST_EXT4)).attach()
    v.stage()
    v.publish()
    with v.seen("file").open("w") as file:
        stopped.kill()
        file.write("written while nobody was there")
    stopped.run()
    v.stage()
    v.publish()
    assert v.seen("file").read_text() == "written while nobody was there"
    v.unpublish()
    v.unstage()
