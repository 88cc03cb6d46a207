"""Mounts of disks that are gone, and are in the way of the disk when it comes back as another device."""

import os
from contextlib import contextmanager

import pytest

from .machine import SMALLEST_EXT4, Disk
from .plugin import until_done
from .volume import Code, Volume, refused


@pytest.fixture
def back(volume, plugin, disk_of):
    """A volume that is staged, and the device as which its disk has come back."""

    def make(published: bool = False) -> tuple[Volume, Disk]:
        v = volume()
        v.stage()
        v.cloud.take_over(v.name)
        v.publish()
        with v.seen("file").open("w") as file:
            file.write("precious")
            file.flush()
            os.fsync(file.fileno())
        if not published:
            v.unpublish()
        device = disk_of(SMALLEST_EXT4)
        device.copy(v.disk)
        plugin.machine.detach(v.lun)
        plugin.machine.attach(device, v.lun)
        return v, device

    return make


@contextmanager
def without_devices(v: Volume):
    """As the kernel says it of a device that is gone while it is mounted."""
    v.plugin.machine.run("mount", "-t", "tmpfs", "tmpfs", "/sys/dev/block")
    yield
    v.plugin.machine.run("umount", "/sys/dev/block")


def assert_new(v: Volume, device: Disk) -> None:
    assert v.plugin.machine.mounts(v.staging) == 1
    assert f"{device.path} {v.staging} " in v.plugin.machine.run("cat", "/proc/self/mounts")


def test_staged_again(back, plugin):
    """By a kubelet that had forgotten it."""
    v, device = back()
    failure = refused(v.stage)
    assert failure.code() == Code.FAILED_PRECONDITION and f"{v.disk.path} is mounted there" in failure.details()
    with without_devices(v):
        until_done(v.stage)  # the first time it may say that data is lost
    assert_new(v, device)
    v.publish()
    assert v.seen("file").read_text() == "precious"
    v.unpublish()
    v.unstage()


def test_published_again(back):
    """By a kubelet that takes it for staged."""
    v, device = back()
    with without_devices(v):
        until_done(v.publish)
    assert_new(v, device)
    assert v.seen("file").read_text() == "precious"
    v.unpublish()
    v.unstage()


def test_while_a_pod_has_it(back):
    v, device = back(published=True)
    other = v.target.with_name("other")
    with without_devices(v):
        failure = refused(v.publish, target=other)
        assert failure.code() == Code.FAILED_PRECONDITION
        assert "is gone; it is mounted anew when no pod has it" in failure.details()
        v.publish()  # what is published is not touched
        v.unpublish()
        until_done(v.publish, None, other)
    assert_new(v, device)
    v.unpublish(other)
    v.unstage()
