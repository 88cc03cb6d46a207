"""What a cluster remembers of itself: one JSON file, replaced as a whole at each change.

The cluster's id is written before anything is made, and everything that is made carries it (names
of namespaces and control groups, the folder of mounts and images); so what a creator that was
killed left behind is found by the id alone. The tables serve those who come later, in the same
process or another: which processes run, and how to start them again.
"""

import fcntl
import json
import os
import secrets
from pathlib import Path

FILE = "cluster.json"
TABLES = ("machines", "programs", "images", "imported")


class State:
    def __init__(self, directory: Path):
        self.directory = directory
        content = self._read()
        self.id: str = content["id"]
        self.nodes: list[str] = content["nodes"]
        self.zones: dict[str, str] = content["zones"]  # of nodes
        self.stock_times: bool = content["stockTimes"]

    @staticmethod
    def create(directory: Path | None, zones: dict[str, str], stock_times: bool = False) -> "State":
        cluster_id = secrets.token_hex(3)
        directory = directory or parent() / f"azdisk-cluster-{cluster_id}"
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise RuntimeError(f"{directory} is not empty")
        content = {"id": cluster_id, "nodes": list(zones), "zones": zones, "stockTimes": stock_times}
        content |= {table: {} for table in TABLES}
        _write(directory / FILE, content)
        return State(directory.resolve())

    @staticmethod
    def open(directory: Path) -> "State":
        if not (directory / FILE).exists():
            raise RuntimeError(f"{directory} holds no cluster ({FILE} is missing)")
        return State(directory.resolve())

    def table(self, name: str) -> dict:
        return self._read()[name]

    def put(self, table: str, key: str, value) -> None:
        with open(self.directory / (FILE + ".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            content = self._read()
            content[table][key] = value
            _write(self.directory / FILE, content)

    def _read(self) -> dict:
        return json.loads((self.directory / FILE).read_text())


def _write(path: Path, content: dict) -> None:
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(content, indent=1))
    fresh.rename(path)


def parent() -> Path:
    """Where folders of clusters are made when nobody says where."""
    return Path(os.environ.get("TMPDIR") or "/var/tmp")


def find() -> list[Path]:
    return sorted(path.parent for path in parent().glob(f"azdisk-cluster-*/{FILE}"))
