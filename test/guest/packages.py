"""What guests need of Debian: packages that are unpacked into a cache outside of the tree, not installed.

An installed mdadm or lvm2 brings udev rules and services that would look at the disks of the machine
itself, and so would open-iscsi. 46 MB, and 71 MB for the kernel of virtual machines.
"""

import os
import subprocess
from pathlib import Path

from cluster import debian

PACKAGES = (
    "user-mode-linux",  # the kernel, as a program, and its modules
    "kmod",  # loads them
    "mdadm", "lvm2", "dmsetup",  # what would take a disk for its own
    "checkpolicy",  # compiles a policy of SELinux
    "open-iscsi", "libopeniscsiusr", "libisns0",  # logs in to disks of another guest
    "libdevmapper1.02.1", "libdevmapper-event1.02.1", "libaio1", "libedit2", "libbsd0", "libmd0",
)  # fmt: skip
KERNEL = "linux-image-amd64"  # depends on the one that is current


def unpacked() -> Path:
    """The folder in which they are unpacked."""
    return debian.unpacked("guest", PACKAGES)


def kernel() -> tuple[Path, str]:
    """Debian's own, for a PC: the folder with boot/vmlinuz-RELEASE and lib/modules/RELEASE, and that release."""
    home = debian.unpacked("guest-kernel", (debian.depends(KERNEL),), ("./boot", "./lib/modules"))
    [modules] = (home / "lib/modules").iterdir()
    if not (modules / "modules.dep").exists():
        kmod("depmod", "-b", home, modules.name)
    return home, modules.name


def kmod(name: str, *words: str | Path) -> str:
    """What kmod prints when it is called by one of its names."""
    home = unpacked()
    libraries = f"{home}/lib/x86_64-linux-gnu:{home}/usr/lib/x86_64-linux-gnu"
    done = subprocess.run([name, *map(str, words)], executable=home / "bin/kmod", check=True, capture_output=True,
                          text=True, env=os.environ | {"LD_LIBRARY_PATH": libraries})
    return done.stdout
