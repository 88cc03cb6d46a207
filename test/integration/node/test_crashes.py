"""The plug-in is killed, alone or with all that it has started, or cannot write: a repetition of the
call finishes what was begun."""

import subprocess
import time

import pytest
from cluster.waiting import until

from .machine import MIB, SMALLEST_EXT4, Disk
from .plugin import until_done
from .slow_program import SlowMkfs
from .volume import Code, Volume, refused


@pytest.fixture
def mkfs(tmp_path):
    mkfs = SlowMkfs(tmp_path)
    yield mkfs
    mkfs.go_on()


def signature(disk: Disk) -> dict[str, str]:
    """What blkid says of the disk; nothing if it knows nothing."""
    found = subprocess.run(["blkid", "-p", "-o", "export", disk.path], capture_output=True, text=True)
    return dict(line.split("=", 1) for line in found.stdout.splitlines())


def test_killed_while_formatting(stopped, cloud, disk_of, mkfs):
    """Three times; what mkfs had written is no obstacle to beginning anew."""
    v = Volume(stopped, cloud, "cut", disk_of(SMALLEST_EXT4)).attach()
    blank = v.disk.checksum()
    for _ in range(3):
        stopped.run(environment=mkfs.environment)
        stopped.later(v.stage)
        mkfs.await_begin()
        stopped.kill_all()
        mkfs.begun.unlink()
        assert v.disk.checksum() != blank and not signature(v.disk)
        assert cloud.record(v.name) is None
    stopped.run()
    v.stage()
    v.publish()
    v.seen("file").write_text("x")
    assert cloud.record(v.name) == f"ext4 {signature(v.disk)['UUID']}"
    v.unpublish()
    v.unstage()


def test_mkfs_outlives_the_plugin(stopped, cloud, disk_of, mkfs):
    """Only the plug-in is killed: its successor waits for mkfs to end, and does not disturb it."""
    stopped.run(environment=mkfs.environment)
    v = Volume(stopped, cloud, "orphan", disk_of(SMALLEST_EXT4)).attach()
    stopped.later(v.stage)
    mkfs.await_begin()
    stopped.kill()
    stopped.run()
    failure = refused(v.stage)
    assert failure.code() == Code.FAILED_PRECONDITION
    assert "the device is in use" in failure.details()
    mkfs.go_on()
    until_done(v.stage)
    assert mkfs.runs() == 1
    assert cloud.record(v.name) == f"ext4 {signature(v.disk)['UUID']}"
    v.unstage()


def test_formatting_outlasts_the_call(stopped, cloud, disk_of, mkfs):
    """A caller whose time is over comes again; meanwhile the volume is busy, and then done."""
    stopped.run(environment=mkfs.environment)
    v = Volume(stopped, cloud, "long", disk_of(SMALLEST_EXT4)).attach()
    stopped.knows_attachments(1)
    first = stopped.later(v.stage, timeout=10)
    mkfs.await_begin()
    assert first.exception(timeout=60).code() == Code.DEADLINE_EXCEEDED
    assert refused(v.stage).code() == Code.ABORTED
    mkfs.go_on()
    until_done(v.stage)
    assert mkfs.runs() == 1
    v.unstage()


def test_demoted_while_formatting(stopped, cloud, disk_of, mkfs):
    """By the time that the file system is made, another node may be the volume's user."""
    stopped.run(environment=mkfs.environment)
    v = Volume(stopped, cloud, "demoted", disk_of(SMALLEST_EXT4)).attach()
    staging = stopped.later(v.stage)
    mkfs.await_begin()
    cloud.want(v.name, "Replica")
    cloud.publish("later", lun=1, size=MIB)
    stopped.knows_attachments(2)  # and so of the demotion
    mkfs.go_on()
    failure = staging.exception(timeout=60)
    assert failure.code() == Code.ABORTED
    assert stopped.machine.mounts(v.staging) == 0
    cloud.want(v.name, "Primary")
    until_done(v.stage)
    v.unstage()


def test_killed_before_the_record(stopped, cloud, installed, disk_of, mkfs):
    """Formatted, but nobody has been told."""
    stopped.run(environment=mkfs.environment)
    v = Volume(stopped, cloud, "untold", disk_of(SMALLEST_EXT4)).attach()
    staging = stopped.later(v.stage)
    mkfs.await_begin()
    installed.stop()
    try:
        mkfs.go_on()
        until(lambda: signature(v.disk), "the file system")
        time.sleep(0.5)
        assert not staging.done()
        assert stopped.machine.mounts(v.staging) == 0
        stopped.kill()
    finally:
        installed.cont()
    uuid = signature(v.disk)["UUID"]
    stopped.run()
    until_done(v.stage)
    assert signature(v.disk)["UUID"] == uuid
    assert cloud.record(v.name) == f"ext4 {uuid}"
    v.unstage()


def test_a_record_that_cannot_be_written(stopped, cloud, installed, disk_of, mkfs):
    """The call fails, and a repetition finishes."""
    stopped.run(environment=mkfs.environment)
    v = Volume(stopped, cloud, "unwritten", disk_of(SMALLEST_EXT4)).attach()
    staging = stopped.later(v.stage, timeout=10)
    mkfs.await_begin()
    installed.stop()
    try:
        mkfs.go_on()
        failure = staging.exception(timeout=60)
    finally:
        installed.cont()
    assert failure.code() in (Code.DEADLINE_EXCEEDED, Code.CANCELLED)
    assert stopped.machine.mounts(v.staging) == 0
    until_done(v.stage)
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
    until_done(v.stage)
    assert stopped.machine.mounts(v.staging) == 1
    v.publish()
    v.seen("file").write_text("x")
    v.unpublish()
    v.unstage()


@pytest.mark.parametrize("moment", range(0, 200, 40))
def test_killed_while_unstaging(stopped, cloud, disk_of, moment):
    """And once more while it stages what has been formatted before: nothing is lost, nor made anew."""
    stopped.run()
    v = Volume(stopped, cloud, "leaves", disk_of(SMALLEST_EXT4)).attach()
    v.stage()
    v.publish()
    v.seen("file").write_text("precious")
    v.unpublish()
    made = signature(v.disk)["UUID"]

    for call, mounts in ((v.unstage, 0), (v.stage, 1)):
        stopped.later(call)
        time.sleep(moment / 1000)
        stopped.kill_all()
        stopped.run()
        until_done(call)
        assert stopped.machine.mounts(v.staging) == mounts
    v.publish()
    assert v.seen("file").read_text() == "precious"
    assert signature(v.disk)["UUID"] == made and cloud.record(v.name) == f"ext4 {made}"
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
