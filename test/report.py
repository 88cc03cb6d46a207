"""A file of build/reports that several suites write to, each its own members, perhaps at the same time."""

import fcntl
import json
from pathlib import Path


def merge(path: Path, members: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        found = json.loads(file.read() or "{}") | members
        file.truncate(0)
        file.write(json.dumps(found, indent=2) + "\n")
