"""Disks of replicas, which the plug-in keeps from everybody else on the node. (What it keeps from
whom: test/guest/test_replica_disks.py.)"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cluster.waiting import until

from .machine import SMALLEST_EXT4
from .test_stats import Hanging
from .volume import Code, Volume, refused_in_time


@pytest.fixture
def replica(plugin, cloud, disk_of):
    """replica(name, lun): a volume that is attached to this node, where it is a replica."""

    def make(name: str = "data", lun: int = 0) -> Volume:
        v = Volume(plugin, cloud, name, disk_of(SMALLEST_EXT4), lun)
        plugin.machine.attach(v.disk, lun)
        cloud.publish(name)
        cloud.settle(name, v.disk.size)
        demote(v)
        return v

    return make


def demote(v: Volume) -> None:
    v.cloud.want(v.name, "Replica")
    v.cloud.attest(v.name, role="Replica", lun=v.lun, size=v.disk.size)


def promote(v: Volume) -> None:
    v.cloud.want(v.name, "Primary")
    v.cloud.attest(v.name, role="Primary", lun=v.lun, size=v.disk.size)


def is_free(v: Volume) -> bool:
    try:
        os.close(os.open(v.disk.path, os.O_RDONLY | os.O_EXCL))
        return True
    except OSError:
        return False


def until_held(v: Volume) -> None:
    until(lambda: not is_free(v), "it is held")


def test_it_is_held_until_it_is_promoted(replica):
    v = replica()
    until_held(v)
    promote(v)
    v.stage()
    v.cloud.take_over(v.name)
    v.unstage()
    assert is_free(v)
    demote(v)
    until_held(v)
    v.cloud.unpublish(v.name)
    until(lambda: is_free(v), "it is let go")


def test_it_is_held_as_soon_as_its_former_use_ends(replica, plugin):
    """The role may go before kubelet has unstaged the volume, as after a detach by force."""
    v = replica()
    until_held(v)
    promote(v)
    v.stage()
    demote(v)
    until(lambda: "claimed by somebody else" in plugin.log.read_text(), "a look at the disk in use")
    v.unstage()
    until(lambda: not is_free(v), "it is held", seconds=30)  # and not with the next look, a minute after the last


def test_many_of_them(replica):
    volumes = [replica(f"data-{lun}", lun) for lun in range(8)]
    for v in volumes:
        until_held(v)
    for v in volumes[::2]:
        promote(v)
        v.stage()
    for v in volumes[1::2]:
        assert not is_free(v)
    for v in volumes[::2]:
        v.unstage()


def test_it_ends_with_the_plug_in(replica, plugin):
    v = replica()
    until_held(v)
    assert plugin.stop() == 0
    assert is_free(v)
    plugin.run()
    until_held(v)
    plugin.kill()
    assert is_free(v)


def test_a_program_that_may_write_is_no_longer_on_record_first(replica, plugin, tmp_path):
    """Whether one that a former plug-in has started has ended, is seen by claiming the disk."""
    program = tmp_path / f"mkfs-{os.getpid()}"
    shutil.copy(shutil.which("sleep"), program)
    v = replica()
    until_held(v)
    plugin.stop()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    left = f"{program.name} 2026-01-01T00:00:00Z {boot}"
    v.cloud.leave_job(v.name, left)
    running = subprocess.Popen([program, "600"])
    try:
        plugin.run()
        until(lambda: f'"{left}" stays recorded as running' in plugin.log.read_text(), "a look at the program")
        assert is_free(v)
    finally:
        running.kill()
        running.wait()
    until(lambda: v.cloud.running_job(v.name) is None, "the end of the program on record")
    until_held(v)


def test_a_disk_that_hangs_while_it_is_promoted(replica, plugin):
    """It is waited for, so that the claim is given up before anybody needs the disk."""
    v, other = replica(), replica("other", 1)
    until_held(v)
    hanging = Hanging(v)
    plugin.stop()
    plugin.run()
    until_held(other)
    promote(v)
    refused_in_time(
        lambda: plugin.stage(v.id, v.staging, timeout=6),
        Code.DEADLINE_EXCEEDED, "was a replica's until now, is still being looked at",
    )  # fmt: skip
    promote(other)
    other.stage()
    hanging.end()
    v.stage()
    for volume in (v, other):
        volume.unstage()
