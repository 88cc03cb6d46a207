"""A guest that is a PC, by QEMU, with Debian's own kernel: its disks are NVMe namespaces (namespaces.py), which User Mode
Linux does not have.

Its processor is emulated, so it takes 8 s to boot and all is several times slower: there are machines whose /dev/kvm is there
and does not work.
"""

import shlex
import subprocess
from pathlib import Path

from . import packages
from .guest import INIT, Guest

MEMORY_MIB = 512
TO_REACH_THE_ROOT = ("virtio_pci", "9p", "9pnet_virtio")
FOR_DISKS = ("virtio_net", "nvmet-tcp", "nvme-tcp", "ext4", "xfs")
BUSYBOX = "/bin/busybox"
FIRST = """#!/bin/busybox sh
for module in {modules}; do
    /bin/busybox insmod /$module
done
/bin/busybox mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=512000 root /root
/bin/busybox mount -t devtmpfs devices /root/dev
exec /bin/busybox switch_root /root {init}
"""


class VirtualMachine(Guest):
    share, wire_inside, modules, slowness = "9p", "eth0", FOR_DISKS, 4

    def _machine(self) -> list[str | Path]:
        home, release = packages.kernel()
        number = int(self.address.rpartition(".")[2])
        return [
            "qemu-system-x86_64", "-machine", "pc,accel=tcg", "-m", MEMORY_MIB,
            "-nodefaults", "-no-user-config", "-no-reboot", "-nographic", "-monitor", "none", "-serial", "stdio",
            "-kernel", home / "boot" / f"vmlinuz-{release}", "-initrd", self._initramfs(home, release),
            "-append", " ".join(["console=ttyS0", "quiet", "panic=-1", *self.parameters]),
            *shared("root", Path("/"), "readonly=on"), *shared("folder", self.folder),
            "-netdev", f"tap,id=wire,ifname={self.wire},script=no,downscript=no",
            "-device", f"virtio-net-pci,netdev=wire,romfile=,mac=52:54:00:00:00:{number:02x}",
        ]  # fmt: skip

    def _initramfs(self, home: Path, release: str) -> Path:
        """Has what it takes to get at the machine's files."""
        tree = self.folder / "initramfs"
        found = [packages.kmod("modprobe", "-d", home, "-S", release, "--show-depends", name) for name in TO_REACH_THE_ROOT]
        modules = list(dict.fromkeys(Path(line.split()[1]) for lines in found for line in lines.splitlines()))
        for folder in ("bin", "root"):
            (tree / folder).mkdir(parents=True)
        for file in (Path(BUSYBOX), *modules):
            place = tree / ("bin" if file.name == "busybox" else ".") / file.name
            place.write_bytes(file.read_bytes())
        init = shlex.join(map(str, (INIT, *self._init(home / "lib/modules"))))
        (tree / "init").write_text(FIRST.format(modules=" ".join(module.name for module in modules), init=init))
        for program in ("init", "bin/busybox"):
            (tree / program).chmod(0o755)
        subprocess.run("find . | busybox cpio -o -H newc >../initramfs.cpio", shell=True, check=True, cwd=tree,
                       stderr=subprocess.DEVNULL)
        return self.folder / "initramfs.cpio"


def shared(name: str, folder: Path, *options: str) -> list[str]:
    """A folder of the machine's that it can mount by that name."""
    backend = ",".join([f"local,id={name},path={folder},security_model=passthrough,multidevs=remap", *options])
    return ["-fsdev", backend, "-device", f"virtio-9p-pci,fsdev={name},mount_tag={name}"]
