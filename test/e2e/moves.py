"""Pods that lose their node, and whether they came to where their disks were."""

from dataclasses import dataclass

from cluster.waiting import until

from .fleet import LIMIT_SECONDS, PRIMARY, REPLICA, Fleet


@dataclass(frozen=True)
class Move:
    pod: str
    origin: str
    target: str
    held: frozenset[str]  # the nodes that had its disk when it began
    attach_calls: int  # to Azure, for the disk on the target, until the pod was ready there

    def moved(self) -> bool:
        return self.target != self.origin

    def prepared(self) -> bool:
        """The disk was there before the pod."""
        return self.target in self.held and self.attach_calls == 0


class Departure:
    """What is known of a fleet before some of its pods go. Each has been given a record to keep."""

    def __init__(self, fleet: Fleet):
        fleet.write()
        self.fleet = fleet
        self.members = fleet.wait_ready()
        self.roles = fleet.roles()
        self.request = fleet.azure.last_request()

    def on(self, node: str) -> list[str]:
        return [pod for pod, member in self.members.items() if member.node == node]

    def arrival(self, *pods: str) -> list[Move]:
        """When all of these pods are others than before, and ready."""
        def others() -> dict | None:
            found = self.fleet.ready()
            return found if found and all(found[pod].uid != self.members[pod].uid for pod in pods) else None

        found = until(others, f"{', '.join(pods)} are ready again", LIMIT_SECONDS, interval=0.3)
        calls = self.fleet.azure.journal(self.request)
        return [self._move(pod, found[pod].node, calls) for pod in pods]

    def _move(self, pod: str, target: str, calls: list[dict]) -> Move:
        volume = self.fleet.volume(pod)
        held = frozenset(node for node, role in self.roles[pod].items() if role in (PRIMARY, REPLICA))
        asked = [c for c in calls if c.get("vm") == target and volume in c.get("attached", [])]
        return Move(pod, self.members[pod].node, target, held, len(asked))
