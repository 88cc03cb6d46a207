"""Disks that several guests have, each with a kernel of its own: those of a third guest, over iSCSI. The reservations
are kept by the guest that the disks are of, as Azure keeps them."""

from .disks import TARGET, Controller
from .guest import Guest

IQN = "iqn.2026-01.test.guest"


class IscsiController(Controller):
    """Of a guest's data disks, which are another one's. The session lasts as long as the guest."""

    def __init__(self, guest: Guest, storage: Guest, name: str):
        self.guest, self.storage = guest, storage
        self.port = f"{TARGET}/iscsi/{IQN}:{name}/tpgt_1"
        storage.shell(f"""
            mkdir -p {self.port}
            mkdir {self.port}/np/{storage.address}:3260
            cd {self.port}/attrib
            echo 0 >authentication
            echo 1 >generate_node_acls
            echo 1 >cache_dynamic_acls
            echo 0 >demo_mode_write_protect
            echo 1 >../enable""")
        guest.run(*guest.packaged("iscsistart", "-i", f"{IQN}:{name}.guest", "-t", f"{IQN}:{name}", "-g", "1", "-a", storage.address))
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
