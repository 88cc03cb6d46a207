"""Disks of a guest as Azure shows them to a VM: SCSI devices whose addresses end in the LUN.

The kernel's SCSI target (LIO) makes them of files and connects them to the guest itself (tcm_loop).
"""

from .guest import Guest

TARGET = "/sys/kernel/config/target"


class Disk:
    """What is behind it is a file in a guest's folder, blank at first."""

    def __init__(self, guest: Guest, name: str, size: int, vendor: str = "Msft"):
        self.guest, self.name, self.size, self.image = guest, name, size, guest.folder / name
        self.backstore = f"{TARGET}/core/fileio_0/{name}"
        with open(self.image, "wb") as image:
            image.truncate(size)
        guest.shell(f"""
            mkdir -p {self.backstore}
            echo {vendor} >{self.backstore}/wwn/vendor_id
            echo 'Virtual Disk' >{self.backstore}/wwn/product_id
            echo {name} >{self.backstore}/wwn/vpd_unit_serial
            echo fd_dev_name={self.image},fd_dev_size={size} >{self.backstore}/control
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
    """Of a guest's data disks, which are those of `storage`: its own."""

    def __init__(self, guest: Guest, number: int = 1):
        self.guest = self.storage = guest
        self.port = f"{TARGET}/loopback/naa.600140500000000{number}/tpgt_1"
        guest.shell(f"""
            mkdir -p {self.port}
            echo naa.600140510000000{number} >{self.port}/nexus""")
        self.address = guest.run("cat", f"{self.port}/address").strip()  # "0:0:1"

    def disk(self, name: str, size: int, **properties) -> Disk:
        return Disk(self.storage, name, size, **properties)

    def attach(self, disk: Disk, lun: int) -> None:
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
