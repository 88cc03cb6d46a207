"""When a file system is checked before it is mounted, and when mounting it is enough."""

import fcntl
import os
import struct
import subprocess
import time

import pytest
from cluster.waiting import until

from .machine import MIB, SMALLEST_EXT4, Disk
from .slow_program import LoggedFsck, SlowToEnd
from .volume import Code, Volume, wish

EXT4_IOC_SHUTDOWN, LOG_WHAT_IS_WRITTEN = 0x8004587D, 1


@pytest.fixture
def fsck(tmp_path):
    return LoggedFsck(tmp_path)


def cut_off(v: Volume) -> None:
    """As a power cut leaves a file system that is in use: its journal has to be replayed."""
    mount = v.plugin.machine.path(v.staging)
    file = os.open(mount / "file", os.O_CREAT | os.O_WRONLY)
    os.write(file, b"precious")
    os.fsync(file)
    fcntl.ioctl(file, EXT4_IOC_SHUTDOWN, struct.pack("I", LOG_WHAT_IS_WRITTEN))
    os.close(file)
    v.plugin.machine.run("umount", str(v.staging))


def superblock(disk: Disk) -> str:
    return disk.run("dumpe2fs", "-h")


def debugfs(disk: Disk, *commands: str) -> None:
    for command in commands:
        subprocess.run(["debugfs", "-w", "-R", command, disk.path], check=True, capture_output=True)


def journal_errors(disk: Disk) -> None:
    """The kernel notes an error in the journal's superblock, too, in case it cannot write the other."""
    found = subprocess.run(["debugfs", "-R", "bmap <8> 0", disk.path], check=True, capture_output=True)
    at = int(found.stdout) * (4096 if "Block size:               4096" in superblock(disk) else 1024)
    disk.write(at + 0x20, struct.pack(">i", -5))  # s_errno of journal_superblock_t


def use(v: Volume) -> Volume:
    v.stage()
    cut_off(v)
    assert "needs_recovery" in superblock(v.disk)
    return v


@pytest.fixture
def used(stopped, cloud, disk_of, fsck):
    """A volume that has been staged once, and whose node lost power then."""
    stopped.run(environment=fsck.environment)
    return use(Volume(stopped, cloud, "used", disk_of(SMALLEST_EXT4)).attach())


def assert_precious(v: Volume) -> None:
    v.publish()
    assert v.seen("file").read_text() == "precious"
    v.unpublish()
    v.unstage()


def test_a_journal_is_replayed_without_a_check(used, fsck):
    used.stage()
    assert fsck.runs() == []
    assert_precious(used)


def test_a_journal_is_replayed_on_record_and_with_the_role(plugin, cloud, frozen):
    """The replay takes as long as the disk does; when the role has gone meanwhile, so does the mount."""
    disk, freeze = frozen
    v = use(Volume(plugin, cloud, "replays", disk).attach())
    freeze(True)
    staging = plugin.later(v.stage)
    until(lambda: (cloud.running_job(v.name) or "").startswith("mount "), "the mount on record")
    plugin.until_it_waits_for_a_disk()
    cloud.want(v.name, "Replica")
    cloud.publish("later", lun=1, size=MIB)
    plugin.knows_attachments(2)  # and so of the demotion
    assert not staging.done()
    freeze(False)
    failure = staging.exception(timeout=60)
    assert failure.code() == Code.ABORTED, failure.details()
    assert plugin.machine.mounts(v.staging) == 0
    assert cloud.running_job(v.name) is None


def test_a_mount_that_its_caller_has_given_up_is_undone(plugin, cloud, frozen):
    """A kubelet that was restarted does not know of it, and would never have it unmounted."""
    disk, freeze = frozen
    v = use(Volume(plugin, cloud, "given-up", disk).attach())
    freeze(True)
    staging = plugin.later(v.stage, timeout=10)
    until(lambda: (cloud.running_job(v.name) or "").startswith("mount "), "the mount on record")
    plugin.until_it_waits_for_a_disk()
    assert staging.exception(timeout=60).code() == Code.DEADLINE_EXCEEDED
    freeze(False)
    until(lambda: cloud.running_job(v.name) is None, "it has ended")
    assert plugin.machine.mounts(v.staging) == 0
    v.stage()
    assert_precious(v)


def test_errors_are_checked(used, cloud, fsck):
    debugfs(used.disk, "ssv state 2")
    used.stage()
    assert fsck.runs() == [f"-f -p {used.disk.path}"]
    assert cloud.running_job(used.name) is None
    assert_precious(used)
    assert "Filesystem state:         clean" in superblock(used.disk)


def test_errors_are_left_to_the_next_writer(used, fsck):
    debugfs(used.disk, "ssv state 2")
    used.stage(wish(mode="SINGLE_NODE_READER_ONLY"))
    assert fsck.runs() == []
    used.unstage()


DAMAGES = {
    "no journal": lambda disk: debugfs(disk, "zap_block -f <8> -p 0 0"),
    "wrong checksum": journal_errors,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_that_only_mounting_shows(used, fsck, damage):
    """The superblock says nothing of errors."""
    used.stage()
    used.unstage()
    DAMAGES[damage](used.disk)
    used.stage()
    assert fsck.runs() == [f"-f -p {used.disk.path}"]
    assert_precious(used)


def test_errors_that_the_journal_brings_to_light(stopped, cloud, disk_of, fsck):
    stopped.run(environment=fsck.environment)
    v = Volume(stopped, cloud, "noted", disk_of(SMALLEST_EXT4))
    v.disk.run("mkfs.ext4", "-q", "-O", "^metadata_csum")
    use(v.attach())
    journal_errors(v.disk)
    v.stage()
    assert fsck.runs() == [f"-f -p {v.disk.path}"]
    assert "the file system's journal contains recorded errors" in stopped.log.read_text()
    assert_precious(v)


def test_the_plugin_ends_while_it_checks(stopped, cloud, disk_of, tmp_path):
    """It asks e2fsck to end at once, and gives it longer than the five seconds that calls have."""
    slow = SlowToEnd(tmp_path, seconds=6)
    stopped.run(environment=slow.environment)
    v = Volume(stopped, cloud, "ends", disk_of(SMALLEST_EXT4))
    v.disk.run("mkfs.ext4", "-q")
    debugfs(v.disk, "ssv state 2")
    v.attach()
    staging = stopped.later(v.stage)
    until(slow.begun.exists, "e2fsck")
    began = time.monotonic()
    stopping = stopped.later(stopped.stop)
    until(slow.asked.exists, "SIGTERM")
    assert time.monotonic() - began < 4
    assert stopping.result(timeout=60) == 0
    assert slow.ended.exists()
    assert staging.exception(timeout=60).code() in (Code.UNAVAILABLE, Code.CANCELLED)
    assert cloud.running_job(v.name) is None
    stopped.run()
    v.stage()
    v.unstage()
