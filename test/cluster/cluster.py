"""A Kubernetes cluster on one machine, whose nodes can be cut off and powered off.

For a person by `python3 -m cluster`, for tests by the class. One process or several may hold the
same cluster: all that they know of it is in its state file.
"""

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

from . import cgroup, images, inotify, machine, network, tools
from .authority import Authority
from .command import run
from .control_plane import ControlPlane
from .images import Image
from .machine import Machine, Program
from .node import ZONE, Node
from .state import State
from .waiting import PATIENCE, PATIENCE_S

NODES = ("node-a", "node-b", "node-c")
# Names that folders and namespaces of the cluster itself have.
RESERVED = {"lan", "cp", "azure", "log", "pki", "images", "home", "pause"}


class Cluster:
    def __init__(self, state: State):
        self.state = state
        self.directory = state.directory
        self.tools = tools.folder()
        self.network = network.Network(state.id, state.nodes)
        authority = Authority(self.directory / "pki", f"https://{self.network.address('cp')}:6443")
        self.authority = authority
        self.control_plane = ControlPlane(self._machine("cp"), authority, self.tools)
        self.nodes = {
            name: Node(self._machine(name), authority, self.tools) for name in state.nodes
        }

    def _machine(self, name: str) -> Machine:
        return Machine(self.state, self.network, name)

    # ---- life of a cluster ----

    @classmethod
    def up(
        cls,
        nodes: Sequence[str] = NODES,
        directory: Path | None = None,
        report: Callable[[str], None] = lambda line: None,
        zones: dict[str, str] | None = None,
        stock_times: bool = False,
    ) -> "Cluster":
        """Back when every node is Ready; if that fails, nothing is left. Steps are reported. Nodes that
        are not in `zones` are in zone 1. With stock times a dead node is noticed as late as where nobody
        has changed anything."""
        _check_names(nodes)
        inotify.provide(len(nodes))
        tools.build()
        zones = {name: (zones or {}).get(name, ZONE) for name in nodes}
        cluster = cls(State.create(directory, zones, stock_times))
        try:
            cluster._check_paths()
            cluster._build(_Steps(report))
        except BaseException:
            cluster.down()
            raise
        return cluster

    @classmethod
    def open(cls, directory: Path) -> "Cluster":
        return cls(State.open(directory))

    def _build(self, step: "_Steps") -> None:
        images.build_pause(self.directory / "pause")
        self.network.create()
        self.network.join("azure")
        self.authority.create()
        self.control_plane.boot()
        step("control plane ready")
        self.load(images.pause(self.directory / "pause"))
        self.load(images.busybox())
        for node in self.nodes.values():
            node.install()
        self._on_each(self.nodes.values(), self._boot)
        # Nodes may be faster than the controllers; without this no pod is admitted.
        self.kubectl("wait", "serviceaccount/default", "--for=create", PATIENCE)
        step(f"{len(self.nodes)} nodes Ready")

    def down(self) -> None:
        """Everything of the cluster goes, whatever became of those who made it."""
        self.network.remove()
        cgroup.remove(cgroup.name(self.state.id))
        _detach_loop_devices(self.directory)
        shutil.rmtree(self.directory)

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_) -> None:
        self.down()

    # ---- nodes ----

    def cut(self, machine: str) -> None:
        """Off the network (a node, cp or azure), while all that runs on it goes on."""
        self.network.cut(machine)

    def heal(self, machine: str) -> None:
        self.network.heal(machine)

    def power_off(self, node: str) -> None:
        """Pulls the plug, see Machine.power_off."""
        self._node(node).power_off()

    def power_on(self, node: str) -> None:
        """Back when it is Ready. Same disk, name and addresses; a new boot."""
        self._boot(self._node(node))

    def _node(self, name: str) -> Node:
        if name not in self.nodes:
            raise RuntimeError(f"no node {name}; there are {', '.join(self.nodes)}")
        return self.nodes[name]

    def _boot(self, node: Node) -> None:
        node.boot()
        self._import_images(node)
        node.join()
        self.wait_ready(node.name)

    def wait_ready(self, node: str, seconds: int = PATIENCE_S) -> None:
        """Ready as of the node's present boot."""
        boot = self.nodes[node].machine.boot_id()
        rebooted = f"jsonpath={{.status.nodeInfo.bootID}}={boot}"
        for condition in ("create", rebooted, "condition=Ready"):
            self._wait(node, condition, seconds)

    def wait_lost(self, node: str, seconds: int = PATIENCE_S) -> None:
        """NotReady because nothing is heard of it."""
        self._wait(node, "condition=Ready=Unknown", seconds)

    def _wait(self, node: str, condition: str, seconds: int) -> None:
        self.kubectl("wait", f"node/{node}", f"--for={condition}", f"--timeout={seconds}s")

    def vms(self) -> list[dict]:
        """The nodes as the simulated Azure is told of them."""
        return [node.vm() for node in self.nodes.values()]

    # ---- images ----

    def load(self, image: Image) -> None:
        """The image on every node; one that is off gets it when it boots. Nothing is done where
        the same content is already."""
        folder = self.directory / "images"
        folder.mkdir(exist_ok=True)
        image_id = image.write(self._archive(image.name))
        self.state.put("images", image.name, image_id)
        running = [node for node in self.nodes.values() if node.machine.on()]
        self._on_each(running, self._import_images)

    def _archive(self, name: str) -> Path:
        return self.directory / "images" / (re.sub(r"[/:]", "_", name) + ".tar")

    def _import_images(self, node: Node) -> None:
        imported = self.state.table("imported")
        for name, image_id in self.state.table("images").items():
            key = f"{node.name}/{name}"
            if imported.get(key) != image_id:
                node.ctr("images", "import", self._archive(name))
                self.state.put("imported", key, image_id)

    # ---- what runs ----

    def process(self, name: str) -> Program:
        """By MACHINE/PROGRAM: cp/kube-apiserver, node-a/kubelet."""
        machine_name, _, program = name.partition("/")
        return Program(self._machine(machine_name), program)

    def start_scheduler(self, configuration: Path | None = None) -> None:
        """Starts kube-scheduler anew with a KubeSchedulerConfiguration (YAML), or as nobody has configured it."""
        import yaml  # comes with the Kubernetes client; a plain `up` does without

        self.control_plane.start_scheduler(yaml.safe_load(configuration.read_text()) if configuration else {})

    def machines(self) -> list[Machine]:
        return [self.control_plane.machine, *(node.machine for node in self.nodes.values())]

    def memory(self) -> dict[str, int]:
        """KiB of each machine and of the visitors in azure; shared pages are divided."""
        users = {each.name: each.processes() for each in self.machines()}
        users["azure"] = self.network.processes("azure")
        return {name: sum(each.proportional_kib() for each in users[name]) for name in users}

    # ---- talking to it ----

    def inside(self, machine: str) -> AbstractContextManager:
        """`with cluster.inside("cp"):` connections that this thread opens are made from there."""
        return network.inside(self.network.namespace(machine))

    def command(self, program: str, *arguments: str | Path) -> list[str]:
        """How one of the tools (kubectl, helm, csi-sanity) is run against this cluster."""
        return [*self._as_administrator(), str(self.tools / program), *map(str, arguments)]

    def _as_administrator(self) -> list[str]:
        """In the network of cp, with the caller's files and a home of its own."""
        (self.directory / "home").mkdir(exist_ok=True)
        configuration = f"KUBECONFIG={self.authority.path('admin.conf')}"
        home = f"HOME={self.directory / 'home'}"
        return [*self.network.enter("cp"), "env", configuration, home]

    def run(self, program: str, *arguments: str | Path, input: str | None = None) -> str:
        """Such a tool, to its end; what it printed."""
        return run(self.tools / program, *arguments, within=self._as_administrator(), input=input)

    def kubectl(self, *arguments: str | Path, input: str | None = None) -> str:
        return self.run("kubectl", *arguments, input=input)

    def get(self, *arguments: str) -> dict:
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def apply(self, *objects: dict) -> None:
        whole = {"apiVersion": "v1", "kind": "List", "items": objects}
        self.kubectl("apply", "-f", "-", input=json.dumps(whole))

    # ---- within ----

    def _check_paths(self) -> None:
        for path in (self.directory, self.tools):
            for covered in machine.COVERED:
                if path.is_relative_to(covered):
                    raise RuntimeError(f"{path} is below {covered}, which machines do not share")

    @staticmethod
    def _on_each(nodes, action: Callable[[Node], None]) -> None:
        with ThreadPoolExecutor() as pool:
            list(pool.map(action, nodes))


class _Steps:
    """Tells of each step when it is done, and how long it took."""

    def __init__(self, report: Callable[[str], None]):
        self.report = report
        self.last = time.monotonic()

    def __call__(self, what: str) -> None:
        now = time.monotonic()
        self.report(f"{what} ({now - self.last:.1f} s)")
        self.last = now


def _check_names(nodes: Sequence[str]) -> None:
    if not nodes or len(nodes) > 100 or len(set(nodes)) != len(nodes):
        raise RuntimeError("a cluster has 1 to 100 nodes with different names")
    for name in nodes:
        if not re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", name) or name in RESERVED:
            raise RuntimeError(
                f"node name {name!r}: lower case letters, digits and '-', "
                f"and none of {', '.join(sorted(RESERVED))}"
            )


def _detach_loop_devices(directory: Path) -> None:
    """Those of files in the folder; before them what kubelet has put on them, as it holds a pod's
    block volume by a loop device of its own."""
    below = {_identity(os.stat(device)) for device in _loop_devices(directory)}
    columns = ("--noheadings", "--output", "NAME,BACK-MAJ:MIN,BACK-INO")
    for line in run("losetup", "--list", *columns).splitlines():
        device, *backing = line.split()
        if tuple(backing) in below:
            run("losetup", "--detach", device)
    for device in _loop_devices(directory):  # some may have gone with their last user
        run("losetup", "--detach", device)


def _loop_devices(directory: Path) -> list[str]:
    return [
        f"/dev/{entry.parts[3]}"
        for entry in Path("/sys/block").glob("loop*/loop/backing_file")
        if Path(entry.read_text().strip().removesuffix(" (deleted)")).is_relative_to(directory)
    ]


def _identity(status: os.stat_result) -> tuple[str, str]:
    return f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}", str(status.st_ino)
