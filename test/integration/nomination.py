"""Pods that wait at the gate, a scheduler that nobody has configured, and nodes that it could bind them to."""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from cluster.waiting import until
from kubernetes import client, watch

from .calls import create, publish
from .driver_world import GROUP, TREE, Controller, World

GATE = "disk.csi.azure.com/placement"
SWITCHOVER = "disk.csi.azure.com/switchover-to"
ROOM = {"cpu": "16", "memory": "64Gi", "pods": "110"}
THREADS = 8


class Shipped(Controller):
    """The program that users run, for figures."""

    PROGRAM = TREE / "build/bin/azdisk-controller"


class GatedWorld(World):
    """Its nodes have room for pods; beside them there may be thousands that have never heard of the driver."""

    def __init__(self, folder: Path, apiserver, nodes: int, others: int = 0):
        super().__init__(folder, apiserver, nodes=nodes, throttling="off", attach="20ms", detach="20ms",
                         create="20ms", delete="20ms")
        self.others = [f"{self.prefix}other-{i:04}" for i in range(others)]

    def __enter__(self) -> "GatedWorld":
        super().__enter__()
        self._each_other(self._add_other)
        return self

    def __exit__(self, *_) -> None:
        self._clear()
        self._each_other(lambda core, name: core.delete_node(name))
        super().__exit__()

    def _each_other(self, one) -> None:
        def some(first: int) -> None:
            with self.apiserver.client() as api:
                for name in self.others[first::THREADS]:
                    one(client.CoreV1Api(api), name)

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(some, range(THREADS)))

    @staticmethod
    def _add_other(core: client.CoreV1Api, name: str) -> None:
        ready = {"type": "Ready", "status": "True", "reason": "x", "message": "x"}
        labels = {"kubernetes.io/hostname": name}
        core.create_node({"metadata": {"name": name, "labels": labels},
                          "status": {"capacity": ROOM, "allocatable": ROOM, "conditions": [ready]}})
        core.patch_node(name, {"spec": {"taints": None}})

    def add_node(self, name: str, ready: bool = True) -> None:
        super().add_node(name, ready)
        self.core.patch_node_status(name, {"status": {"capacity": ROOM, "allocatable": ROOM}})

    def _clear(self) -> None:
        """Volumes and Nodes belong to no namespace."""
        self.core.delete_collection_namespaced_pod(self.namespace, grace_period_seconds=0)
        for volume in self.core.list_persistent_volume().items:
            if volume.metadata.name.startswith(self.prefix):
                self.core.patch_persistent_volume(volume.metadata.name, {"metadata": {"finalizers": None}})
                self.core.delete_persistent_volume(volume.metadata.name)

    def cordon(self, node: str) -> None:
        self.core.patch_node(node, {"spec": {"unschedulable": True}})

    # ---- volumes ----

    def volume(self, controller: Controller, name: str, node: str | None, replicas: int = 1) -> None:
        """With a claim of that name, published on the node, and replicas elsewhere when this returns."""
        shared = {"skuName": "Premium_LRS", "maxShares": str(replicas + 1), "maxMountReplicaCount": str(replicas)}
        volume_id = create(controller, name=name, parameters=shared).volume_id
        self._bind(name, volume_id)
        if node:
            publish(controller, volume_id, node)
            until(lambda: len(self.replicas(name)) == replicas, f"replicas of {name}")

    def _bind(self, name: str, volume_id: str) -> None:
        size, volume = {"storage": "4Gi"}, f"{self.prefix}{name}"
        self.core.create_persistent_volume({
            "metadata": {"name": volume},
            "spec": {"capacity": size, "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain",
                     "claimRef": {"namespace": self.namespace, "name": name},
                     "csi": {"driver": GROUP, "volumeHandle": volume_id}}})
        self.core.create_namespaced_persistent_volume_claim(self.namespace, {
            "metadata": {"name": name, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "volumeName": volume,
                     "resources": {"requests": size}}})
        self.core.patch_namespaced_persistent_volume_claim_status(
            name, self.namespace, {"status": {"phase": "Bound", "accessModes": ["ReadWriteOnce"]}})

    def replicas(self, name: str) -> list[str]:
        return sorted(f"{self.prefix}{node}" for node, role in self.roles(name).items() if role == "Replica Attached")

    # ---- pods ----

    def pod(self, name: str, claims: list[str], *gates: str, **spec) -> None:
        self.core.create_namespaced_pod(self.namespace, self._pod(name, claims, *gates, **spec))

    def _pod(self, name: str, claims: list[str], *gates: str, **spec) -> dict:
        volumes = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
        main = {"name": "main", "image": "main", "resources": {"requests": {"cpu": "100m"}}}
        return {"metadata": {"name": name},
                "spec": {"containers": [main], "volumes": volumes, "automountServiceAccountToken": False,
                         "schedulingGates": [{"name": gate} for gate in gates], **spec}}

    def would_wait(self, name: str, claims: list[str]) -> bool:
        """Whether the webhook would give that pod the gate."""
        made = self.core.create_namespaced_pod(self.namespace, self._pod(name, claims), dry_run="All")
        return GATE in [gate.name for gate in made.spec.scheduling_gates or []]

    def read_pod(self, name: str) -> client.V1Pod:
        return self.core.read_namespaced_pod(name, self.namespace)

    def gates(self, name: str) -> list[str]:
        return [gate.name for gate in self.read_pod(name).spec.scheduling_gates or []]

    def nominated(self, name: str) -> str | None:
        return self.read_pod(name).status.nominated_node_name

    def until_ungated(self, name: str, seconds: float = 30) -> None:
        until(lambda: GATE not in self.gates(name), f"pod {name} to be let through", seconds)

    def landed(self, names: list[str], seconds: float = 120) -> dict[str, str]:
        def all_of_them() -> dict[str, str] | None:
            pods = self.core.list_namespaced_pod(self.namespace).items
            found = {pod.metadata.name: pod.spec.node_name for pod in pods if pod.metadata.name in names}
            return found if len(found) == len(names) and all(found.values()) else None

        return until(all_of_them, f"{len(names)} pods to be bound", seconds, interval=0.2)


@contextmanager
def stock_scheduler(world: GatedWorld, **configuration: object) -> Iterator[None]:
    """As every cluster has it: what it is told is only where the API server is, and what is asked for here. It has
    bound a pod when this begins."""
    path, log = world.folder / "scheduler.json", world.folder / "scheduler.log"
    path.write_text(json.dumps({
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(world.apiserver.kubeconfig)}, "leaderElection": {"leaderElect": False},
        **configuration}))
    tied = ["setpriv", "--pdeathsig", "KILL"]  # it dies with this process, however that ends
    words = [*tied, world.apiserver.programs / "kube-scheduler", f"--config={path}", "--secure-port=0"]
    with open(log, "wb") as output:
        process = subprocess.Popen(words, stdout=output, stderr=output)
    try:
        first = f"first-{time.monotonic_ns()}"
        world.pod(first, [])
        world.landed([first])
        yield
        assert process.poll() is None, log.read_text()[-4000:]
    finally:
        process.kill()
        process.wait()


class GateTimes:
    """How long each pod of the world waits at the gate, and when it was bound, as a watch sees it. What the watch tells
    is not made into the client's objects: that takes longer than what is measured."""

    def __init__(self, world: GatedWorld):
        self.world, self.known, self.seen, self.ms, self.bound = world, set(), {}, {}, {}
        self.watch = watch.Watch()
        self.thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> "GateTimes":
        """The watch is there: it has told of a pod that came after it began."""
        self.thread.start()
        name = f"watched-{time.monotonic_ns()}"
        self.world.pod(name, [])
        until(lambda: name in self.known, "the watch to begin")
        return self

    def __exit__(self, *_) -> None:
        self.watch.stop()

    def _follow(self) -> None:
        with self.world.apiserver.client() as api:
            core = client.CoreV1Api(api)
            for event in self.watch.stream(core.list_namespaced_pod, self.world.namespace, timeout_seconds=600,
                                           deserialize=False):
                self._see(event["object"])

    def _see(self, pod: dict) -> None:
        name, spec, now = pod["metadata"]["name"], pod["spec"], time.monotonic()
        self.known.add(name)
        if GATE in [gate["name"] for gate in spec.get("schedulingGates", [])]:
            self.seen.setdefault(name, now)
        elif name in self.seen:
            self.ms.setdefault(name, (now - self.seen[name]) * 1000)
        if "nodeName" in spec:
            self.bound.setdefault(name, now)

    def until_bound(self, name: str) -> None:
        until(lambda: name in self.bound, f"pod {name} to be bound", 120)

    def of(self, names: list[str]) -> list[float]:
        until(lambda: all(name in self.ms for name in names), "the watch to see all pods")
        return sorted(self.ms[name] for name in names)

    def bound_ms(self, begun: dict[str, float]) -> list[float]:
        """From when each was begun to be made."""
        until(lambda: all(name in self.bound for name in begun), "the watch to see all pods bound")
        return sorted((self.bound[name] - moment) * 1000 for name, moment in begun.items())
