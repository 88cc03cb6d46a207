"""What a power cut does to file systems: nothing that is not on the disk yet gets there.

The mounts of a dead machine would otherwise be unmounted in good order by the kernel when its last
process goes, and write back all that the machine had cached.
"""

import errno
import fcntl
import os
import struct
from collections.abc import Iterable, Iterator

from . import process
from .process import Process
from .waiting import until

GOINGDOWN = 0x8004587D  # XFS_IOC_GOINGDOWN; ext4 and others know the same number
NOLOGFLUSH = struct.pack("I", 2)


def _mounts(pid: int) -> Iterator[tuple[str, str]]:
    """(device as major:minor, mount point) of everything mounted in the process's namespace."""
    for line in process.mount_table(pid).splitlines():
        fields = line.split()
        if os.path.exists(f"/sys/dev/block/{fields[2]}"):
            yield fields[2], fields[4].encode().decode("unicode_escape")


def _one_of_each_mount_namespace(pids: Iterable[int]) -> list[int]:
    return list({process.namespace(pid, "mnt"): pid for pid in pids}.values())


def shut_file_systems(doomed: Iterable[Process]) -> set[str]:
    """Every file system on a block device that only the doomed have mounted; these devices."""
    pids = {each.pid for each in doomed}
    kept = _devices(pid for pid in process.everyone() if pid not in pids)
    found, shut = set(), set()
    for pid in _one_of_each_mount_namespace(pids):
        for device, point in _mounts(pid):
            if device in kept:
                continue
            found.add(device)
            if device not in shut and _shut(device, f"/proc/{pid}/root{point}"):
                shut.add(device)
    if found - shut:
        raise RuntimeError(f"cannot shut down the file systems of {sorted(found - shut)}")
    return found


def _shut(device: str, path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        number = os.fstat(descriptor).st_dev
        if f"{os.major(number)}:{os.minor(number)}" != device:
            return False  # hidden below another mount; the device is mounted elsewhere too
        fcntl.ioctl(descriptor, GOINGDOWN, NOLOGFLUSH)
        return True
    except OSError as error:
        return error.errno == errno.EIO  # down already
    finally:
        os.close(descriptor)


def wait_for_release(devices: set[str]) -> None:
    """The kernel drops the mounts of dead processes in its own time; wait until it has."""
    until(lambda: not devices & _devices(process.everyone()), f"unmounting of {sorted(devices)}")
    for device in devices:
        until(lambda: _free(device), f"release of {device}")


def _devices(pids: Iterable[int]) -> set[str]:
    return {device for pid in _one_of_each_mount_namespace(pids) for device, _ in _mounts(pid)}


def _free(device: str) -> bool:
    """A mounted file system holds its device exclusively until its last write-back is done."""
    try:
        node = "/dev/" + os.path.basename(os.readlink(f"/sys/dev/block/{device}"))
        os.close(os.open(node, os.O_RDONLY | os.O_EXCL))
    except FileNotFoundError:
        return True
    except OSError as error:
        return error.errno != errno.EBUSY
    return True
