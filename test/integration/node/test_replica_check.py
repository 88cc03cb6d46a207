"""Whether a replica could be used at once, as its node finds out and puts on record. A disk that hangs is one
that nobody comes back from opening, one that cannot be read has lost the file behind it."""

import fcntl
import os
import re
import time

import pytest
from cluster.waiting import until

from .machine import MIB, SMALLEST_EXT4
from .test_replica import demote, promote, until_held
from .test_stats import LOOP_SET_CAPACITY, Hanging
from .volume import Volume

READY = re.compile(r"true \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
OFTEN = "--replica-check-interval=200ms"
SELDOM = "--replica-check-interval=1h"


@pytest.fixture
def replica(stopped, cloud, disk_of):
    """replica(name, lun): a volume of which this node is to have a replica, whose disk is still to come."""

    def make(name: str = "data", lun: int = 0, size: int = SMALLEST_EXT4) -> Volume:
        v = Volume(stopped, cloud, name, disk_of(size), lun)
        cloud.publish(name)
        cloud.settle(name, v.disk.size)
        return v

    return make


def arrived(v: Volume) -> Volume:
    v.plugin.machine.attach(v.disk, v.lun)
    demote(v)
    return v


def until_ready(v: Volume) -> str:
    until(lambda: READY.fullmatch(v.cloud.replica_ready(v.name) or ""), "it is ready")
    return v.cloud.replica_ready(v.name)


def until_unready(v: Volume, reason: str) -> str:
    words = re.compile(r"false \S+Z " + reason)
    until(lambda: words.fullmatch(v.cloud.replica_ready(v.name) or ""), f"it is not ready: {reason}")
    return v.cloud.replica_ready(v.name)


def until_silent(v: Volume) -> None:
    until(lambda: v.cloud.replica_ready(v.name) is None, "nothing is said of it any more")


def not_ready(v: Volume) -> float:
    return v.plugin.metrics().get('azuredisk_replica_disks{state="not_ready"}', 0)


def until_counted(v: Volume, number: int) -> None:
    """The plug-in counts what it has put on record."""
    until(lambda: not_ready(v) == number, f"{number} that are not ready")


def looks(v: Volume) -> int:
    """How often the disk has been read."""
    with open(f"/sys/block/{os.path.basename(v.disk.path)}/stat") as file:
        return int(file.read().split()[0])


def looked_at(v: Volume, times: int = 10) -> None:
    before = looks(v)
    until(lambda: looks(v) > before + times, "it is looked at again and again")


def test_it_is_said_once(replica, stopped):
    stopped.run(OFTEN)
    v = arrived(replica())
    said, version = until_ready(v), v.cloud.version(v.name)
    looked_at(v)
    assert v.cloud.replica_ready(v.name) == said and v.cloud.version(v.name) == version
    assert not_ready(v) == 0
    stopped.stop()
    stopped.run(OFTEN)
    looked_at(v)  # by the next plug-in
    assert v.cloud.replica_ready(v.name) == said and v.cloud.version(v.name) == version


def test_it_is_said_as_soon_as_the_disk_has_come(replica, stopped):
    stopped.run(SELDOM)
    until_ready(arrived(replica()))


def test_the_disk_comes_later(replica, stopped):
    """It is waited for; that it has not come at all is said, and taken back when it has."""
    stopped.run(SELDOM)
    v = replica()
    began = time.monotonic()
    demote(v)
    until_unready(v, "no disk at LUN 0")
    assert time.monotonic() - began > 4
    until_counted(v, 1)
    v.plugin.machine.attach(v.disk, v.lun)
    until_ready(v)
    until_counted(v, 0)


def test_the_disk_goes(replica, stopped):
    stopped.run(OFTEN)
    v, other = arrived(replica()), arrived(replica("other", 1))
    until_ready(v), until_ready(other)
    version = other.cloud.version(other.name)
    v.plugin.machine.detach(v.lun)
    until_unready(v, "no disk at LUN 0")
    until_counted(v, 1)
    assert other.cloud.version(other.name) == version
    v.plugin.machine.attach(v.disk, v.lun)
    until_ready(v)


def test_another_size(replica, stopped):
    """As the record says it, or as it says that the disk grows to."""
    stopped.run(OFTEN)
    v = arrived(replica(size=1024 * MIB))
    until_ready(v)
    os.ftruncate(v.disk.image, 2048 * MIB)
    fcntl.ioctl(v.disk.fd, LOOP_SET_CAPACITY, 0)
    until_unready(v, f"the disk at LUN 0 has {2048 * MIB} bytes instead of {1024 * MIB}")
    v.cloud.ask_for(v.name, 2048 * MIB)
    said = until_ready(v)
    v.cloud.settle(v.name, 2048 * MIB)  # which is not on record of its attachments yet
    looked_at(v)
    assert v.cloud.replica_ready(v.name) == said
    v.cloud.attest(v.name, role="Replica", lun=v.lun, size=2048 * MIB)
    looked_at(v)
    assert v.cloud.replica_ready(v.name) == said
    os.ftruncate(v.disk.image, 1024 * MIB)
    fcntl.ioctl(v.disk.fd, LOOP_SET_CAPACITY, 0)
    until_unready(v, f"the disk at LUN 0 has {1024 * MIB} bytes instead of {2048 * MIB}")


def test_a_disk_that_cannot_be_read(replica, stopped):
    stopped.run(OFTEN)
    v, other = arrived(replica()), arrived(replica("other", 1))
    until_ready(v), until_ready(other)
    os.ftruncate(v.disk.image, 0)
    said = until_unready(v, f"{v.disk.path}: reading the device: Input/output error")
    looked_at(other)
    assert v.cloud.replica_ready(v.name) == said and READY.fullmatch(other.cloud.replica_ready("other"))
    os.ftruncate(v.disk.image, v.disk.size)
    until_ready(v)


def test_a_disk_that_somebody_else_has(replica, stopped):
    v = replica()
    claim = os.open(v.disk.path, os.O_RDONLY | os.O_EXCL)
    stopped.run(OFTEN)
    arrived(v)
    until_unready(v, "somebody else on the node has claimed the disk at LUN 0")
    os.close(claim)
    until_held(v)
    until_ready(v)


def test_a_disk_that_hangs(replica, stopped):
    """It stops nobody else, and there is one look at it; when it answers again, that is said."""
    stopped.run(OFTEN)
    v, other = arrived(replica()), arrived(replica("other", 1))
    until_ready(v), until_ready(other)
    hanging = Hanging(v)
    until_unready(v, "the disk at LUN 0 does not answer")
    threads = len(os.listdir(f"/proc/{stopped.process.pid}/task"))
    looked_at(other, 20)
    assert len(os.listdir(f"/proc/{stopped.process.pid}/task")) < threads + 10, "not one for each time that it would be due"
    hanging.end()
    until_ready(v)


def test_a_disk_that_hangs_until_its_attachment_is_gone(replica, stopped):
    stopped.run(OFTEN)
    v = arrived(replica())
    until_ready(v)
    hanging = Hanging(v)
    until_unready(v, "the disk at LUN 0 does not answer")
    v.cloud.unpublish(v.name)
    hanging.end()
    assert stopped.stop() == 0


def test_a_promotion_ends_it(replica, stopped):
    stopped.run(OFTEN)
    v = arrived(replica())
    until_ready(v)
    promote(v)
    v.stage()
    until_silent(v)
    v.cloud.take_over(v.name)
    v.unstage()
    demote(v)
    until_ready(v)
    v.cloud.attest(v.name, state="Detaching", role="Replica", lun=v.lun, size=v.disk.size)
    until_silent(v)


def test_what_another_plug_in_has_left(replica, stopped):
    v = replica()
    v.plugin.machine.attach(v.disk, v.lun)
    promote(v)
    v.cloud.say_ready(v.name, "false 2026-01-01T00:00:00Z no disk at LUN 0")
    stopped.run(SELDOM)
    until_silent(v)
    v.stage()
    v.cloud.take_over(v.name)
    v.unstage()
