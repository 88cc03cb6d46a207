"""One plug-in on one machine for each test; the API server is that of the run."""

import contextlib
import fcntl
import os
import subprocess
from collections.abc import Callable

import pytest

from ..placement import Placement
from .cloud_side import CloudSide
from .machine import MIB, SMALLEST_EXT4, Disk, Machine
from .plugin import NodePlugin
from .volume import Volume

NODE = "node-a"
FIFREEZE, FITHAW = 0xC0045877, 0xC0045878


@pytest.fixture(scope="session")
def installed(apiserver):
    Placement(apiserver.client()).install()
    return apiserver


@pytest.fixture
def cloud(installed):
    cloud = CloudSide(installed.client(), NODE)
    cloud.clear()
    yield cloud
    cloud.clear()


@pytest.fixture
def machine(installed):
    machine = Machine()
    machine.reach(installed.port)
    yield machine
    machine.close()


@pytest.fixture
def disk_of(tmp_path):
    """disk_of(size): a new blank disk."""
    disks = []

    def make(size: int) -> Disk:
        disks.append(Disk(tmp_path, size))
        return disks[-1]

    yield make
    for disk in disks:
        disk.close()


@pytest.fixture
def stopped(installed, cloud, machine, tmp_path_factory):
    """A plug-in that has not started yet."""
    plugin = NodePlugin(machine, tmp_path_factory.mktemp("node"), installed.kubeconfig, NODE)
    yield plugin
    plugin.close()


@pytest.fixture
def plugin(stopped):
    return stopped.run()


@pytest.fixture
def volume(plugin, cloud, disk_of):
    """volume(name, size, ...): a volume that is attached and was never used."""

    def make(name: str = "data", size: int = SMALLEST_EXT4, lun: int = 0, **status) -> Volume:
        return Volume(plugin, cloud, name, disk_of(size), lun).attach(**status)

    return make


@pytest.fixture
def frozen_folder(disk_of):
    """frozen_folder(machine, path): makes the folder a file system of its own on that machine; what keeps that from
    taking writes."""
    handles = []

    def make(machine: Machine, path) -> Callable[[bool], None]:
        disk = disk_of(SMALLEST_EXT4)
        disk.run("mkfs.ext4", "-q")
        machine.run("mount", disk.path, str(path))
        handles.append(os.open(machine.path(path), os.O_RDONLY))
        return lambda yes: fcntl.ioctl(handles[-1], FIFREEZE if yes else FITHAW, 0)

    yield make
    for handle in handles:
        with contextlib.suppress(OSError):  # it takes writes as it is
            fcntl.ioctl(handle, FITHAW, 0)
        os.close(handle)


@pytest.fixture
def frozen(disk_of, tmp_path):
    """A disk whose image is in a file system of its own, and what keeps that from taking writes."""
    below = disk_of(256 * MIB)
    below.run("mkfs.ext4", "-q")
    folder = tmp_path / "below"
    folder.mkdir()
    subprocess.run(["mount", below.path, folder], check=True)
    handle = os.open(folder, os.O_RDONLY)
    disk = Disk(folder, SMALLEST_EXT4)
    state = {"frozen": False}

    def freeze(yes: bool) -> None:
        if yes != state["frozen"]:
            fcntl.ioctl(handle, FIFREEZE if yes else FITHAW, 0)
            state["frozen"] = yes

    yield disk, freeze
    freeze(False)
    disk.close()
    os.close(handle)
    subprocess.run(["umount", "--lazy", folder], check=True)  # a test that failed may still use it
