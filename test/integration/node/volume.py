"""A volume of the tests: a disk at a LUN, published to the node, and kubelet's calls for it."""

import grpc
import pytest
from cluster.waiting import until

from ..placement import disk_id
from .cloud_side import CloudSide
from .machine import Disk
from .plugin import NodePlugin

Code = grpc.StatusCode


def refused(call, *arguments, **kwargs) -> grpc.RpcError:
    with pytest.raises(grpc.RpcError) as failure:
        call(*arguments, **kwargs)
    return failure.value


def refused_in_time(call, code: Code, message: str) -> None:
    """By the plug-in, before the caller's time is over; on a busy machine perhaps not at once."""
    until(lambda: _told(refused(call), code, message), f"{code.name}: {message}")


def _told(failure: grpc.RpcError, code: Code, message: str) -> bool:
    return failure.code() == code and message in failure.details()


def wish(fs_type: str = "", flags=(), mode: str = "SINGLE_NODE_WRITER") -> dict:
    """A capability of a file system, with all that it can say."""
    return {"mount": {"fs_type": fs_type, "mount_flags": flags}, "access_mode": {"mode": mode}}


class Volume:
    """A disk at a LUN, published to the node, and the paths at which kubelet wants it."""

    def __init__(self, plugin: NodePlugin, cloud: CloudSide, name: str, disk: Disk, lun: int = 0):
        self.plugin, self.cloud, self.name, self.disk, self.lun = plugin, cloud, name, disk, lun
        self.id = disk_id(name)
        folder = plugin.folder / name
        folder.mkdir()
        self.staging, self.target = folder / "staging", folder / "target"
        self.staging.mkdir()

    def attach(self, **status) -> "Volume":
        self.plugin.machine.attach(self.disk, self.lun)
        self.cloud.publish(self.name, **{"lun": self.lun, "size": self.disk.size, **status})
        return self

    def stage(self, capability=None, **kwargs):
        """When what was said before is on record."""
        self.cloud.take_over(self.name)
        return self.plugin.stage(self.id, self.staging, capability, **kwargs)

    def publish(self, capability=None, target=None, readonly=False, **context: str):
        return self.plugin.publish(self.id, self.staging, target or self.target, capability, readonly, **context)

    def unpublish(self, target=None):
        return self.plugin.unpublish(self.id, target or self.target)

    def unstage(self):
        return self.plugin.unstage(self.id, self.staging)

    def seen(self, name: str):
        """A file in the published volume."""
        return self.plugin.machine.path(self.target / name)
