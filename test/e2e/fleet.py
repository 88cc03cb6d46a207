"""Databases of one StatefulSet on some of the nodes: where their pods are, where their disks, and what they hold."""

from collections.abc import Iterable
from dataclasses import dataclass

from cluster.waiting import Timeout, until
from deployment.driver import Driver
from deployment.ledger import Client, manifests

LIMIT_SECONDS = 420  # Azure takes 12 changes of a VM at once, and 4 in each minute from then on
PRIMARY, REPLICA = "Primary Attached", "Replica Attached"


@dataclass(frozen=True)
class Member:
    """A pod, as long as it lives."""

    uid: str
    node: str | None
    address: str | None  # while it is ready


class Fleet:
    """`size` databases, each of which wants its disk on `max_shares` of the nodes."""

    def __init__(self, driver: Driver, name: str, nodes: Iterable[str], max_shares: int):
        self.driver, self.cluster, self.azure = driver, driver.cluster, driver.azure
        self.name, self.nodes, self.max_shares = name, list(nodes), max_shares
        self.size = 0
        self.records: dict[str, int] = {}  # that were acknowledged, by pod
        self._client = Client(self.cluster)
        self._volumes: dict[str, str] = {}

    # ---- its life ----

    def apply(self, pods: int) -> None:
        self.size = pods
        self.cluster.apply(*manifests(self.name, self.max_shares, pods, self.nodes))

    def scale(self, pods: int) -> None:
        self.size = pods
        self.cluster.kubectl("scale", f"statefulset/{self.name}", f"--replicas={pods}")

    def delete(self) -> None:
        """Back when nothing of it is left, in Azure neither."""
        claims = [f"pvc/{item['metadata']['name']}" for item in self._list("pvc")]
        for what in (f"statefulset/{self.name}", *claims, f"storageclass/{self.name}"):
            self.cluster.kubectl("delete", what, "--wait=false", "--ignore-not-found")
        until(self.azure.nothing_left, "nothing is left in Azure", LIMIT_SECONDS, interval=0.5)

    # ---- its pods ----

    def _list(self, kind: str) -> list[dict]:
        return self.cluster.get(kind, "-l", f"app={self.name}")["items"]

    def members(self) -> dict[str, Member]:
        return {pod["metadata"]["name"]: _member(pod) for pod in self._list("pods")}

    def ready(self) -> dict[str, Member] | None:
        """Its pods, if they are as many as are wanted, and all ready."""
        found = self.members()
        complete = len(found) == self.size and all(member.address for member in found.values())
        return found if complete else None

    def wait_ready(self) -> dict[str, Member]:
        return until(self.ready, f"{self.size} pods of {self.name} are ready", LIMIT_SECONDS, interval=0.3)

    # ---- its disks ----

    def volume(self, pod: str) -> str:
        if pod not in self._volumes:
            for claim in self._list("pvc"):
                self._volumes[claim["metadata"]["name"].removeprefix("data-")] = claim["spec"]["volumeName"]
        return self._volumes[pod]

    def roles(self) -> dict[str, dict[str, str]]:
        """By pod, then by node: "Role State" of its volume's attachment."""
        found = self.driver.all_roles()
        return {pod: found.get(self.volume(pod), {}) for pod in self.members()}

    def count(self, role: str) -> int:
        return sum(list(roles.values()).count(role) for roles in self.roles().values())

    def complete(self, nodes: Iterable[str]) -> bool:
        """Every pod is ready where its primary is, all its replicas are attached, on these nodes, and nothing else."""
        members = self.ready()
        if not members:
            return False
        for pod, roles in self.roles().items():
            primary = roles.pop(members[pod].node, None)
            if primary != PRIMARY or list(roles.values()) != [REPLICA] * (self.max_shares - 1):
                return False
            if not set(roles) <= set(nodes):
                return False
        return True

    def wait_complete(self, nodes: Iterable[str]) -> None:
        what = f"all replicas of {self.name} are on {nodes}"
        try:
            until(lambda: self.complete(nodes), what, LIMIT_SECONDS, interval=0.3)
        except Timeout as timeout:
            raise Timeout(f"{timeout}; the disks are {self.roles()}; the driver said {self.warnings()}") from None

    def warnings(self) -> list[str]:
        """Of its volumes, those of the driver's events that say why something is not as it should be."""
        volumes = {self.volume(pod) for pod in self.members()}
        return [f"{event['involvedObject']['name']}: {event['reason']}: {event['message']}"
                for event in self.cluster.get("events", "-A")["items"]
                if event["type"] == "Warning" and event["involvedObject"].get("name") in volumes]

    # ---- what it holds ----

    def write(self) -> None:
        """One more record to each."""
        for pod, member in self.wait_ready().items():
            number = self.records.get(pod, 0) + 1
            assert self._client.ask(member.address, f"put {number} of {pod}") == f"ok {number}"
            self.records[pod] = number

    def lost(self) -> dict[str, str]:
        """What the databases say of their records, by pod, where it is not what they acknowledged."""
        said = {pod: self._client.ask(member.address, "count") for pod, member in self.wait_ready().items()}
        return {pod: answer for pod, answer in said.items() if answer != f"{self.records[pod]} {self.records[pod]}"}


def _member(pod: dict) -> Member:
    status = pod["status"]
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions", []))
    return Member(pod["metadata"]["uid"], pod["spec"].get("nodeName"), status.get("podIP") if ready else None)
