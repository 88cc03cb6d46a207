"""How many pods come to their replicas, and what it costs them, by placement.mode. build/reports/placement.json has the
figures, those of a later run in the place of earlier ones."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from .driver_world import TREE
from .extender import SHIPPED, Extender
from .nomination import GATE, THREADS, GatedWorld, GateTimes, Shipped, stock_scheduler
from .placement import Placement
from .placement_webhook import Webhook
from .test_scheduling import configuration

REPORT = TREE / "build/reports/placement.json"
PODS, HOMES, NODES = 20, 10, 40


def percentiles(values: list[float]) -> dict[str, float]:
    values = sorted(values)
    return {f"p{percent}": round(values[min(len(values) * percent // 100, len(values) - 1)], 1) for percent in (50, 99)}


class Failovers:
    """Pods whose nodes are drained: each has a replica on another node, among very many."""

    def __init__(self, world: GatedWorld, controller: Shipped, runs: int):
        self.world, self.nodes, self.n_run = world, len(world.nodes) + len(world.others), 0
        self.bound: dict[str, dict[str, float]] = {}
        for node in world.nodes[:HOMES]:
            world.cordon(node)
        names = [f"db-{i}" for i in range(runs * PODS)]
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(lambda i: world.volume(controller, names[i], world.nodes[i % HOMES]), range(len(names))))
        self.wanted = {name: world.replicas(name)[0] for name in names}

    def run(self, mode: str, *gates: str) -> dict:
        """One pod after the other, so that what is added is not what the others cost the machine."""
        names, begun = [f"db-{i}" for i in range(self.n_run, self.n_run + PODS)], {}
        self.n_run += PODS
        with GateTimes(self.world) as times:
            for name in names:
                begun[name] = time.monotonic()
                self.world.pod(name, [name], *gates)
                times.until_bound(name)
            self.bound[mode] = percentiles(times.bound_ms(begun))
            waited = percentiles(times.of(names)) if gates else None
        landed = self.world.landed(names)
        added = waited or self._more_than_none(mode)
        return {"nodes": self.nodes, "pods": PODS,
                "on_replica": sum(landed[name] == self.wanted[name] for name in names),
                "bound_ms": self.bound[mode], **({"added_ms": added} if added else {})}

    def _more_than_none(self, mode: str) -> dict[str, float] | None:
        """How much later pods are bound than without any of it, as far as that can be told apart and was measured."""
        none = self.bound.get("none")
        return none and {name: round(max(0.0, value - none[name]), 1) for name, value in self.bound[mode].items()}


def flags(world: GatedWorld) -> tuple[str, ...]:
    """Of an extender that reads the world's objects, in which World.beat() is all that is heard of a node."""
    return f"--object-namespace={world.namespace}", "--heartbeat-limit=1h"


@contextmanager
def preferring(world: GatedWorld, tmp_path) -> Iterator[None]:
    """The webhook adds preferred nodes to pods, for a scheduler that nobody has configured."""
    with Webhook(world.apiserver, tmp_path, "webhook") as webhook, stock_scheduler(world):
        webhook.kubeconfig = world.apiserver.kubeconfig
        with webhook.extender(*flags(world), program=SHIPPED) as extender:
            extender.until_ready()
            yield


@contextmanager
def extended(world: GatedWorld, tmp_path) -> Iterator[None]:
    """The scheduler asks the extender."""
    kubeconfig = world.apiserver.kubeconfig
    with Extender(tmp_path / "log", *flags(world), kubeconfig=kubeconfig, program=SHIPPED) as extender:
        extender.until_ready()
        extenders = configuration(extender, kubeconfig, node_cache_capable=True)["extenders"]
        profiles = [{"schedulerName": "default-scheduler", "percentageOfNodesToScore": 100}]
        with stock_scheduler(world, profiles=profiles, extenders=extenders):
            yield


# What there is while pods are placed in each mode, and which gates they have.
MODES = {
    "none": (lambda world, tmp_path: stock_scheduler(world), ()),
    "nominate": (lambda world, tmp_path: stock_scheduler(world), (GATE,)),
    "webhook": (preferring, ()),
    "extender": (extended, ()),
}


def measure(tmp_path, apiserver, nodes: int, *modes: str) -> dict:
    """As the report has it of these modes; with the kube-scheduler of the API server's release."""
    Placement(apiserver.client()).install()  # the namespace that a release expects
    found = {}
    with (GatedWorld(tmp_path, apiserver, nodes=NODES, others=nodes - NODES) as world,
          Shipped(world, "one", "--placement=nominate") as controller):
        failovers = Failovers(world, controller, len(modes))
        for mode in modes:
            scene, gates = MODES[mode]
            with scene(world, tmp_path):
                found[mode] = failovers.run(mode, *gates)
    return found


def note(modes: dict, *path: str) -> None:
    """In the report, at that path; what was measured there of other modes stays."""
    report = json.loads(REPORT.read_text()) if REPORT.exists() else {}
    place = report
    for name in path:
        place = place.setdefault(name, {})
    place |= modes
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=1) + "\n")
