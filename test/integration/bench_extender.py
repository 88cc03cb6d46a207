"""What the extender costs in a large cluster: memory by object, time by call. Not a test, so pytest
runs it only by its name, and after `make`, as it measures the program that is shipped:

    pytest -s test/integration/bench_extender.py
"""

import http.client
import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .extender import SHIPPED, Extender
from .placement import Placement, pod

N_NODES, N_VOLUMES, REPLICAS = 1000, 10_000, 2
N_CALLS = 2000
THREADS = 8

NODES = [f"aks-nodepool1-12345678-vmss{i:06}" for i in range(N_NODES)]
VOLUMES = [f"pvc-0b1f6471-1bf0-4dda-aec3-{i:012}" for i in range(N_VOLUMES)]


def nodes_of(i: int) -> list[str]:
    return [NODES[(i * 7 + replica * 31) % N_NODES] for replica in range(REPLICAS)]


def resident_kib(extender: Extender, what: str = "VmRSS") -> int:
    status = Path(f"/proc/{extender.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(what))


class Load:
    """Makes objects by several clients at once, and waits until the extender has them."""

    def __init__(self, apiserver, extender: Extender):
        self.clients = [Placement(apiserver.client()) for _ in range(THREADS)]
        self.extender = extender

    def make(self, kind: str, n: int, one) -> None:
        """one(placement, i), n times."""
        before, had, start = resident_kib(self.extender), self.count(kind), time.monotonic()
        with ThreadPoolExecutor(THREADS) as pool:
            for _ in pool.map(
                lambda k: [one(self.clients[k], i) for i in range(k, n, THREADS)], range(THREADS)
            ):
                pass
        time.sleep(3)  # the watch's last events
        after, have = resident_kib(self.extender), self.count(kind)
        each = (after - before) * 1024 / (have - had or n)
        print(
            f"{have:8.0f} {kind:<24} {each:6.0f} bytes each, {after / 1024:5.1f} MiB in all"
            f" ({time.monotonic() - start:.0f} s)"
        )

    def count(self, kind: str) -> float:
        return self.extender.metrics()[f'azuredisk_extender_index_objects{{kind="{kind}"}}']


def measure(extender: Extender, what: str, verb: str, arguments: dict, n: int) -> None:
    body = json.dumps(arguments).encode()
    link = http.client.HTTPConnection("127.0.0.1", extender.port)
    times = []
    for _ in range(n):
        start = time.perf_counter()
        link.request("POST", f"/{verb}", body)
        answer = link.getresponse()
        answer.read()
        times.append((time.perf_counter() - start) * 1000)
        assert answer.status == 200
    times.sort()
    median, p99 = times[n // 2], times[n * 99 // 100]
    figures = f"median {median:6.2f}, p99 {p99:6.2f}, max {times[-1]:6.2f} ms"
    print(f"{verb:<10} {what:<40} {len(body) / 1e6:6.2f} MB: {figures}")


def whole_node(name: str) -> dict:
    """Of the size that a node of a real cluster has, most of it names of images."""
    image = {"names": ["mcr.microsoft.com/" + "x" * 200, "y" * 60], "sizeBytes": 100_000_000}
    labels = {f"label-{i}": "value" for i in range(40)}
    return {"metadata": {"name": name, "labels": labels}, "status": {"images": [image] * 45}}


def start(apiserver, folder, *flags: str) -> Extender:
    extender = Extender(folder / "log", "--v=0", *flags, kubeconfig=apiserver.kubeconfig, program=SHIPPED)
    return extender.until_ready()


def test_large_cluster(apiserver, tmp_path):
    placement = Placement(apiserver.client())
    placement.install()
    with start(apiserver, tmp_path) as extender:
        print(f"\n{resident_kib(extender) / 1024:.1f} MiB with nothing in the cluster")
        fill(Load(apiserver, extender))
    # What follows is about the program, not about what else the machine does meanwhile.
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    with start(apiserver, tmp_path, "--max-request-bytes=134217728") as extender:
        print(
            f"{resident_kib(extender) / 1024:.1f} MiB after a start in the full cluster,"
            f" peak {resident_kib(extender, 'VmHWM') / 1024:.1f}"
        )
        ask(extender)


def fill(load: Load) -> None:
    def attach(placement: Placement, i: int) -> None:
        for node in nodes_of(i):
            placement.attachment(VOLUMES[i], node, "Attached")

    load.make("AzDriverNode", N_NODES, lambda p, i: p.plugin(NODES[i]))
    load.make("PersistentVolume", N_VOLUMES, lambda p, i: p.volume(VOLUMES[i], VOLUMES[i], f"c{i}"))
    load.make("PersistentVolumeClaim", N_VOLUMES, lambda p, i: p.claim(f"c{i}", VOLUMES[i]))
    load.make("AzVolumeAttachment", N_VOLUMES, attach)
    # Heartbeats, so that all are healthy when the questions come.
    load.make("AzDriverNode", N_NODES, lambda p, i: p.plugin(NODES[i]))


def ask(extender: Extender) -> None:
    for n_claims in (0, 1, 5, 60):
        claims = [f"c{i}" for i in range(n_claims)]
        arguments = {"Pod": pod("asking", claims), "Nodes": None, "NodeNames": NODES}
        what = f"{N_NODES} names, {n_claims} volumes"
        for verb in ("prioritize", "filter"):
            measure(extender, what, verb, arguments, N_CALLS)
    whole = {"items": [whole_node(name) for name in NODES]}
    arguments = {"Pod": pod("asking", ["c0"]), "Nodes": whole}
    for verb in ("prioritize", "filter"):
        measure(extender, f"{N_NODES} whole nodes, 1 volume", verb, arguments, 50)
    print(
        f"{resident_kib(extender) / 1024:.1f} MiB after that,"
        f" peak {resident_kib(extender, 'VmHWM') / 1024:.1f}"
    )


# ---- what somebody takes from it who wishes it ill ----

SIZES = (2 << 20, 14_000_000, 60_000_000)


def hostile(size: int) -> bytes:
    """A request of that size: a pod with as many volumes as fit."""
    volume = b'{"name":"v","emptyDir":{}}'
    head, tail = b'{"Pod":{"metadata":{"name":"p","namespace":"n"},"spec":{"volumes":[', b']}},"NodeNames":["a"]}'
    n = (size - len(head) - len(tail) + 1) // (len(volume) + 1)
    return head + b",".join([volume] * n) + tail


def other_answers(extender: Extender, done: threading.Event) -> list[float]:
    """How long questions of others take meanwhile, in ms: what the loop was held for."""
    times = []
    while not done.is_set():
        start = time.perf_counter()
        extender.request("GET", "/readyz", port=extender.metrics_port)
        times.append((time.perf_counter() - start) * 1000)
    return times


def test_large_bodies(apiserver, tmp_path):
    placement = Placement(apiserver.client())
    placement.install()
    print()
    for size in SIZES:
        with start(apiserver, tmp_path, "--max-request-bytes=134217728") as extender, ThreadPoolExecutor(1) as pool:
            before, done = resident_kib(extender, "VmHWM"), threading.Event()
            others = pool.submit(other_answers, extender, done)
            began = time.perf_counter()
            status, _ = extender.request("POST", "/filter", hostile(size))
            took = time.perf_counter() - began
            done.set()
            grown = (resident_kib(extender, "VmHWM") - before) / 1024
            print(f"{size / 1e6:5.1f} MB: status {status}, {grown:7.1f} MiB more, {took * 1000:6.0f} ms; others waited"
                  f" {max(others.result()):6.0f} ms at most")
