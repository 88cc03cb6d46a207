"""NVMe namespaces that say whose disk they are, as those of Azure's recent firmware do (azure_nvme.py)."""

import json
from pathlib import Path

import pytest
from cluster.waiting import until
from integration.csi import block
from integration.node.machine import SMALLEST_EXT4
from integration.node.volume import Code, refused

from .guest import Guest
from .namespaces import FIRST_LUN, Disk, connecting, device_of
from .node import GuestVolume, Node
from .virtual_machine import VirtualMachine

PROGRAM = Path(__file__).with_name("azure_nvme.py")
PORT, NAME = 4400, "nqn.2026-01.test:azure"
OURS = "nvme0"


class Controller:
    """Of a guest's data disks; what it is to say of them is told to it."""

    def __init__(self, guest: Guest):
        self.guest, self.said = guest, {}
        self.file = guest.folder / "namespaces.json"
        self._tell()
        self.program = guest.started("python3", PROGRAM, PORT, self.file)
        self.program.until(lambda: guest.try_to_run("sh", "-c", connecting(PORT, NAME))[0] == 0, "the controller answers")

    def _tell(self) -> None:
        self.file.write_text(json.dumps(self.said))

    def _rescan(self) -> None:
        self._tell()
        self.guest.shell(f"echo 1 >/sys/class/nvme/{OURS}/rescan_controller")

    def disk(self, name: str, size: int) -> Disk:
        return Disk(self.guest, name, size)

    def says(self, disk: Disk, nsid: int, text: str) -> None:
        """Of a disk that is a namespace from now on."""
        self.said[nsid] = {"file": str(disk.image), "says": text}
        self._rescan()
        until(lambda: self.device(nsid), "it has come")

    def attach(self, disk: Disk, lun: int) -> None:
        self.says(disk, lun + FIRST_LUN, f"type=data,lun={lun},name={disk.name}")

    def detach(self, nsid: int) -> None:
        """By what luns() names it."""
        del self.said[nsid]
        self._rescan()
        until(lambda: not self.device(nsid), "it is gone")

    def luns(self) -> list[int]:
        """What is there, whatever it says."""
        return list(self.said)

    def device(self, nsid: int) -> str:
        return device_of(self.guest, NAME, nsid)


@pytest.fixture(scope="module")
def _node(boot):
    return Node(Controller(boot(kind=VirtualMachine)))


@pytest.fixture
def unattached(plugin, cloud, node):
    """unattached(name, lun): a volume that is attached by the record."""

    def make(name: str, lun: int) -> GuestVolume:
        v = GuestVolume(plugin, cloud, name, node.disk(name, SMALLEST_EXT4), lun)
        cloud.publish(v.name, lun=v.lun, size=v.disk.size)
        return v

    return make


@pytest.mark.parametrize("text", ("type=data,lun=3,name=data", "type=data,lun=3,name=DATA", "type=data,lun=3", ""))
def test_one_that_says_what_it_is(unattached, node, text):
    """Or only a part of it, or the name in capitals: to Azure that is the same name."""
    v = unattached("data", 3)
    node.controller.says(v.disk, v.lun + FIRST_LUN, text)
    v.stage()
    assert node.mounted(v.staging) == node.controller.device(v.lun + FIRST_LUN)
    v.unstage()


def test_what_it_says_goes_before_its_number(unattached, node):
    v, other = unattached("data", 5), node.disk("other", SMALLEST_EXT4)
    node.controller.says(other, 5 + FIRST_LUN, "type=data,lun=9,name=other")
    node.controller.says(node.disk("system", SMALLEST_EXT4), 20, "type=os,lun=5")
    node.controller.says(v.disk, 40, "type=data,lun=5,name=data")
    v.stage()
    assert node.mounted(v.staging) == node.controller.device(40)
    v.unstage()
    assert not any(other.image.read_bytes())


@pytest.mark.parametrize("capability", [None, block()], ids=["blank", "raw"])
def test_one_that_says_another_name_is_refused(unattached, node, capability):
    """Where nothing on it tells whose it is."""
    v = unattached("data", 1)
    node.controller.says(v.disk, v.lun + FIRST_LUN, "type=data,lun=1,name=theirs")
    failure = refused(v.stage, capability)
    assert failure.code() == Code.FAILED_PRECONDITION
    assert "the volume's disk is data, and the device says that it is theirs" in failure.details()
    assert not any(v.disk.image.read_bytes())


def test_its_own_file_system_is_its_own_under_any_name(volume, node):
    v = volume("data", lun=2)
    v.stage()
    v.unstage()
    node.controller.says(v.disk, v.lun + FIRST_LUN, "type=data,lun=2,name=as-it-was-called-once")
    v.stage()
    v.unstage()
