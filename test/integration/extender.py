"""The scheduler extender as a process, and the calls that kube-scheduler makes to it."""

import http.client
import json
import signal
import ssl
import subprocess
from pathlib import Path

from cluster.waiting import until

from .apiserver import free_port
from .placement import pod

TREE = Path(__file__).parents[2]
CHECKED = TREE / "build/checked/bin/azdisk-scheduler-extender"
SHIPPED = TREE / "build/bin/azdisk-scheduler-extender"


class Extender:
    """Runs from its construction to close(), or to the end of a with statement."""

    def __init__(self, log: Path, *flags: str, kubeconfig: Path, program: Path = CHECKED):
        self.port, self.metrics_port = free_port(), free_port()
        self.ca: Path | None = None  # of its certificate, when it serves TLS
        self.certificate: tuple[Path, Path] | None = None  # that it is shown, and its key
        self.log = log
        self.killed = False
        words = [
            *("setpriv", "--pdeathsig", "KILL"),  # it dies with this process, however that ends
            program,
            f"--address=127.0.0.1:{self.port}",
            f"--metrics-address=127.0.0.1:{self.metrics_port}",
            f"--kubeconfig={kubeconfig}",
            *flags,
        ]
        with open(log, "ab") as output:
            self.process = subprocess.Popen(words, stdout=output, stderr=output)

    def __enter__(self) -> "Extender":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """It must end well, and so must what its sanitizers have to say."""
        if self.killed:
            return
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(30)
        assert status == 0, f"status {status}: {self.log.read_text()[-4000:]}"

    def kill(self) -> None:
        self.killed = True
        self.process.kill()
        self.process.wait()

    def request(
        self, method: str, path: str, body: bytes | None = None, port: int | None = None
    ) -> tuple[int, bytes]:
        """Status and body of the answer."""
        if self.ca and not port:
            context = ssl.create_default_context(cafile=self.ca)
            if self.certificate:
                context.load_cert_chain(*self.certificate)
            link = http.client.HTTPSConnection("localhost", self.port, timeout=60, context=context)
        else:
            link = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=60)
        try:
            link.request(method, path, body, {"Content-Type": "application/json"})
            answer = link.getresponse()
            return answer.status, answer.read()
        finally:
            link.close()

    def listens(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()[-4000:]
        try:
            self.request("GET", "/ping")
            return True
        except OSError:
            return False

    def is_ready(self) -> bool:
        return self.listens() and self.request("GET", "/readyz", port=self.metrics_port)[0] == 200

    def until_ready(self) -> "Extender":
        until(self.is_ready, "readiness of the extender")
        return self

    def metrics(self) -> dict[str, float]:
        text = self.request("GET", "/metrics", port=self.metrics_port)[1].decode()
        lines = (line.rpartition(" ") for line in text.splitlines() if line[0] != "#")
        return {series: float(value) for series, _, value in lines}

    # ---- as kube-scheduler calls it ----

    def ask(self, verb: str, arguments: dict):
        status, answer = self.request("POST", f"/{verb}", json.dumps(arguments).encode())
        assert status == 200, answer
        return json.loads(answer)

    def scores(self, claims: list[str], nodes: list[str]) -> list[int]:
        """In the order of the nodes; that those with a score are answered in that order is checked. One that is not in the
        answer gets nothing from kube-scheduler."""
        arguments = {"Pod": pod("asking", claims), "Nodes": None, "NodeNames": nodes}
        answer = {entry["Host"]: entry["Score"] for entry in self.ask("prioritize", arguments)}
        assert list(answer) == [node for node in nodes if node in answer] and 0 not in answer.values()
        return [answer.get(node, 0) for node in nodes]

    def refused(self, claims: list[str], nodes: list[str]) -> dict[str, str]:
        """The nodes that it filters out, and why; that the others are passed is checked."""
        arguments = {"Pod": pod("asking", claims), "Nodes": None, "NodeNames": nodes}
        answer = self.ask("filter", arguments)
        failed = answer["FailedNodes"]
        assert answer["NodeNames"] == [node for node in nodes if node not in failed]
        assert answer["Nodes"] is None and answer["Error"] == ""
        return failed
