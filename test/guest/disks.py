"""Disks of a guest as Azure shows them to a VM: SCSI devices whose addresses end in the LUN.

The kernel's SCSI target (LIO) makes them of files and connects them to the guest itself (tcm_loop).
One disk may be at several LUNs, then it is a shared one: each is a device of its own, with caches of
its own, and reservations know one from the other.
"""

from pathlib import Path

from .guest import Guest

TARGET = "/sys/kernel/config/target"


class Disk:
    """Sparse and blank. What guests have written to it is in `image`, on the machine."""

    def __init__(self, guest: Guest, name: str, size: int):
        self.guest, self.name, self.size = guest, name, size
        self.image = guest.folder / name
        with open(self.image, "wb") as image:
            image.truncate(size)
        self.backstore = f"{TARGET}/core/fileio_0/{name}"
        self._make(f"fd_dev_name={self.image},fd_dev_size={size}")

    def _make(self, control: str) -> None:
        self.guest.shell(f"""
            mkdir -p {self.backstore}
            echo Msft >{self.backstore}/wwn/vendor_id
            echo 'Virtual Disk' >{self.backstore}/wwn/product_id
            echo {self.name} >{self.backstore}/wwn/vpd_unit_serial
            echo {control} >{self.backstore}/control
            echo 1 >{self.backstore}/enable""")

    def remove(self) -> None:
        """It is at no LUN any more."""
        self.guest.shell(f"rmdir {self.backstore}")
        self.image.unlink()

    def grow(self, size: int) -> None:
        """In Azure: the kernel of the guest does not look."""
        with open(self.image, "r+b") as image:
            image.truncate(size)
        self.guest.shell(f"echo fd_dev_size={size} >{self.backstore}/control")
        self.size = size


class Controller:
    """Of a guest's data disks."""

    def __init__(self, guest: Guest, number: int = 1):
        self.guest = guest
        self.port = f"{TARGET}/loopback/naa.600140500000000{number}/tpgt_1"
        guest.shell(f"""
            mkdir -p {self.port}
            echo naa.600140510000000{number} >{self.port}/nexus""")
        self.address = guest.run("cat", f"{self.port}/address").strip()  # "0:0:1"

    def attach(self, disk: Disk, lun: int) -> None:
        folder = f"{self.port}/lun/lun_{lun}"
        self.guest.shell(f"mkdir {folder}; ln -s {disk.backstore} {folder}/port")

    def detach(self, lun: int) -> None:
        """Whoever has it open, or mounted."""
        folder = f"{self.port}/lun/lun_{lun}"
        self.guest.shell(f"rm {folder}/port; rmdir {folder}")

    def luns(self) -> list[int]:
        found = self.guest.run("ls", f"{self.port}/lun").split()
        return [int(name.removeprefix("lun_")) for name in found]

    def device(self, lun: int) -> str:
        """The path that the kernel has given to it."""
        return "/dev/" + self.guest.run("ls", f"/sys/bus/scsi/devices/{self.address}:{lun}/block").strip()


def image_of(path: Path, offset: int, length: int) -> bytes:
    with open(path, "rb") as image:
        image.seek(offset)
        return image.read(length)
