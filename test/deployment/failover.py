"""A node loses its power and its pods go on elsewhere: when what happens, and what Azure is asked for."""

import time
from dataclasses import dataclass
from typing import Self

from cluster.waiting import until

from .driver import Driver
from .ledger import Ledger
from .timeline import Timeline, condition, kubelet_began, stage_answered

OUT_OF_SERVICE = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"


@dataclass
class Failover:
    """One pod's way from its dead node to the next; times in seconds since the power cut."""

    attach_calls: int  # to Azure, for its disk on the next node, until it was staged
    detach_calls: int  # for its disk, until the VolumeAttachment was attached; what repairs comes after that
    events: dict[str, float]  # in order, as far as they have come
    volume_attachment: float  # when the VolumeAttachment was made
    attached: float  # when it was attached, by its status
    kubelet_began: float  # when kubelet looked for the volume
    staged: float  # when NodeStageVolume was answered

    @property
    def storage_seconds(self) -> float:
        """From the VolumeAttachment's creation to NodeStageVolume's answer."""
        return self.staged - self.volume_attachment

    @property
    def driver_seconds(self) -> float:
        """The driver's part of it: without the time in which kubelet had not looked for an attached volume."""
        return self.attached - self.volume_attachment + self.staged - max(self.attached, self.kubelet_began)


class Loss:
    """A node is no place for pods any more, from the construction on. As a context it ends with it, so that a test
    that fails leaves no lost node to the next one."""

    def __init__(self, driver: Driver, node: str):
        self.driver, self.node = driver, node
        self.cluster, self.azure = driver.cluster, driver.azure
        self.requests = self.azure.last_request()
        self.at = time.time()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self.end()

    def end(self) -> None:
        """Back when the node is Ready."""
        raise NotImplementedError

    def ends_writing(self, ledger: Ledger) -> None:
        """Back when the client has had the last acknowledgement."""
        ledger.stop_writing()

    def follow(self, timeline: Timeline, ledger: Ledger, seconds: float = 300) -> Failover:
        """Until the database is ready on another node. The timeline is older than the power cut."""
        volume = ledger.volume()
        until(lambda: self.runs_elsewhere(ledger), f"{ledger.name} runs elsewhere", seconds, interval=0.2)
        node = ledger.node()
        staged = until(lambda: stage_answered(self.driver, node, volume, self.at), "the log tells of it", 30)
        deleted = timeline.first("Pod", ledger.pod, self.at, lambda c: c.type == "DELETED")

        def pod(holds) -> float | None:
            return timeline.first("Pod", ledger.pod, deleted, lambda c: c.type != "DELETED" and holds(c))

        attachment = timeline.attachment(volume, node, self.at)
        attached = attachment["attached"]
        began = kubelet_began(self.cluster, node, volume, self.at)
        moments = {
            "node is NotReady": timeline.first("Node", self.node, self.at, condition("Ready", "Unknown")),
            "pod is deleted": deleted,
            "pod has a new node": pod(lambda c: c.object["spec"].get("nodeName") == node),
            "VolumeAttachment is created": attachment["created"],
            "VolumeAttachment is attached": attached,
            "kubelet looks for the volume": began,
            "volume is staged": staged,
            "pod is ready": until(lambda: pod(condition("Ready", "True")), "the pod is ready", 30),
        }
        return Failover(
            events={event: moment - self.at for event, moment in moments.items() if moment},
            volume_attachment=attachment["created"] - self.at,
            attached=attached - self.at,
            kubelet_began=began - self.at,
            staged=staged - self.at,
            attach_calls=self.azure.attach_calls(volume, self.requests, staged, node),
            detach_calls=self.azure.detach_calls(volume, self.requests, attached),
        )

    def runs_elsewhere(self, ledger: Ledger) -> bool:
        return ledger.node() not in (None, self.node) and bool(ledger.address())


class HostLoss(Loss):
    """The node is dead, and Azure says that its VM runs, until it has found out."""

    def __init__(self, driver: Driver, node: str):
        super().__init__(driver, node)
        self.cluster.power_off(node)

    def is_found_out(self) -> None:
        self.azure.control("POST", f"vms/{self.node}/powerOff")

    def end(self) -> None:
        self.azure.control("POST", f"vms/{self.node}/start")
        self.cluster.power_on(self.node)


class PowerCut(HostLoss):
    """The node is dead, for Kubernetes (which has to find out) and Azure."""

    def __init__(self, driver: Driver, node: str):
        super().__init__(driver, node)
        self.marked = False
        self.is_found_out()

    def mark(self) -> None:
        """What an operator does who knows that the node is off."""
        self.cluster.kubectl("taint", "node", self.node, OUT_OF_SERVICE)
        self.marked = True

    def end(self) -> None:
        super().end()
        if self.marked:
            self.cluster.kubectl("taint", "node", self.node, f"{OUT_OF_SERVICE}-")


class NetworkCut(Loss):
    """The machine lives on with all its pods and disks, and nobody hears of it."""

    def __init__(self, driver: Driver, node: str):
        super().__init__(driver, node)
        self.cluster.cut(node)

    def heal(self) -> None:
        """Back when its kubelet is heard of."""
        before = self._heard()
        self.cluster.heal(self.node)
        until(lambda: self._heard() != before, f"{self.node} is heard of again", interval=0.2)

    def _heard(self) -> str:
        return self.cluster.get("lease", self.node, "-n", "kube-node-lease")["spec"]["renewTime"]

    def end(self) -> None:
        """It is started anew."""
        self.cluster.heal(self.node)
        self.cluster.power_off(self.node)
        self.cluster.power_on(self.node)


class DeletionOfTheDead(PowerCut):
    """And its Node is deleted right after that."""

    def __init__(self, driver: Driver, node: str):
        super().__init__(driver, node)
        self.cluster.kubectl("delete", "node", node)


class Deletion(Loss):
    """The Node is deleted, and the machine lives on with all its pods; its kubelet makes no other Node."""

    def __init__(self, driver: Driver, node: str):
        super().__init__(driver, node)
        self.cluster.kubectl("delete", "node", node)

    def ends_writing(self, ledger: Ledger) -> None:
        """The database there writes until it is refused."""
        ledger.write_until_refused()

    def end(self) -> None:
        self.cluster.process(f"{self.node}/kubelet").restart()
        self.cluster.wait_ready(self.node)
