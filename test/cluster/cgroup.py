"""Control groups of a cluster: /azd-ID, and below it one group for the pods of each node.

Works on the unified hierarchy (v2) and on v1, also where both are mounted; what is there is read
from the mount table. kubelet makes the groups of pods below its node's (driver `cgroupfs`).
"""

import os
from pathlib import Path

from .waiting import until


def hierarchies() -> list[Path]:
    lines = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    return [Path(fields[1]) for fields in lines if fields[2] in ("cgroup", "cgroup2")]


def name(cluster_id: str, node: str = "") -> str:
    return f"/azd-{cluster_id}/{node}".rstrip("/")


def create(group: str) -> None:
    """kubelet wants its root group to be there, in every hierarchy."""
    for hierarchy in hierarchies():
        path = hierarchy
        for part in group.strip("/").split("/"):
            _delegate(path)
            path = path / part
            path.mkdir(exist_ok=True)
            _inherit_cpuset(path)
        _delegate(path)


def _delegate(path: Path) -> None:
    """v2: a group hands down each controller that it has, if the kernel lets it."""
    control = path / "cgroup.subtree_control"
    if not control.exists():
        return
    for controller in (path / "cgroup.controllers").read_text().split():
        try:
            control.write_text(f"+{controller}")
        except OSError:
            pass  # some cannot be handed down, such as cpu while real-time tasks are in the root


def _inherit_cpuset(path: Path) -> None:
    """v1: a new cpuset group is empty and takes no task until it is filled."""
    for file in ("cpuset.cpus", "cpuset.mems"):
        if (path / "cgroup.clone_children").exists() and (path / file).exists():
            (path / file).write_text((path.parent / file).read_text())


def remove(group: str) -> None:
    """The group and all below it; its tasks are dead, but the kernel may still be at it."""
    for hierarchy in hierarchies():
        top = hierarchy / group.strip("/")
        until(lambda: _removed(top), f"removal of control group {top}")


def _removed(top: Path) -> bool:
    for folder, _, _ in os.walk(top, topdown=False):
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            pass
        except OSError:
            return False
    return True
