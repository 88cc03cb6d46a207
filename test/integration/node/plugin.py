"""azdisk-node as a process on a machine, and the calls that kubelet makes to it.

The program is the one with sanitizers that `make checked-programs` builds, or that of the
environment variable AZDISK_NODE."""

import contextlib
import http.client
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import grpc
from cluster.process import Process, everyone, kill_all
from cluster.waiting import Timeout, until

from ..csi import TREE, Caller, Csi, mounted
from .machine import Machine

CHECKED = Path(os.environ.get("AZDISK_NODE", TREE / "build/checked/bin/azdisk-node"))
DRIVER = "disk.csi.azure.com"
HEALTH_PORT = 29603
ANSWER_S = 10  # of a plug-in that is there, on a loaded machine


def _session(leader: int) -> list[Process]:
    """A program that the plug-in has started, and what that has started."""
    def belongs(pid: int) -> bool:
        try:
            return pid == leader or os.getsid(pid) == leader
        except ProcessLookupError:
            return False

    found = (Process.of(pid) for pid in everyone() if belongs(pid))
    return [process for process in found if process]


class NodePlugin:
    """Made once for a node; started, stopped and killed as often as one likes."""

    def __init__(self, machine: Machine, folder: Path, kubeconfig: Path, node: str, driver: str = DRIVER,
                 health_port: int = HEALTH_PORT):
        self.driver, self.health_port = driver, health_port
        self.machine, self.folder, self.node, self.kubeconfig = machine, folder, node, kubeconfig
        self.log = folder / "azdisk-node.log"
        self.csi_socket = folder / "csi.sock"
        self.registration_socket = folder / f"{driver}-reg.sock"
        self.process: subprocess.Popen | None = None
        self._pool = ThreadPoolExecutor(16)
        self._connect()

    # ---- its life ----

    def start(self, *flags: str, environment: dict | None = None, program: Path = CHECKED,
              through: Sequence[str | Path] = ()):
        """`through` is the command of a program that becomes this one."""
        words = [
            program,
            f"--node-id={self.node}",
            f"--endpoint=unix://{self.csi_socket}",
            f"--registration-dir={self.folder}",
            f"--kubeconfig={self.kubeconfig}",
            f"--driver-name={self.driver}",
            f"--health-address=127.0.0.1:{self.health_port}",
            "--metrics-address=",
            "--kubelet-endpoint=/var/lib/kubelet/plugins/csi.sock",
            "--v=5",
            *flags,
        ]
        tied = ["setpriv", "--pdeathsig", "KILL"]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.machine.command(*tied, *through, *words), stdout=log, stderr=log,
                env={**os.environ, **(environment or {})}, start_new_session=True,
            )  # fmt: skip
        self._disconnect()
        self._connect()
        return self

    def serve(self, *flags: str, **kwargs):
        """Started, and listening."""
        self.start(*flags, **kwargs)
        self._until(self._listens, "the plug-in's socket")
        return self

    def run(self, *flags: str, **kwargs):
        """Started, registered, and ready for volumes."""
        self.serve(*flags, **kwargs)
        self.register()
        self._until(lambda: self.get("/readyz")[0] == 200, "readiness of the plug-in")
        return self

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        """Waits for the condition as long as the program runs."""

        def check() -> bool:
            assert self.process.poll() is None, f"status {self.process.returncode}: {self.said()}"
            return condition()

        try:
            until(check, what)
        except Timeout as failure:
            raise Timeout(f"{failure}; its log:\n{self.said()}") from failure

    def said(self) -> str:
        """The end of its log."""
        return self.log.read_text()[-4000:]

    def stop(self) -> int:
        """By SIGTERM; the exit status."""
        self._disconnect()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def kill(self) -> None:
        self._disconnect()
        self.process.kill()
        self.process.wait()

    def kill_all(self) -> None:
        """With what it has started, as when its container ends; nothing of it is left then, nor of its ports."""
        Process.of(self.process.pid).stop()  # it starts nothing more
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        started = [process for child in children for process in _session(int(child))]
        self.kill()
        kill_all(started)

    def until_it_waits_for_a_disk(self) -> None:
        """One of its threads is in a system call that ends when a frozen disk has taken its writes."""
        until(lambda: self._a_thread(lambda t: (t / "stat").read_text().rpartition(")")[2].split()[0] == "D"),
              "a thread that waits for the disk")  # fmt: skip

    def until_it_waits_for_a_folder(self) -> None:
        """One of its threads is in a system call that ends when a frozen file system takes changes again; it may wait
        for other disks before."""
        until(lambda: self._a_thread(lambda t: (t / "wchan").read_text().startswith("percpu_rwsem_wait")),
              "a thread that waits for the file system")  # fmt: skip

    def _a_thread(self, matches) -> bool:
        with contextlib.suppress(OSError):  # a thread that ends meanwhile
            return any(matches(thread) for thread in Path(f"/proc/{self.process.pid}/task").iterdir())
        return False

    def close(self) -> None:
        """It must end well, and so must what its sanitizers have to say."""
        if self.process and self.process.poll() is None:
            status = self.stop()
            assert status == 0, f"status {status}: {self.said()}"
        self._disconnect()
        self._pool.shutdown()
        text = self.log.read_text() if self.log.exists() else ""
        assert "Sanitizer" not in text and "runtime error" not in text, text[-8000:]

    def _listens(self) -> bool:
        try:
            self.csi.call("Identity/Probe", timeout=ANSWER_S)
            return True
        except grpc.RpcError:
            return False

    # ---- how it is reached ----

    def _connect(self) -> None:
        self.csi = Csi(self.csi_socket)
        self.registration = Caller(
            self.registration_socket, "lib/api/pluginregistration.proto", "pluginregistration"
        )

    def _disconnect(self) -> None:
        self.csi.close()
        self.registration.close()

    def get(self, path: str) -> tuple[int, str]:
        """From its HTTP server; status 0 if that does not answer."""

        def ask() -> tuple[int, str]:
            link = http.client.HTTPConnection("127.0.0.1", self.health_port, timeout=ANSWER_S)
            try:
                link.request("GET", path)
                answer = link.getresponse()
                return answer.status, answer.read().decode()
            except OSError as failure:
                return 0, str(failure)
            finally:
                link.close()

        return self.machine.in_network(ask)

    def metrics(self) -> dict[str, float]:
        lines = (line.rpartition(" ") for line in self.get("/metrics")[1].splitlines() if line[0] != "#")
        return {series: float(value) for series, _, value in lines}

    # ---- as kubelet calls it ----

    def register(self, registered: bool = True, error: str = "") -> None:
        self.registration.call(
            "Registration/NotifyRegistrationStatus", plugin_registered=registered, error=error
        )

    def later(self, call, *arguments, **kwargs) -> Future:
        return self._pool.submit(call, *arguments, **kwargs)

    def stage(self, volume: str, path: Path, capability=None, timeout: float = 60, **context: str):
        return self.csi.call(
            "Node/NodeStageVolume", timeout, volume_id=volume, staging_target_path=str(path),
            volume_capability=capability or mounted(), volume_context=context,
        )  # fmt: skip

    def unstage(self, volume: str, path: Path, timeout: float = 120):
        return self.csi.call(
            "Node/NodeUnstageVolume", timeout, volume_id=volume, staging_target_path=str(path)
        )

    def publish(
        self, volume: str, staging: Path, target: Path, capability=None, readonly=False, **context: str
    ):  # fmt: skip
        return self.csi.call(
            "Node/NodePublishVolume", 120, volume_id=volume, staging_target_path=str(staging),
            target_path=str(target), volume_capability=capability or mounted(), readonly=readonly,
            volume_context=context,
        )  # fmt: skip

    def unpublish(self, volume: str, target: Path):
        return self.csi.call("Node/NodeUnpublishVolume", volume_id=volume, target_path=str(target))

    def info(self, timeout: float = 60):
        return self.csi.call("Node/NodeGetInfo", timeout)

    # ---- conditions ----

    def knows_attachments(self, n: int) -> None:
        """Waits until the plug-in has heard of so many attachments of its node."""
        series = 'azuredisk_slots{kind="used"}'
        until(lambda: self.metrics().get(series) == n, f"{n} attachments in the plug-in's cache")

    def has_proven(self, n: int) -> None:
        """Waits until it has looked at so many devices, and decided what may be done with them."""
        series = 'azuredisk_stage_duration_seconds_count{phase="prove"}'
        until(lambda: self.metrics().get(series) == n, f"{n} proofs")


def until_done(call, *arguments, seconds: float = 120) -> None:
    """As kubelet calls: again and again, whatever the answer is."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            call(*arguments)
            return
        except grpc.RpcError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
