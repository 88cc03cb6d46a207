"""The programs of other projects that the chart has beside the controller, as their containers run them."""

import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from chart.chart import containers, render
from cluster import tools
from cluster.process import Process

from .driver_world import Controller, World

CONTAINERS = ("csi-provisioner", "csi-attacher", "csi-resizer", "csi-snapshotter")
LINES = 12  # of each log, where a test has failed
WRITERS = 16  # Kubernetes' controllers write from many goroutines


def arguments(name: str, world: World, controller: Controller) -> list[str]:
    """Those that the chart gives to the container, and where to find API server and driver."""
    given = next(c["args"] for c in containers(render({}, world.namespace)) if c["name"] == name)
    return [*given, f"--csi-address={controller.socket}", f"--kubeconfig={world.apiserver.kubeconfig}"]


def each(work: Callable, items: Iterable) -> None:
    """Side by side, as Kubernetes' controllers write."""
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(work, items))


class Sidecars:
    """One that ends is started again, as kubelet does: all of them end when they lose their lease or the driver."""

    def __init__(self, folder: Path, programs: dict[str, list[str]]):
        """`programs`: the arguments of each, by its name."""
        self.folder, self.programs = folder, programs
        self.ended = threading.Event()
        self.processes: dict[str, subprocess.Popen] = {}
        self.threads = [threading.Thread(target=self._run, args=(name,)) for name in programs]

    def __enter__(self) -> "Sidecars":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, kind, failure, trace) -> None:
        self.ended.set()
        while any(thread.is_alive() for thread in self.threads):
            for process in self.processes.values():
                process.kill()
            self.threads[0].join(0.01)
        for name in self.programs if failure else []:
            failure.add_note("\n".join([f"the end of {self._log(name)}:", *self._log(name).read_text().splitlines()[-LINES:]]))

    @contextmanager
    def unaware(self, name: str) -> Iterator[None]:
        """What is written meanwhile is all there when it looks: this machine's writers are slow, and would be measured."""
        process = self.processes[name]
        Process.of(process.pid).stop()
        try:
            yield
        finally:
            process.send_signal(signal.SIGCONT)

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _run(self, name: str) -> None:
        words = ["setpriv", "--pdeathsig", "KILL", tools.folder() / name, *self.programs[name]]
        while not self.ended.is_set():
            with open(self._log(name), "ab") as log:
                self.processes[name] = subprocess.Popen(words, stdout=log, stderr=log)
            self.processes[name].wait()
            self.ended.wait(1)
