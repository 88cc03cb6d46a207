"""Some minutes of a cluster in which things happen that the dashboards show."""

import contextlib
import time
from collections.abc import Callable

from cluster.cluster import Cluster
from cluster.waiting import until
from deployment import ledger as ledgers
from deployment.azure import Azure
from deployment.driver import Driver
from deployment.failover import HostLoss
from deployment.ledger import Ledger, manifests
from deployment.reservations import reservations

from .prometheus import Prometheus

NODES = ("node-a", "node-b", "node-c", "node-d", "node-e")
SYSTEM_NODES, SYSTEM = NODES[3:], {"kubernetes.azure.com/mode": "system"}
LATENCY = {"attach": "3s-9s", "detach": "3s-9s", "create": "2s", "delete": "2s"}
REST = 30  # seconds
JOBS = 4  # controller, plug-in, extender, kubelet
ORDERS = "orders"  # databases of one StatefulSet, whose number changes


class Story:
    def __init__(self, say: Callable[[str], None]):
        self.say = say
        self.open = contextlib.ExitStack()

    def set_up(self) -> None:
        self.say(f"Starting Kubernetes: a control plane and {len(NODES)} nodes")
        self.cluster = self.open.enter_context(Cluster.up(NODES))
        self.azure = self.open.enter_context(Azure(self.cluster, **LATENCY))
        self.driver = Driver(self.cluster, self.azure)
        self.driver.load_images(self.open.enter_context(reservations(self.cluster)))
        self.cluster.load(ledgers.image(self.cluster.directory))
        self.cluster.kubectl("label", "node", *SYSTEM_NODES, *(f"{key}={value}" for key, value in SYSTEM.items()))
        metrics = {"metrics": {"service": {"enabled": True}}, "nodeSelector": SYSTEM}
        self.driver.install(controller={"replicaGCDelay": "15s", **metrics}, schedulerExtender=metrics, failover={"enabled": True})
        self.say("The driver is installed")

    def begin(self) -> None:
        """Readings that are earlier show an empty cluster."""
        self.prometheus = self.open.enter_context(Prometheus(self.cluster))
        until(lambda: len(self.prometheus.jobs()) == JOBS, "all metrics are read", 60)
        self.began = time.time()
        self.say(f"Prometheus reads {', '.join(sorted(self.prometheus.jobs()))}")

    def databases(self) -> None:
        self.ledgers = [Ledger(self.cluster, f"ledger-{i}", max_shares=3, automaticFailover="true") for i in range(2)]
        for ledger in self.ledgers:
            ledger.apply()
        self.cluster.apply(*manifests(ORDERS, 2, 3, automaticFailover="true"))
        for ledger in self.ledgers:
            ledger.wait_ready()
            ledger.start_writing()
        until(lambda: self._attached() == 12, "all replicas are attached", 240, interval=1)
        self.say("Five databases run, and their replicas are attached")

    def _attached(self) -> int:
        return sum(role.endswith(" Attached") for roles in self.driver.all_roles().values() for role in roles.values())

    def throttled(self) -> None:
        self.azure.fault("throttle", kind="virtualMachines.*", calls="1-3", retryAfter=5)
        self._scale(6)
        self.azure.control("DELETE", "faults")
        self.say("Three more run, though Azure has refused requests for a while")

    def fewer(self) -> None:
        self._scale(2)
        self.say("Four of them have ended")

    def _scale(self, pods: int) -> None:
        self.cluster.kubectl("scale", f"statefulset/{ORDERS}", f"--replicas={pods}")
        until(lambda: self._ready() == pods, f"{pods} databases of {ORDERS} are ready", 240, interval=1)

    def _ready(self) -> int:
        pods = self.cluster.get("pods", "-l", f"app={ORDERS}")["items"]
        ready = sum(any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", [])) for pod in pods)
        return ready if ready == len(pods) else 0

    def failover(self) -> None:
        """Of the node of the first database: its host fails, and Azure says that the VM runs."""
        first = self.ledgers[0]
        node = first.node()
        loss = HostLoss(self.driver, node)
        until(lambda: loss.runs_elsewhere(first), f"{first.name} runs elsewhere", 240, interval=0.5)
        self.say(f"{node} has failed, and {first.name} runs on {first.node()}")
        loss.is_found_out()
        loss.end()
        until(lambda: not self.cluster.get("node", node)["spec"].get("taints"), "it is taken back", 120, interval=0.5)
        self.say(f"{node} is back")

    def rest(self) -> None:
        """So that one thing can be told from the next in a picture."""
        time.sleep(REST)
        self.ended = time.time()
