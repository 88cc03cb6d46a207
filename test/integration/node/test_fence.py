"""Shared volumes on devices that know no reservations, as loop devices do not; test/guest has those that do."""

import pytest

from .machine import SMALLEST_EXT4
from .volume import Code, Volume, refused, wish


@pytest.fixture
def shared(plugin, cloud, disk_of):
    def make(**parameters: str) -> Volume:
        v = Volume(plugin, cloud, "shared", disk_of(SMALLEST_EXT4))
        return v.attach(parameters={"maxShares": "2", **parameters})

    return make


def fences(plugin) -> float:
    return plugin.metrics().get('azuredisk_fences_total{result="unsupported"}', 0)


@pytest.mark.parametrize("parameters", ({}, {"fencing": "preferred"}, {"fencing": "of a later release"}))
def test_it_is_used_without_and_says_so(shared, plugin, cloud, parameters):
    v = shared(**parameters)
    v.stage()
    assert cloud.fence(v.name) == "unsupported" and fences(plugin) == 1
    v.stage()
    v.unstage()
    assert cloud.fence(v.name) is None


def test_it_is_not_used_if_one_is_required(shared, plugin, cloud):
    v = shared(fencing="required")
    before = v.disk.checksum()
    failure = refused(v.stage)
    assert failure.code() == Code.FAILED_PRECONDITION
    assert "supports no persistent reservations, which parameter fencing: required asks for" in failure.details()
    assert cloud.fence(v.name) == "unsupported"
    assert v.disk.checksum() == before and plugin.machine.mounts(v.staging) == 0


def test_who_only_reads_needs_none(shared, cloud):
    v = shared(fencing="required")
    v.disk.run("mkfs.ext4", "-q")
    v.stage(wish(flags=["ro"]))
    assert cloud.fence(v.name) is None
    v.unstage()


@pytest.mark.parametrize("parameters", ({"fencing": "none"}, {"fencing": "Guest"}, {"maxShares": "1"}))
def test_nobody_asks_the_device(shared, plugin, cloud, parameters):
    v = shared(**parameters)
    v.stage()
    assert cloud.fence(v.name) is None and fences(plugin) == 0
    v.unstage()
