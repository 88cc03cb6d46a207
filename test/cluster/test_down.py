"""A creator that is killed at any moment leaves what `down` removes to the last piece."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from . import cgroup, network, process, state
from .command import run
from .waiting import until

TREE = Path(__file__).parents[1]

# The creator is killed as soon as its state file knows of this.
MOMENTS = [
    ("machines", "cp"),
    ("programs", "cp/kube-apiserver"),
    ("machines", "node-a"),
    ("programs", "node-a/kubelet"),
]


def start_up(directory: Path, table: str, key: str) -> tuple[subprocess.Popen, str]:
    """A creator whose state file has just come to know of `key`, and the cluster's id."""
    creator = subprocess.Popen(command(directory, "up", "--nodes", "node-a"), env=environment())
    file = directory / state.FILE

    def known() -> bool:
        return file.exists() and key in json.loads(file.read_text())[table]

    try:
        until(known, f"{table} {key}", interval=0.002)
    except BaseException:
        creator.terminate()  # it clears up itself
        creator.wait()
        raise
    return creator, json.loads(file.read_text())["id"]


def command(directory: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "cluster", "--dir", str(directory), *words]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(TREE)}


def remains(directory: Path, cluster_id: str) -> list[str]:
    """Everything on this machine that bears the cluster's name."""
    found = [directory] if directory.exists() else []
    found += network.NAMESPACES.glob(f"azd-{cluster_id}-*")
    for hierarchy in cgroup.hierarchies():
        found += hierarchy.glob(f"azd-{cluster_id}*")
    for backing_file in Path("/sys/block").glob("loop*/loop/backing_file"):
        if mentions(backing_file, str(directory)):
            found.append(backing_file)
    for pid in process.everyone():
        tables = [Path(f"/proc/{pid}/{name}") for name in ("cmdline", "mountinfo")]
        found += [table for table in tables if mentions(table, str(directory), f"azd-{cluster_id}")]
    return [str(path) for path in found]


def mentions(path: Path, *words: str) -> bool:
    try:
        content = path.read_text()
    except OSError:
        return False
    return any(word in content for word in words)


@pytest.mark.parametrize("moment", MOMENTS, ids="-".join)
def test_down_after_the_creator_was_killed(tmp_path, moment):
    directory = tmp_path / "cluster"
    creator, cluster_id = start_up(directory, *moment)
    creator.kill()
    creator.wait()
    (directory / "disk").write_bytes(bytes(1 << 20))
    device = run("losetup", "--find", "--show", directory / "disk").strip()
    run("losetup", "--find", device)  # as kubelet does for a block volume
    assert len(remains(directory, cluster_id)) > 3

    run(*command(directory, "down"), env=environment())
    assert remains(directory, cluster_id) == []


def test_an_ended_creator_clears_up_itself(tmp_path):
    directory = tmp_path / "cluster"
    creator, cluster_id = start_up(directory, "programs", "cp/kube-apiserver")
    creator.terminate()
    assert creator.wait() != 0
    assert remains(directory, cluster_id) == []
