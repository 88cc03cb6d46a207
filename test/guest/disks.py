"""Disks of a guest as Azure shows them to a VM: SCSI devices whose addresses end in the LUN.

The kernel's SCSI target (LIO) makes them of files and connects them to the guest itself (tcm_loop).
"""

from pathlib import Path

from .guest import Guest

TARGET = "/sys/kernel/config/target"


def blank(image: Path, size: int) -> None:
    """Makes a sparse file, or has a guest's disk forget what is on it."""
    with open(image, "wb") as file:
        file.truncate(size)


class _Backstore:
    """What is behind a disk, in a guest's kernel."""

    def __init__(self, guest: Guest, kind: str, name: str, control: str, vendor: str = "Msft"):
        self.guest, self.name = guest, name
        self.backstore = f"{TARGET}/core/{kind}_0/{name}"
        guest.shell(f"""
            mkdir -p {self.backstore}
            echo {vendor} >{self.backstore}/wwn/vendor_id
            echo 'Virtual Disk' >{self.backstore}/wwn/product_id
            echo {name} >{self.backstore}/wwn/vpd_unit_serial
            echo {control} >{self.backstore}/control
            echo 1 >{self.backstore}/enable""")

    def remove(self) -> None:
        """It is at no LUN any more."""
        self.guest.shell(f"rmdir {self.backstore}")


class Disk(_Backstore):
    """Of one guest: a file in its folder, blank at first."""

    def __init__(self, guest: Guest, name: str, size: int, **properties: str):
        self.size, self.image = size, guest.folder / name
        blank(self.image, size)
        super().__init__(guest, "fileio", name, f"fd_dev_name={self.image},fd_dev_size={size}", **properties)

    def remove(self) -> None:
        super().remove()
        self.image.unlink()

    def grow(self, size: int) -> None:
        """In Azure: the kernel of the guest does not look."""
        with open(self.image, "r+b") as image:
            image.truncate(size)
        self.guest.shell(f"echo fd_dev_size={size} >{self.backstore}/control")
        self.size = size


class SharedDisk(_Backstore):
    """A guest's view of its ubda, which other guests have, too: nothing of it is cached between the
    SCSI device and the file."""

    def __init__(self, guest: Guest, name: str, size: int):
        self.size = size
        super().__init__(guest, "iblock", name, "udev_path=/dev/ubda")


class Controller:
    """Of a guest's data disks, which are those of `storage`: its own."""

    def __init__(self, guest: Guest, number: int = 1):
        self.guest = self.storage = guest
        self.port = f"{TARGET}/loopback/naa.600140500000000{number}/tpgt_1"
        guest.shell(f"""
            mkdir -p {self.port}
            echo naa.600140510000000{number} >{self.port}/nexus""")
        self.address = guest.run("cat", f"{self.port}/address").strip()  # "0:0:1"

    def attach(self, disk: Disk | SharedDisk, lun: int) -> None:
        folder = f"{self.port}/lun/lun_{lun}"
        self.storage.shell(f"mkdir {folder}; ln -s {disk.backstore} {folder}/port")

    def detach(self, lun: int) -> None:
        """Whoever has it open, or mounted."""
        folder = f"{self.port}/lun/lun_{lun}"
        self.storage.shell(f"rm {folder}/port; rmdir {folder}")

    def remove(self) -> None:
        """With what is attached to it."""
        for lun in self.luns():
            self.detach(lun)
        self.storage.shell(f"rmdir {self.port} {self.port.rpartition('/')[0]}")

    def luns(self) -> list[int]:
        found = self.storage.run("ls", f"{self.port}/lun").split()
        return [int(name.removeprefix("lun_")) for name in found]

    def device(self, lun: int) -> str:
        """The path that the kernel has given to it."""
        return "/dev/" + self.guest.run("ls", f"/sys/bus/scsi/devices/{self.address}:{lun}/block").strip()
