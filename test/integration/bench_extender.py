"""What the extender costs in a large cluster: memory by object, time by call. Not a test, so pytest
runs it only by its name, and after `make`, as it measures the program that is shipped:

    pytest -s test/integration/bench_extender.py

The figures are in build/reports/extender.json afterwards: those of a pod of four claims, by the verb
that takes longer.
"""

import json
import os
import socket
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from .extender import SHIPPED, TREE, Extender
from .placement import Placement, pod

N_NODES, N_VOLUMES, REPLICAS = 5000, 10_000, 2
N_CALLS = 1000
CALLERS = 4
TYPICAL_CLAIMS = 4
THREADS = 8
REPORT = TREE / "build/reports/extender.json"

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


class Caller:
    """One connection, by which the same question is asked again and again. It is a bare socket, so that
    what is measured is the extender."""

    def __init__(self, port: int, verb: str, body: bytes):
        self.link = socket.create_connection(("127.0.0.1", port))
        self.link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.question = f"POST /{verb} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        self.room = memoryview(bytearray(1 << 20))

    def ask(self) -> float:
        """In ms, until the last byte of the answer."""
        start = time.perf_counter()
        self.link.sendall(self.question)
        have, end = self.link.recv_into(self.room), -1
        while (end := bytes(self.room[:min(have, 4096)]).find(b"\r\n\r\n")) < 0:
            have += self.link.recv_into(self.room[have:])
        head = bytes(self.room[:end]).lower()
        assert head.startswith(b"http/1.1 200 "), head
        missing = int(head.split(b"content-length:")[1].split()[0]) + end + 4 - have
        while missing > 0:
            missing -= self.link.recv_into(self.room)
        return (time.perf_counter() - start) * 1000


def call(port: int, verb: str, body: bytes, n: int) -> list[float]:
    caller = Caller(port, verb, body)
    return [caller.ask() for _ in range(n)]


def cpu_ms(extender: Extender) -> float:
    """What all its threads have had."""
    tasks = Path(f"/proc/{extender.process.pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6


@dataclass
class Figures:
    p50_ms: float
    p99_ms: float
    per_second: float
    cpu_ms: float  # of the extender, for each answer


def measure(extender: Extender, what: str, verb: str, arguments: dict, n: int, callers: int = 1) -> Figures:
    body = json.dumps(arguments).encode()
    call(extender.port, verb, body, min(n, 20))
    with ProcessPoolExecutor(callers, get_context("fork")) as pool:
        list(pool.map(time.sleep, [0.1] * callers))  # all of them are there
        before, start = cpu_ms(extender), time.perf_counter()
        calls = [pool.submit(call, extender.port, verb, body, n) for _ in range(callers)]
        times = sorted(ms for each in calls for ms in each.result())
        took = time.perf_counter() - start
        cpu = (cpu_ms(extender) - before) / len(times)
    figures = Figures(times[len(times) // 2], times[len(times) * 99 // 100], len(times) / took, cpu)
    print(
        f"{verb:<10} {what:<32} {callers} callers {len(body) / 1e6:6.2f} MB: median {figures.p50_ms:6.2f},"
        f" p99 {figures.p99_ms:6.2f}, max {times[-1]:6.2f} ms; {figures.per_second:5.0f} a second,"
        f" {figures.cpu_ms:.3f} ms CPU each"
    )
    return figures


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
    with start(apiserver, tmp_path, "--max-request-bytes=134217728", "--heartbeat-limit=1h") as extender:
        print(
            f"{resident_kib(extender) / 1024:.1f} MiB after a start in the full cluster,"
            f" peak {resident_kib(extender, 'VmHWM') / 1024:.1f}"
        )
        resident_mib = resident_kib(extender) / 1024
        ask(extender)
        report(extender, resident_mib)


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


def names_for(n_claims: int) -> dict:
    claims = [f"c{i}" for i in range(n_claims)]
    return {"Pod": pod("asking", claims), "Nodes": None, "NodeNames": NODES}


def ask(extender: Extender) -> None:
    for n_claims in (0, 1, TYPICAL_CLAIMS, 60):
        for verb in ("prioritize", "filter"):
            measure(extender, f"{N_NODES} names, {n_claims} volumes", verb, names_for(n_claims), N_CALLS)
    whole = {"items": [whole_node(name) for name in NODES[:1000]]}
    arguments = {"Pod": pod("asking", ["c0"]), "Nodes": whole}
    for verb in ("prioritize", "filter"):
        measure(extender, "1000 whole nodes, 1 volume", verb, arguments, 50)
    print(
        f"{resident_kib(extender) / 1024:.1f} MiB after that,"
        f" peak {resident_kib(extender, 'VmHWM') / 1024:.1f}"
    )


def report(extender: Extender, resident_mib: float) -> None:
    def worst(callers: int) -> Figures:
        what, question = f"{N_NODES} names, {TYPICAL_CLAIMS} volumes", names_for(TYPICAL_CLAIMS)
        found = [measure(extender, what, verb, question, N_CALLS, callers) for verb in ("prioritize", "filter")]
        return max(found, key=lambda figures: figures.p50_ms)

    one, several = worst(1), worst(CALLERS)
    figures = {
        "p50_ms": one.p50_ms,
        "p99_ms": one.p99_ms,
        "per_second": several.per_second,
        "rss_mib": resident_mib,
        "p99_ms_of_four_callers": several.p99_ms,
        "cpu_ms": one.cpu_ms,
    }
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps({name: round(value, 3) for name, value in figures.items()}, indent=2) + "\n")
    print(REPORT.read_text())


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
