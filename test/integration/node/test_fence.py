"""Shared volumes on devices that know no reservations, as loop devices do not; test/guest has those that do."""

import fcntl
import os
import re
import struct
import subprocess

import pytest
from cluster.waiting import until

from ..csi import block
from .failover import KEY, FailoverSide
from .machine import BLKROSET, MIB, SMALLEST_EXT4
from .test_checks import cut_off
from .test_read_only_publish import BLKROGET, publish_anew
from .test_stats import is_well, trouble
from .volume import Code, Volume, refused, refused_in_time, wish

READS_RAW = {**block(), "access_mode": {"mode": "SINGLE_NODE_READER_ONLY"}}


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


@pytest.mark.parametrize(("capability", "published"), [(wish(flags=["ro"]), True), (wish(), True), (READS_RAW, False)])
def test_who_only_reads_needs_none(shared, cloud, capability, published):
    v = shared(fencing="required")
    v.disk.run("mkfs.ext4", "-q")
    publish_anew(v, read_only=published)
    v.stage(capability)
    assert cloud.fence(v.name) is None
    v.unstage()


@pytest.mark.parametrize("capability", [wish(flags=["ro"]), wish(mode="SINGLE_NODE_READER_ONLY")], ids=["ro", "mode"])
def test_who_mounts_read_only_needs_one_for_the_journal(shared, plugin, cloud, capability):
    v = shared(fencing="none")
    v.stage()
    v.cloud.take_over(v.name)
    cut_off(v)
    before = v.disk.checksum()
    cloud.unpublish(v.name)
    cloud.publish(v.name, lun=v.lun, size=v.disk.size, parameters={"maxShares": "2", "fencing": "required"})
    refused_in_time(lambda: v.stage(capability), Code.FAILED_PRECONDITION, "parameter fencing: required")
    assert cloud.fence(v.name) == "unsupported"
    assert v.disk.checksum() == before and plugin.machine.mounts(v.staging) == 0


@pytest.mark.parametrize("parameters", ({"fencing": "none"}, {"fencing": "Guest"}, {"maxShares": "1"}))
def test_nobody_asks_the_device(shared, plugin, cloud, parameters):
    v = shared(**parameters)
    v.stage()
    assert cloud.fence(v.name) is None and fences(plugin) == 0
    v.unstage()


def reads_of_azvolumes(installed) -> int:
    """That the API server has answered."""
    text = installed.client().call_api("/metrics", "GET", auth_settings=["BearerToken"], response_type="str",
                                       _return_http_data_only=True)
    found = re.findall(r'^apiserver_request_total{.*resource="azvolumes",.*verb="GET",?.*} (\d+)$', text, re.MULTILINE)
    return sum(map(int, found))


@pytest.mark.parametrize("capability", [wish(), wish(flags=["ro"])], ids=["rw", "ro"])
def test_who_is_cut_off_leaves_the_disk_alone(shared, plugin, cloud, installed, capability):
    """It knows from before that the volume is its own, which it may be no more."""
    v = shared()
    v.stage()  # from now on it knows which cluster this is
    v.unstage()
    cloud.take_over(v.name)
    plugin.machine.detach(v.lun)
    before = reads_of_azvolumes(installed)
    staging = plugin.later(refused, plugin.stage, v.id, v.staging, capability, timeout=8)
    until(lambda: reads_of_azvolumes(installed) > before, "the plug-in knows what the disk is to be")
    installed.stop()
    try:
        plugin.machine.attach(v.disk, v.lun)
        assert staging.result(60).code() in (Code.DEADLINE_EXCEEDED, Code.UNAVAILABLE)
        assert fences(plugin) == 1 and plugin.machine.mounts(v.staging) == 0
    finally:
        installed.cont()
    v.stage(capability)
    assert fences(plugin) == 2
    v.unstage()


def test_a_fence_that_is_lost_is_an_abnormal_condition(shared, plugin, cloud, installed):
    """The file system itself need not show it yet."""
    v = shared()
    v.stage()
    v.publish()
    until(lambda: is_well(v), "no trouble")
    FailoverSide(installed.client(), cloud).note(v.name, fence=f"lost {KEY}")
    until(lambda: not is_well(v), "trouble")
    assert "another node has taken over the disk" in trouble(v)
    v.unpublish()
    v.unstage()
    assert cloud.fence(v.name) is None


def test_a_disk_that_was_closed_to_writes_is_open_again(shared, plugin, cloud, installed):
    """All of it, as a disk is closed that has lost its fence, though only a partition was in use."""
    v = shared()
    partition = v.disk.add_partition(2, MIB, SMALLEST_EXT4 // 2)
    v.stage(block(), partition="2")
    FailoverSide(installed.client(), cloud).note(v.name, fence=f"lost {KEY}")
    cloud.publish("later", lun=1, size=MIB)
    plugin.knows_attachments(2)  # and so of the note
    devices = [v.disk.fd, os.open(partition, os.O_RDONLY)]
    for device in devices:
        fcntl.ioctl(device, BLKROSET, struct.pack("i", 1))
    v.unstage()
    assert [struct.unpack("i", fcntl.ioctl(device, BLKROGET, bytes(4)))[0] for device in devices] == [0, 0]
    assert cloud.fence(v.name) is None
    os.close(devices[1])


@pytest.mark.parametrize("capability", [block(), wish()], ids=["block", "file system"])
def test_a_disk_that_was_closed_to_writes_is_open_when_its_partition_is_staged(shared, plugin, capability):
    """As that of a replica is, which has lost its fence as a primary, and was unstaged after it had lost the role."""
    v = shared()
    partition = v.disk.add_partition(2, MIB, SMALLEST_EXT4 // 2)
    subprocess.run(["mkfs.ext4", "-q", partition], check=True)
    devices = [v.disk.fd, os.open(partition, os.O_RDONLY)]
    for device in devices:
        fcntl.ioctl(device, BLKROSET, struct.pack("i", 1))
    plugin.stage(v.id, v.staging, capability, partition="2")
    assert [struct.unpack("i", fcntl.ioctl(device, BLKROGET, bytes(4)))[0] for device in devices] == [0, 0]
    v.publish(capability, partition="2")
    if capability == wish():
        v.seen("file").write_text("x")
    v.unpublish()
    v.unstage()
    os.close(devices[1])


def test_what_a_device_without_reservations_is_said_to_have_is_not_lost(shared, plugin, cloud, installed):
    v = shared()
    v.stage()
    FailoverSide(installed.client(), cloud).note(v.name, fence=f"held {KEY}")
    until(lambda: "the fence was not looked at" in plugin.log.read_text(), "a look")
    assert cloud.fence(v.name) == f"held {KEY}"
    v.unstage()
    assert cloud.fence(v.name) is None
