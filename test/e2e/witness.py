"""What must never be, looked for in all that the API server and the simulated Azure have seen."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from deployment.azure import Azure
from deployment.timeline import Timeline

HOLDING = ("Attaching", "Attached", "Detaching")


class Witness:
    def __init__(self, timeline: Timeline, azure: Azure):
        self.timeline, self.azure = timeline, azure
        self.since = azure.last_request()

    def faults(self, max_shares: int) -> list[str]:
        blind = [] if self.timeline.watches() else ["a watch has ended: nobody saw what came after"]
        return [*blind, *self._of_attachments(max_shares), *self._of_calls(max_shares)]

    def _of_attachments(self, max_shares: int) -> Iterator[str]:
        """Of all states in which a watch saw a volume's attachments."""
        attachments: dict[str, dict] = {}
        for change in list(self.timeline.changes):
            if change.kind != "AzVolumeAttachment":
                continue
            name = change.object["metadata"]["name"]
            if change.type == "DELETED":
                attachments.pop(name, None)
            else:
                attachments[name] = change.object
            volume = change.object["spec"]["volumeName"]
            of_volume = [each for each in attachments.values() if each["spec"]["volumeName"] == volume]
            status = [each.get("status", {}) for each in of_volume]
            if sum(s.get("detail", {}).get("role") == "Primary" for s in status) > 1:
                yield f"{volume} had two primaries"
            if sum(s.get("state") in HOLDING for s in status) > max_shares:
                yield f"{volume} held more than {max_shares} attachments"

    def _of_calls(self, max_shares: int) -> Iterator[str]:
        """Of what Azure was asked for, and did."""
        entries = [entry for entry in self.azure.journal(self.since) if entry["status"] < 300]
        for kind in ("disks.createOrUpdate", "disks.delete"):
            count = Counter(entry["resource"] for entry in entries if entry.get("kind") == kind)
            yield from (f"{kind} of {disk}: {times} times" for disk, times in count.items() if times > 1)
        holders = defaultdict(set)
        for entry in entries:
            for disk in entry.get("detached", []):
                holders[disk].discard(entry["vm"])
            for disk in entry.get("attached", []):
                if entry["vm"] in holders[disk]:
                    yield f"{disk} was attached to {entry['vm']} twice"
                holders[disk].add(entry["vm"])
                if len(holders[disk]) > max_shares:
                    yield f"{disk} was attached to {sorted(holders[disk])}"
