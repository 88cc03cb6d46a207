"""What breaks on purpose breaks as a real machine does, and what comes back comes back whole."""

import hashlib
import os
import time
from pathlib import Path

import pytest

from . import process
from .cluster import Cluster
from .command import run
from .objects import pod, spec, stateful_set
from .waiting import PATIENCE, until, until_it_works

OUT_OF_SERVICE = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
READY = ("--for=condition=Ready", PATIENCE)


def test_the_api_server_can_be_paused_killed_and_restarted(cluster):
    server = cluster.process("cp/kube-apiserver")

    def ask() -> str:
        return cluster.kubectl("get", "--raw", "/readyz", "--request-timeout=1s")

    server.stop()
    with pytest.raises(RuntimeError):
        ask()
    server.cont()
    until_it_works(ask, "the API server after its pause")
    server.kill()
    assert not server.alive()
    with pytest.raises(RuntimeError):
        ask()
    server.restart()
    until_it_works(ask, "the API server after its restart")


def test_the_scheduler_takes_another_configuration(cluster, tmp_path):
    configuration = tmp_path / "scheduler.yaml"
    configuration.write_text("profiles: [{schedulerName: another-scheduler}]\n")
    before = cluster.process("cp/kube-scheduler").process
    cluster.start_scheduler(configuration)
    assert not before.alive()
    cluster.apply(pod("scheduled", spec("sleep 1000", schedulerName="another-scheduler")))
    cluster.kubectl("wait", "pod/scheduled", *READY)
    cluster.kubectl("delete", "pod", "scheduled")
    cluster.control_plane.start_scheduler({})


def test_a_cut_node_is_lost_and_comes_back(cluster, measured):
    start = time.monotonic()
    cluster.cut("node-b")
    cluster.wait_lost("node-b")
    measured["cut to NotReady"] = f"{time.monotonic() - start:.1f} s"
    start = time.monotonic()
    cluster.heal("node-b")
    cluster.wait_ready("node-b")
    measured["healed to Ready"] = f"{time.monotonic() - start:.1f} s"


class Disk:
    """A file system on a loop device, as the simulated Azure attaches one."""

    def __init__(self, file: Path):
        self.file = file
        with open(file, "wb") as content:
            content.truncate(64 << 20)
        run("mkfs.ext4", "-q", file)
        self.device = run("losetup", "--find", "--show", file).strip()

    def digest(self) -> str:
        return hashlib.sha256(self.file.read_bytes()).hexdigest()

    def detach(self) -> None:
        run("losetup", "--detach", self.device)


@pytest.fixture
def disk(tmp_path):
    disk = Disk(tmp_path / "disk")
    yield disk
    disk.detach()


def test_power_cut_and_return(cluster, disk, tmp_path, measured):
    """A StatefulSet's node loses power in the middle of a write. Nothing of it is left; the pod
    goes to another node; the node comes back without it."""
    cluster.apply(stateful_set("db", spec("sleep 123456")))
    victim = until(lambda: ready_on(cluster, "db-0"), "a Ready StatefulSet pod")
    machine = cluster.nodes[victim].machine
    write(machine, disk)
    doomed = machine.processes()
    assert any("sleep 123456" in each.command() for each in doomed)
    network = machine.network.namespace(victim)
    traces = [str(machine.disk), disk.device, f"net:[{network.stat().st_ino}]"]

    start = time.monotonic()
    cluster.power_off(victim)
    measured["power cut"] = f"{time.monotonic() - start:.1f} s"
    assert not any(each.alive() for each in doomed)
    assert not network.exists()
    mounted = everything_mounted()
    assert [trace for trace in traces if trace in mounted] == []
    content = disk.digest()
    os.sync()
    assert disk.digest() == content, "something was written after the power cut"
    assert files_of(disk, tmp_path / "mnt") == {"synced": "kept\n"}

    cluster.wait_lost(victim)
    measured["power cut to NotReady"] = f"{time.monotonic() - start:.1f} s"
    start = time.monotonic()
    cluster.kubectl("taint", "node", victim, OUT_OF_SERVICE)
    until(lambda: ready_on(cluster, "db-0", but=victim), "the pod on another node")
    measured["out-of-service taint to Ready pod"] = f"{time.monotonic() - start:.1f} s"

    start = time.monotonic()
    cluster.power_on(victim)
    measured["power on to Ready"] = f"{time.monotonic() - start:.1f} s"
    cluster.kubectl("taint", "node", victim, OUT_OF_SERVICE + "-")
    cluster.apply(pod("again", spec("sleep 1000", nodeName=victim)))
    cluster.kubectl("wait", "pod/again", *READY)
    assert not any("sleep 123456" in each.command() for each in machine.processes())


def write(machine, disk: Disk) -> None:
    machine.run("mkdir", "/run/data")
    machine.run("mount", disk.device, "/run/data")
    machine.run("sh", "-ec", "cd /run/data; echo kept >synced; sync synced; echo lost >unsynced")


def ready_on(cluster: Cluster, name: str, but: str = "") -> str | None:
    """The node where the pod is Ready, if that is not `but`."""
    for item in cluster.get("pods", "--field-selector", f"metadata.name={name}")["items"]:
        conditions = {each["type"]: each["status"] for each in item["status"].get("conditions", [])}
        node = item["spec"].get("nodeName")
        if conditions.get("Ready") == "True" and node != but:
            return node
    return None


def everything_mounted() -> str:
    """The mount tables of all processes, each once."""
    return "".join({process.mount_table(pid) for pid in process.everyone()})


def files_of(disk: Disk, point: Path) -> dict[str, str]:
    """The files with content that are found after the journal was replayed."""
    point.mkdir()
    run("mount", disk.device, point)
    try:
        contents = {path.name: path.read_text() for path in point.iterdir() if path.is_file()}
    finally:
        run("umount", point)
    return {name: content for name, content in contents.items() if content}
