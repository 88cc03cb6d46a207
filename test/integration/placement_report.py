"""How many pods come to their replicas, and how long they wait for that, by the way in which nodes are proposed.
build/reports/placement.json has the figures, those of a later run in the place of earlier ones."""

import json
from concurrent.futures import ThreadPoolExecutor

from .driver_world import TREE
from .nomination import GATE, THREADS, GatedWorld, GateTimes, Shipped, stock_scheduler

REPORT = TREE / "build/reports/placement.json"
PODS, HOMES, NODES = 20, 10, 40


def percentile(sorted_values: list[float], percent: int) -> float:
    return round(sorted_values[min(len(sorted_values) * percent // 100, len(sorted_values) - 1)], 1)


class Failovers:
    """Pods whose nodes are drained: each has a replica on another node, among very many."""

    def __init__(self, world: GatedWorld, controller: Shipped):
        self.world, self.nodes = world, len(world.nodes) + len(world.others)
        for node in world.nodes[:HOMES]:
            world.cordon(node)
        names = [f"db-{i}" for i in range(2 * PODS)]  # each half once
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(lambda i: world.volume(controller, names[i], world.nodes[i % HOMES]), range(len(names))))
        self.wanted = {name: world.replicas(name)[0] for name in names}

    def run(self, first: int, *gates: str) -> dict:
        """One pod after the other, so that what is added is not what the others cost the machine."""
        names = [f"db-{i}" for i in range(first, first + PODS)]
        with GateTimes(self.world) as times:
            for name in names:
                self.world.pod(name, [name], *gates)
                self.world.landed([name])
            landed = self.world.landed(names)
            waited = times.of(names) if gates else [0.0]
        return {"nodes": self.nodes, "pods": PODS,
                "on_replica": sum(landed[name] == self.wanted[name] for name in names),
                "added_ms": {"p50": percentile(waited, 50), "p99": percentile(waited, 99)}}


def measure(tmp_path, apiserver, nodes: int) -> dict:
    """As the report has it."""
    with (GatedWorld(tmp_path, apiserver, nodes=NODES, others=nodes - NODES) as world,
          Shipped(world, "one", "--placement=nominate") as controller):
        failovers = Failovers(world, controller)
        with stock_scheduler(world):
            modes = {"nominate": failovers.run(0, GATE), "none": failovers.run(PODS)}
    return update(mode=modes)


def update(**figures: object) -> dict:
    """The report with these."""
    report = (json.loads(REPORT.read_text()) if REPORT.exists() else {}) | figures
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=1) + "\n")
    return report
