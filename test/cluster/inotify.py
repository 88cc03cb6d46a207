"""Instances of inotify, of which a user may have only so many on a machine: a kubelet that gets none
does not start, and says so in its own log only. So a cluster takes care of it before it begins.
"""

import os
from pathlib import Path

from . import process

LIMIT = Path("/proc/sys/fs/inotify/max_user_instances")
OF_A_NODE = 10  # kubelet, containerd, what watches a container's memory, and some for pods
OF_THE_CLUSTER = 8  # its control plane, and whoever else begins at the same time
WISHED = 1024  # for some clusters at once; as many kernels allow from the start


def provide(nodes: int) -> None:
    """Makes sure that there are enough for so many nodes, by a higher limit if it may."""
    taken, limit = _taken(), int(LIMIT.read_text())
    needed = OF_THE_CLUSTER + OF_A_NODE * nodes
    if limit >= max(WISHED, taken + needed):
        return
    try:
        LIMIT.write_text(str(max(WISHED, taken + needed)))
    except OSError as failure:
        if limit < taken + needed:
            raise RuntimeError(
                f"a cluster of {nodes} nodes needs {needed} inotify instances; this user has taken "
                f"{taken} of {limit}, and the limit cannot be raised here ({failure.strerror}): "
                f"set fs.inotify.max_user_instances to {WISHED} by sysctl, or take another cluster down"
            ) from failure


def _taken() -> int:
    return sum(map(_of_process, process.everyone()))


def _of_process(pid: int) -> int:
    folder = f"/proc/{pid}/fd"
    try:
        if os.stat(folder).st_uid != os.geteuid():
            return 0
        return sum(_target(f"{folder}/{name}") == "anon_inode:inotify" for name in os.listdir(folder))
    except OSError:  # it has ended
        return 0


def _target(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""
