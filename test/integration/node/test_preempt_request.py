"""Requests to a replica's node whose device knows no reservations, as loop devices do not: what is not carried out is said,
tried again, and never answered. test/guest has devices that carry it out."""

import pytest
from cluster.waiting import until

from .failover import KEY, OTHER_KEY, FailoverSide
from .machine import SMALLEST_EXT4
from .volume import Volume

TIME, LATER = "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:08.000000Z"
UNSUPPORTED = "supports no persistent reservations"


@pytest.fixture
def failover(installed, cloud):
    return FailoverSide(installed.client(), cloud)


@pytest.fixture
def replica(plugin, cloud, disk_of):
    v = Volume(plugin, cloud, "data", disk_of(SMALLEST_EXT4)).attach()
    cloud.want("data", "Replica")
    cloud.attest("data", role="Replica", lun=v.lun, size=v.disk.size)
    return v


def attempts(plugin, result: str) -> float:
    return plugin.metrics().get(f'azuredisk_preempt_requests_total{{result="{result}"}}', 0)


def is_left_alone(plugin, cloud, failover) -> None:
    """Its requests are tried again in every second; another volume's, which is heard of later, several times meanwhile."""
    cloud.publish("barrier", lun=1, size=SMALLEST_EXT4)
    cloud.want("barrier", "Replica")
    cloud.attest("barrier", role="Replica", lun=1, size=SMALLEST_EXT4)
    failover.note("barrier", request=f"{KEY} {TIME}")
    until(lambda: attempts(plugin, "refused") >= 1, "the first attempt for the other")
    before = attempts(plugin, "unsupported")
    until(lambda: attempts(plugin, "refused") >= 4, "further attempts for the other")
    assert attempts(plugin, "unsupported") == before


def test_a_device_without_reservations(replica, plugin, cloud, failover):
    request = f"{failover.key('data', 7)} {TIME}"
    failover.note("data", request=request)
    until(lambda: attempts(plugin, "unsupported") >= 3, "attempts")
    said = [line for line in plugin.log.read_text().splitlines() if UNSUPPORTED in line and "data" in line]
    assert len(said) == 1 and request in said[0], said
    assert failover.preempted("data") is None and cloud.fence("data") is None


def test_another_volumes_key_is_refused_without_a_look_at_the_disk(replica, plugin, cloud, failover):
    failover.note("data", request=f"{KEY} {TIME}")
    until(lambda: attempts(plugin, "refused") >= 3, "attempts")
    said = [line for line in plugin.log.read_text().splitlines() if "none of this volume's" in line]
    assert len(said) == 1 and KEY in said[0] and f"{KEY} {TIME}" in said[0], said
    failover.note("data", request=f"{OTHER_KEY} {LATER}")
    until(lambda: f"key {OTHER_KEY} is none of this volume's" in plugin.log.read_text(), "the next request is looked at")
    assert failover.preempted("data") is None and cloud.fence("data") is None
    assert attempts(plugin, "unsupported") == 0


@pytest.mark.parametrize("request_", ("nonsense", KEY, f"held {KEY} {TIME}"))
def test_what_names_no_key_is_refused(replica, plugin, failover, request_):
    failover.note("data", request=request_)
    until(lambda: attempts(plugin, "refused") >= 1, "an attempt")
    assert f'"{request_}" names no key' in plugin.log.read_text()
    assert failover.preempted("data") is None


@pytest.fixture
def asked(replica, plugin, failover):
    failover.note("data", request=f"{failover.key('data', 7)} {TIME}")
    until(lambda: attempts(plugin, "unsupported") >= 1, "an attempt")
    return replica


def test_a_request_that_goes_is_not_tried_again(asked, plugin, cloud, failover):
    failover.note("data", request=None)
    is_left_alone(plugin, cloud, failover)


def test_nor_is_one_to_a_replica_that_is_promoted(asked, plugin, cloud, failover):
    cloud.want("data", "Primary")
    cloud.attest("data", role="Primary", lun=asked.lun, size=asked.disk.size)
    asked.stage()
    is_left_alone(plugin, cloud, failover)
    asked.unstage()


def test_nor_is_one_that_is_answered(asked, plugin, cloud, failover):
    failover.note("data", preempted=f"{failover.key('data', 7)} {TIME}")
    is_left_alone(plugin, cloud, failover)


def test_a_request_to_a_former_primary_that_has_it_mounted(plugin, cloud, disk_of, failover):
    """It would write again as soon as its node has the fence."""
    v = Volume(plugin, cloud, "data", disk_of(SMALLEST_EXT4)).attach()
    v.stage()
    v.cloud.take_over("data")
    cloud.want("data", "Replica")
    cloud.attest("data", role="Replica", lun=v.lun, size=v.disk.size)
    failover.note("data", request=f"{failover.key('data', 7)} {TIME}")
    until(lambda: attempts(plugin, "refused") + attempts(plugin, "unsupported") >= 1, "an attempt")
    until(lambda: attempts(plugin, "refused") >= 2, "attempts")
    assert f"{v.disk.path} is in use on this node" in plugin.log.read_text()
    assert attempts(plugin, "unsupported") == 0 and failover.preempted("data") is None
    v.unstage()


def test_a_request_to_a_replica_without_a_device(plugin, cloud, failover):
    """It is tried again until the device comes."""
    cloud.publish("data", lun=3, size=SMALLEST_EXT4)
    cloud.want("data", "Replica")
    cloud.attest("data", role="Replica", lun=3, size=SMALLEST_EXT4)
    failover.note("data", request=f"{failover.key('data', 7)} {TIME}")
    until(lambda: attempts(plugin, "failed") >= 2, "attempts")
    assert failover.preempted("data") is None
