"""The changes of VMs that Azure has accepted, with what each took: azsim's journal says which disks,
its state folder (state.jsonl) how long.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

KIND, OPERATION = "virtualMachines.attachDetachDataDisks", "vmAttachDetach"


@dataclass(frozen=True)
class Change:
    vm: str
    disks: frozenset[str]
    start: float  # as time.time()
    end: float


def accepted(journal: Iterable[dict]) -> list[dict]:
    return [entry for entry in journal if entry.get("kind") == KIND and entry["status"] < 300]


def read(state: Path, journal: list[dict]) -> list[Change]:
    """Those of a journal that begins when nothing is under way: a VM's n-th one is its n-th operation."""
    entries = accepted(journal)
    began = min((_seconds(entry) for entry in entries), default=0)
    operations = defaultdict(list)
    for operation in sorted(_operations(state), key=lambda found: found["start"]):
        if operation["start"] / 1e6 >= began:
            operations[operation["target"].rpartition("/")[2]].append(operation)
    found = []
    for entry in entries:
        operation = operations[entry["vm"].lower()].pop(0)
        disks = frozenset(entry["attached"] + entry["detached"])
        found.append(Change(entry["vm"], disks, operation["start"] / 1e6, operation["end"] / 1e6))
    return found


def _seconds(entry: dict) -> float:
    return datetime.fromisoformat(entry["time"]).timestamp()


def _operations(state: Path) -> Iterable[dict]:
    """As they stand on record last."""
    found = {}
    with (state / "state.jsonl").open() as file:
        for line in file:
            if OPERATION in line:
                found.update(json.loads(line).get("operations") or {})
    return (operation for operation in found.values() if operation and operation["kind"] == OPERATION)
