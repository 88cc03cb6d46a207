"""The changes of VMs that Azure has accepted, with what each took: azsim's journal says which disks,
and when the driver looked how they stood; its state folder (state.jsonl), how long they took.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

KIND, LOOK = "virtualMachines.attachDetachDataDisks", "operations.get"
CHANGE, CREATION = "vmAttachDetach", "diskCreate"  # kinds of operations


@dataclass(frozen=True)
class Change:
    vm: str
    attached: frozenset[str]
    detached: frozenset[str]
    start: float  # as time.time()
    end: float
    seen: float  # when the driver learned of the end
    took_last_token: bool  # one of the buckets was empty then

    @property
    def disks(self) -> frozenset[str]:
        return self.attached | self.detached


def accepted(journal: Iterable[dict]) -> list[dict]:
    return [entry for entry in journal if entry.get("kind") == KIND and entry["status"] < 300]


def read(state: Path, journal: list[dict]) -> list[Change]:
    """Those of a journal that begins when nothing is under way: a VM's n-th one is its n-th operation."""
    entries = accepted(journal)
    began = min((_seconds(entry) for entry in entries), default=0)
    operations = defaultdict(list)
    for operation in sorted(_operations(state, CHANGE), key=lambda found: found["start"]):
        if operation["start"] / 1e6 >= began:
            operations[operation["target"].rpartition("/")[2]].append(operation)
    looks = _looks(journal)
    found = []
    for entry in entries:
        operation = operations[entry["vm"].lower()].pop(0)
        end = operation["end"] / 1e6
        found.append(Change(
            entry["vm"], frozenset(entry["attached"]), frozenset(entry["detached"]), operation["start"] / 1e6, end,
            seen=min((look for look in looks[operation["id"]] if look >= end), default=end),
            took_last_token=0 in entry.get("charged", {}).values()))
    return found


def longest_creation(state: Path) -> float:
    """Of all disks, in seconds."""
    return max((operation["end"] - operation["start"]) / 1e6 for operation in _operations(state, CREATION))


def _looks(journal: list[dict]) -> dict[str, list[float]]:
    """The times at which an operation was asked about, by its id."""
    looks = defaultdict(list)
    for entry in journal:
        if entry.get("kind") == LOOK:
            looks[entry["path"].rpartition("/")[2]].append(_seconds(entry))
    return looks


def _seconds(entry: dict) -> float:
    return datetime.fromisoformat(entry["time"]).timestamp()


def _operations(state: Path, kind: str) -> Iterable[dict]:
    """As they stand on record last, each with its id."""
    found = {}
    with (state / "state.jsonl").open() as file:
        for line in file:
            if kind in line:
                found.update(json.loads(line).get("operations") or {})
    return (operation | {"id": name} for name, operation in found.items() if operation and operation["kind"] == kind)
