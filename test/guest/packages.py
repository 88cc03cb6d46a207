"""What guests need of Debian: packages that are unpacked into a cache outside of the tree, not installed.

An installed mdadm or lvm2 brings udev rules and services that would look at the disks of the machine
itself, and so would open-iscsi. 46 MB.
"""

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


def unpacked() -> Path:
    """The folder in which they are unpacked."""
    return debian.unpacked("guest", PACKAGES)
