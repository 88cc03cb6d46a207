"""A program that writes to a disk is on record with the attachment as long as it may write, runs only
while the node has the role, and is ended when the role goes."""

import re
from pathlib import Path

import pytest
from cluster.waiting import until

from .machine import SMALLEST_EXT4
from .plugin import until_done
from .slow_program import SlowMkfs
from .test_stats import Hanging
from .volume import Code, Volume

BOOT_ID = Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@pytest.fixture
def mkfs(tmp_path):
    mkfs = SlowMkfs(tmp_path)
    yield mkfs
    mkfs.go_on()


def test_on_record_while_it_runs(stopped, cloud, disk_of, mkfs):
    stopped.run(environment=mkfs.environment)
    v = Volume(stopped, cloud, "onrecord", disk_of(SMALLEST_EXT4)).attach()
    staging = stopped.later(v.stage)
    mkfs.await_begin()
    assert re.fullmatch(r"mkfs\.ext4 \d{4}-\d\d-\d\dT\S+Z " + BOOT_ID, cloud.running_job(v.name))
    mkfs.go_on()
    staging.result(timeout=60)
    assert cloud.running_job(v.name) is None
    v.unstage()


LOSSES = {
    "demoted": lambda cloud, v: cloud.want(v.name, "Replica"),
    "deleted": lambda cloud, v: cloud.unpublish(v.name),
    "detached": lambda cloud, v: cloud.report(v.name, state="Detaching", lun=v.lun, size=v.disk.size),
    "elsewhere": lambda cloud, v: cloud.report(v.name, lun=v.lun + 1, size=v.disk.size),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_ended_when_the_role_goes(stopped, cloud, disk_of, mkfs, loss):
    stopped.run(environment=mkfs.environment)
    v = Volume(stopped, cloud, loss, disk_of(SMALLEST_EXT4)).attach()
    staging = stopped.later(v.stage)
    mkfs.await_begin()
    LOSSES[loss](cloud, v)
    failure = staging.exception(timeout=60)
    assert failure.code() == Code.ABORTED, failure.details()
    assert loss == "deleted" or cloud.running_job(v.name) is None
    assert stopped.machine.mounts(v.staging) == 0 and mkfs.runs() == 1


def test_not_begun_when_the_role_went_before(stopped, cloud, disk_of, mkfs):
    """While it waited for its turn; nothing is written to the disk."""
    stopped.run("--max-concurrent-format=1", environment=mkfs.environment)
    first = Volume(stopped, cloud, "first", disk_of(SMALLEST_EXT4)).attach()
    first_staging = stopped.later(first.stage)
    mkfs.await_begin()
    v = Volume(stopped, cloud, "waits", disk_of(SMALLEST_EXT4), lun=1).attach()
    before = v.disk.checksum()
    staging = stopped.later(v.stage)
    stopped.has_proven(2)
    cloud.want(v.name, "Replica")
    assert staging.exception(timeout=60).code() == Code.ABORTED
    mkfs.go_on()
    first_staging.result(timeout=60)
    assert mkfs.runs() == 1 and v.disk.checksum() == before
    first.unstage()


def test_stays_on_record_while_the_api_server_is_away(stopped, cloud, installed, disk_of, mkfs):
    """That a program has ended is written as soon as it can be; the call fails meanwhile."""
    stopped.run(environment=mkfs.environment)
    v = Volume(stopped, cloud, "away", disk_of(SMALLEST_EXT4)).attach()
    staging = stopped.later(v.stage, timeout=10)
    mkfs.await_begin()
    installed.stop()
    try:
        mkfs.go_on()
        assert staging.exception(timeout=120) is not None
    finally:
        installed.cont()
    until(lambda: cloud.running_job(v.name) is None, "the end of the job on record")
    until_done(v.stage)
    v.unstage()


def test_left_behind_by_a_plugin_that_died(stopped, cloud, disk_of, mkfs):
    """Its successor takes it away, but not as long as the program runs."""
    stopped.run(environment=mkfs.environment)
    v = Volume(stopped, cloud, "orphan", disk_of(SMALLEST_EXT4)).attach()
    stopped.later(v.stage)
    mkfs.await_begin()
    left = cloud.running_job(v.name)
    stopped.kill()
    stopped.run()
    until(lambda: f'"{left}" stays recorded as running' in stopped.log.read_text(), "a look at the program")
    assert cloud.running_job(v.name) == left
    mkfs.go_on()
    until(lambda: cloud.running_job(v.name) is None, "the end of the job on record")
    v.stage()
    v.unstage()


def test_left_behind_with_its_program_dead(stopped, cloud, disk_of, mkfs):
    stopped.run(environment=mkfs.environment)
    v = Volume(stopped, cloud, "dead", disk_of(SMALLEST_EXT4)).attach()
    stopped.later(v.stage)
    mkfs.await_begin()
    stopped.kill_all()
    assert cloud.running_job(v.name)
    stopped.run()
    until(lambda: cloud.running_job(v.name) is None, "the end of the job on record")


def test_left_behind_beside_one_whose_disk_hangs(stopped, cloud, disk_of, mkfs):
    stopped.run("--max-concurrent-format=3", environment=mkfs.environment)
    volumes = [Volume(stopped, cloud, name, disk_of(SMALLEST_EXT4), lun).attach() for lun, name in enumerate("abc")]
    for v in volumes:
        stopped.later(v.stage)
    until(lambda: all(cloud.running_job(v.name) for v in volumes), "all jobs on record")
    stopped.kill_all()
    hanging = Hanging(volumes[1])
    stopped.run()
    for v in (volumes[0], volumes[2]):
        until(lambda v=v: cloud.running_job(v.name) is None, f"the end of the job of {v.name} on record")
    assert cloud.running_job(volumes[1].name)
    hanging.end()
    until(lambda: cloud.running_job(volumes[1].name) is None, "the end of the third job on record")


def test_left_behind_before_the_machine_was_off(stopped, cloud, disk_of, mkfs):
    """Even if a program of that name runs, and has the device: it is another one."""
    stopped.run(environment=mkfs.environment)
    v = Volume(stopped, cloud, "before", disk_of(SMALLEST_EXT4)).attach()
    stopped.later(v.stage)
    mkfs.await_begin()
    stopped.kill()
    cloud.leave_job(v.name, "mkfs.ext4 2026-01-01T00:00:00Z 00000000-0000-0000-0000-000000000000")
    stopped.run()
    until(lambda: cloud.running_job(v.name) is None, "the end of the job on record")
