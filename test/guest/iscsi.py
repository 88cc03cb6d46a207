"""Disks that several guests have, each with a kernel of its own: those of a third guest, over iSCSI. The reservations
are kept by the guest that the disks are of, as Azure keeps them."""

from .disks import TARGET, Controller
from .guest import Guest

IQN = "iqn.2026-01.test.guest"


class IscsiController(Controller):
    """Of a machine's data disks, which are another guest's. A guest is one boot of the machine."""

    def __init__(self, guest: Guest, storage: Guest, name: str):
        self.storage, self.name = storage, f"{IQN}:{name}"
        self.port = f"{TARGET}/iscsi/{self.name}/tpgt_1"
        storage.shell(f"""
            mkdir -p {self.port}
            mkdir {self.port}/np/{storage.address}:3260
            cd {self.port}/attrib
            echo 0 >authentication
            echo 1 >generate_node_acls
            echo 1 >cache_dynamic_acls
            echo 0 >demo_mode_write_protect
            echo 1 >../enable""")
        self.log_in(guest)

    def log_in(self, guest: Guest) -> None:
        """To what is attached. A session of the boot before is over with that."""
        self.guest = guest
        who, target = ("-i", f"{self.name}.guest"), ("-t", self.name, "-g", "1", "-a", self.storage.address)
        guest.run(*guest.packaged("iscsistart", *who, *target))
        [self.host] = guest.run("ls", "/sys/class/iscsi_host").split()
        self.address = f"{self.host.removeprefix('host')}:0:0"

    def attach(self, disk, lun: int) -> None:
        super().attach(disk, lun)
        self.guest.shell(f"echo 0 0 {lun} >/sys/class/scsi_host/{self.host}/scan")

    def detach(self, lun: int) -> None:
        self.guest.shell(f"echo 1 >/sys/bus/scsi/devices/{self.address}:{lun}/delete")
        super().detach(lun)

    def remove(self) -> None:
        for lun in self.luns():
            self.detach(lun)
