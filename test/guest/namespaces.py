"""Disks of a virtual machine as Azure's newer VM sizes show them: namespaces of an NVMe controller, whose numbers are the LUNs
and two. The first one is the operating system's.

The kernel's NVMe target makes them of files, and the guest is connected to itself, by TCP. What is new on a controller, or
gone, it tells at once, as Azure's do; of a new size it does not.
"""

from itertools import count
from pathlib import Path

from cluster.waiting import until

from .guest import Guest

TARGET = "/sys/kernel/config/nvmet"
REMOTE, LOCAL = "MSFT NVMe Accelerator v1.0", "Microsoft NVMe Direct Disk v2"
OF_THE_SYSTEM, FIRST_LUN = 1, 2
PORT = 4420

_ports = count(PORT)


def connecting(port: int, name: str) -> str:
    """A shell's command that connects a guest to a controller in it."""
    return f"printf %s transport=tcp,traddr=127.0.0.1,trsvcid={port},nqn={name} >/dev/nvme-fabrics"


def device_of(guest: Guest, name: str, nsid: int) -> str:
    """Of a controller's namespace; "" if the kernel has none."""
    return guest.shell(f"""
        for disk in /sys/block/nvme*; do
            [ ! -e $disk/dev ] || [ "$(cat $disk/nsid)" != {nsid} ] || [ "$(cat $disk/device/subsysnqn)" != {name} ] ||
                echo /dev/${{disk##*/}}
        done""").strip()


class Disk:
    """What is behind it is a file in a guest's folder, blank at first."""

    def __init__(self, guest: Guest, name: str, size: int):
        self.guest, self.name, self.size, self.image = guest, name, size, guest.folder / name
        with open(self.image, "wb") as image:
            image.truncate(size)

    def remove(self) -> None:
        """It is at no LUN any more."""
        self.image.unlink()

    def grow(self, size: int) -> None:
        """In Azure: the kernel of the guest does not look."""
        with open(self.image, "r+b") as image:
            image.truncate(size)
        self.guest.run("stat", self.image)  # it is a file of the machine's, of which the guest knows the size that it saw
        self.size = size


class Controller:
    """Of a guest's disks, and without any but that of the operating system."""

    def __init__(self, guest: Guest, number: int = 1, model: str = REMOTE):
        self.guest, self.name, port = guest, f"nqn.2026-01.test:{number}", next(_ports)
        self.subsystem, self.port = f"{TARGET}/subsystems/{self.name}", f"{TARGET}/ports/{port}"
        guest.shell(f"""
            mkdir {self.subsystem} {self.port}
            echo 1 >{self.subsystem}/attr_allow_any_host
            printf %s '{model}' >{self.subsystem}/attr_model
            echo tcp >{self.port}/addr_trtype
            echo ipv4 >{self.port}/addr_adrfam
            echo 127.0.0.1 >{self.port}/addr_traddr
            echo {port} >{self.port}/addr_trsvcid
            ln -s {self.subsystem} {self.port}/subsystems/
            {connecting(port, self.name)}""")
        self.disk("system", 1 << 20)
        self._attach(self.guest.folder / "system", OF_THE_SYSTEM)

    def disk(self, name: str, size: int) -> Disk:
        return Disk(self.guest, name, size)

    def attach(self, disk: Disk, lun: int) -> None:
        """Back when the kernel has heard of it."""
        self._attach(disk.image, lun + FIRST_LUN)
        until(lambda: self.device(lun), "it has come")

    def _attach(self, image: Path, nsid: int) -> None:
        folder = f"{self.subsystem}/namespaces/{nsid}"
        self.guest.shell(f"mkdir {folder}; printf %s {image} >{folder}/device_path; echo 1 >{folder}/enable")

    def detach(self, lun: int) -> None:
        """Whoever has it open, or mounted. Back when the kernel has heard of it."""
        self.guest.shell(f"rmdir {self.subsystem}/namespaces/{lun + FIRST_LUN}")
        until(lambda: not self.device(lun), "it is gone")

    def remove(self) -> None:
        """With what is attached to it."""
        self.guest.shell(f"""
            for controller in /sys/class/nvme/*; do
                [ "$(cat $controller/subsysnqn)" != {self.name} ] || echo 1 >$controller/delete_controller
            done
            rm {self.port}/subsystems/{self.name}
            rmdir {self.subsystem}/namespaces/* {self.subsystem} {self.port}""")

    def luns(self) -> list[int]:
        found = map(int, self.guest.run("ls", f"{self.subsystem}/namespaces").split())
        return [nsid - FIRST_LUN for nsid in found if nsid != OF_THE_SYSTEM]

    def device(self, lun: int) -> str:
        """The path that the kernel has given to it, which says nothing of the LUN."""
        return device_of(self.guest, self.name, lun + FIRST_LUN)
