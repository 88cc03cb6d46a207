"""What happened when: changes of objects as a watch saw them, and what the node plug-in answered.

Times are those of this machine's clock, on which the whole cluster runs.
"""

import calendar
import re
import threading
import time
from dataclasses import dataclass

from cluster.cluster import Cluster
from kubernetes import client, config, watch

from .driver import OBJECTS, Driver

KINDS = ("Node", "Pod", "VolumeAttachment", "AzVolumeAttachment")


@dataclass(frozen=True)
class Change:
    time: float
    kind: str  # one of KINDS
    type: str  # "ADDED", "MODIFIED", "DELETED"
    object: dict


class Timeline:
    """Watches from its construction to close()."""

    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        self.changes: list[Change] = []
        self._watches = []
        self._closing = False
        self._threads = [threading.Thread(target=self._follow, args=(kind,), daemon=True) for kind in KINDS]
        for thread in self._threads:
            thread.start()

    def _follow(self, kind: str) -> None:
        with self.cluster.inside("cp"):
            api = config.new_client_from_config(str(self.cluster.authority.path("admin.conf")))
            lists = {
                "Node": (client.CoreV1Api(api).list_node,),
                "Pod": (client.CoreV1Api(api).list_pod_for_all_namespaces,),
                "VolumeAttachment": (client.StorageV1Api(api).list_volume_attachment,),
                "AzVolumeAttachment": (client.CustomObjectsApi(api).list_namespaced_custom_object,
                                       "disk.csi.azure.com", "v1beta2", OBJECTS, "azvolumeattachments"),
            }
            stream = watch.Watch()
            self._watches.append(stream)
            try:
                for event in stream.stream(*lists[kind]):
                    self.changes.append(Change(time.time(), kind, event["type"], event["raw_object"]))
            except Exception:
                if not self._closing:
                    raise

    def watches(self) -> bool:
        """Whether all of them still do."""
        return all(thread.is_alive() for thread in self._threads)

    def close(self) -> None:
        self._closing = True
        for stream in self._watches:
            stream.stop()

    def first(self, kind: str, name: str, after: float, condition) -> float | None:
        """When an object of this name first was so, after a time; `condition(change)`."""
        for change in list(self.changes):
            same = change.kind == kind and change.object["metadata"]["name"] == name
            if change.time >= after and same and condition(change):
                return change.time
        return None

    def attachment(self, volume: str, node: str, after: float) -> dict | None:
        """The VolumeAttachment of a volume to a node that was made after a time: its name and times."""
        for change in list(self.changes):
            if change.kind != "VolumeAttachment" or change.type != "ADDED" or change.time < after:
                continue
            spec = change.object["spec"]
            if spec["nodeName"] == node and spec["source"].get("persistentVolumeName") == volume:
                name = change.object["metadata"]["name"]
                attached = self.first(
                    "VolumeAttachment", name, change.time,
                    lambda c: c.object.get("status", {}).get("attached"))
                return {"name": name, "created": change.time, "attached": attached}
        return None


def condition(name: str, status: str):
    """An object has a condition of this name and status."""

    def holds(change: Change) -> bool:
        found = change.object.get("status", {}).get("conditions") or []
        return any(c["type"] == name and c["status"] == status for c in found)

    return holds


def stage_answered(driver: Driver, node: str, volume: str, after: float) -> float | None:
    """When the node plug-in answered the first NodeStageVolume of a volume after a time."""
    return _logged(driver.log("node", node), "is staged at", volume, after)


def kubelet_began(cluster: Cluster, node: str, volume: str, after: float) -> float | None:
    """When kubelet first looked for a volume after a time. It may look late: until the API server's authorizer
    has heard which node the pod has, kubelet is refused its claim, and it asks again only after many seconds."""
    log = cluster.nodes[node].machine.log("kubelet").read_text()
    return _logged(log, "VerifyControllerAttachedVolume started", volume, after)


def _logged(log: str, words: str, volume: str, after: float) -> float | None:
    """When a log, of klog's format, first has such a line about a volume after a time."""
    for line in log.splitlines():
        stamp = re.match(r"[IWE](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d+)", line)
        if stamp and words in line and volume in line.lower():
            month, day, *clock, fraction = (int(n) for n in stamp.groups())
            year = time.gmtime().tm_year
            moment = calendar.timegm((year, month, day, *clock)) + fraction / 10 ** len(stamp[6])
            if moment >= after:
                return moment
    return None
