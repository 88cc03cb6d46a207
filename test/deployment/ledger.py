"""A tiny database on a volume of the driver (ledger.c), and a client that remembers what was acknowledged."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from cluster.cluster import Cluster
from cluster.command import run
from cluster.waiting import PATIENCE_S, until
from image.archive import Image

IMAGE = "images.test/ledger:test"
PORT = 7000
DRIVER = "disk.csi.azure.com"


@contextlib.contextmanager
def only_on(cluster: Cluster, *nodes: str) -> Iterator[None]:
    """What is scheduled meanwhile goes to these nodes."""
    others = [name for name in cluster.nodes if name not in nodes]
    cluster.kubectl("cordon", *others)
    try:
        yield
    finally:
        cluster.kubectl("uncordon", *others)


def image(folder: Path) -> Image:
    """The database as an image; its program is made in `folder`."""
    program = folder / "ledger"
    source = Path(__file__).parent / "ledger.c"
    run("gcc", "-O2", "-static", "-s", "-o", program, source)
    return Image(IMAGE, ["/ledger"], {"/ledger": program})


def manifests(name: str, max_shares: int, pods: int = 1, nodes: Sequence[str] = (), more_labels: dict[str, str] | None = None,
              **parameters: str) -> list[dict]:
    """A StorageClass and a StatefulSet of databases, each pod with a volume of its own; on these nodes, if any
    are named. All pods are started at once, none waits for the one before. `parameters` are more of the class."""
    labels = {"app": name}
    container = {
        "name": "ledger",
        "image": IMAGE,
        "imagePullPolicy": "Never",
        "args": ["/data/ledger", str(PORT)],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        "readinessProbe": {"tcpSocket": {"port": PORT}, "periodSeconds": 1},
    }
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": name,
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": DRIVER,
        "parameters": {"skuName": "Premium_LRS", "maxShares": str(max_shares), **parameters},
        "allowVolumeExpansion": True,
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    stateful_set = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name},
        "spec": {
            "serviceName": name,
            "replicas": pods,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels | (more_labels or {})},
                "spec": {"terminationGracePeriodSeconds": 0, "containers": [container], **_placed(nodes)},
            },
            "volumeClaimTemplates": [claim],
        },
    }
    return [storage_class, stateful_set]


def _placed(nodes: Sequence[str]) -> dict:
    """What a pod's specification says of its nodes."""
    if not nodes:
        return {}
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"affinity": {"nodeAffinity": required}}


class Ledger:
    """One database: a StorageClass, a StatefulSet of one pod, and its client; on these nodes, if any are named."""

    def __init__(self, cluster: Cluster, name: str, max_shares: int, nodes: Sequence[str] = (),
                 more_labels: dict[str, str] | None = None, **parameters: str):
        self.cluster, self.name, self.max_shares = cluster, name, max_shares
        self.nodes, self.more_labels, self.parameters = nodes, more_labels, parameters
        self.client = Client(cluster)

    # ---- Kubernetes ----

    def apply(self) -> None:
        self.cluster.apply(*manifests(self.name, self.max_shares, nodes=self.nodes, more_labels=self.more_labels,
                                     **self.parameters))

    @property
    def pod(self) -> str:
        return f"{self.name}-0"

    def volume(self) -> str:
        """The PersistentVolume, whose name is the AzVolume's and the disk's too."""
        return until(
            lambda: self._find("pvc", f"data-{self.pod}", "spec").get("volumeName"),
            f"{self.name}'s claim is bound")

    def node(self) -> str | None:
        """Where its pod was scheduled to."""
        return self._find("pod", self.pod, "spec").get("nodeName")

    def _find(self, kind: str, name: str, member: str) -> dict:
        """The spec or status of an object; empty if there is no such object."""
        text = self.cluster.kubectl("get", kind, name, "--ignore-not-found", "-o", "json")
        return json.loads(text)[member] if text else {}

    def wait_ready(self, seconds: int = PATIENCE_S) -> None:
        self.cluster.kubectl("wait", f"pod/{self.pod}", "--for=create", f"--timeout={seconds}s")
        self.cluster.kubectl("wait", f"pod/{self.pod}", "--for=condition=Ready", f"--timeout={seconds}s")

    def scale(self, pods: int) -> None:
        self.cluster.kubectl("scale", f"statefulset/{self.name}", f"--replicas={pods}")

    def delete(self) -> None:
        for what in (f"statefulset/{self.name}", f"pvc/data-{self.pod}", f"storageclass/{self.name}"):
            self.cluster.kubectl("delete", what, "--wait=false", "--ignore-not-found")

    # ---- records ----

    def address(self) -> str | None:
        """Of the pod, while it is ready."""
        status = self._find("pod", self.pod, "status")
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions", []))
        return status.get("podIP") if ready else None

    def _ready_address(self) -> str:
        """A pod whose node is short of time is not ready for moments."""
        return until(self.address, f"{self.name} is ready")

    def start_writing(self) -> None:
        self.client.start(self._ready_address())

    def go_on(self) -> int:
        """Writing where the database ends, which may have more than was acknowledged; where that is."""
        self.client.acknowledged = int(self.client.ask(self._ready_address(), "count").split()[1])
        end = self.client.acknowledged
        self.start_writing()
        return end

    def stop_writing(self) -> None:
        self.client.stop()

    def write_until_refused(self) -> None:
        self.client.wait()

    def missing(self, acknowledged: int | None = None) -> int:
        """How many of so many records the database no longer has; of all that were acknowledged if nothing is said."""
        wanted = self.client.acknowledged if acknowledged is None else acknowledged
        count, last = (int(n) for n in self.client.ask(self._ready_address(), "count").split())
        complete = count == last  # numbers are given without a gap
        return max(0, wanted - last) if complete else wanted


class Client:
    """Writes records, numbered without a gap, one after the other, until the database goes away."""

    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        self.acknowledged = 0  # the number of the last one that was
        self.last_time = 0.0  # when it was
        self._times: dict[int, float] = {}  # when each was
        self._stopping = False
        self._thread: threading.Thread | None = None

    def _connect(self, address: str, seconds: float) -> socket.socket:
        """`seconds` are for each answer."""
        with self.cluster.inside("cp"):
            return socket.create_connection((address, PORT), timeout=seconds)

    def ask(self, address: str, question: str) -> str:
        with self._connect(address, 60) as link, link.makefile("rw") as stream:
            stream.write(f"{question}\n")
            stream.flush()
            return stream.readline().strip()

    def start(self, address: str) -> None:
        self._stopping = False
        self._thread = threading.Thread(target=self._write, args=(address,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping = True
        self._thread.join()

    def wait(self) -> None:
        """Until the database goes away by itself."""
        self._thread.join()

    def last_before(self, moment: float) -> tuple[int, float]:
        """The record that was acknowledged last before it, and when it was."""
        return max((number, at) for number, at in self._times.items() if at < moment)

    def _write(self, address: str) -> None:
        try:
            with self._connect(address, 5) as link, link.makefile("rw") as stream:
                while not self._stopping:
                    number = self.acknowledged + 1
                    stream.write(f"put {number} written at {time.time():.3f}\n")
                    stream.flush()
                    if stream.readline().strip() != f"ok {number}":
                        return
                    self.acknowledged, self.last_time = number, time.time()
                    self._times[number] = self.last_time
        except OSError:
            pass  # its node is gone
