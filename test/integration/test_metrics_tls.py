"""Metrics over TLS: each program, without a cluster, with the files of a Secret as kubelet shows them."""

import http.client
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.authority import Authority
from cluster.waiting import until

from .apiserver import free_port
from .test_startup import CONTROLLER, EXTENDER, NODE, command

SERVER = "csi-azuredisk-metrics.kube-system.svc"


def made(folder: Path) -> Authority:
    """Of the programs, and of those who may read their metrics."""
    authority = Authority(folder / "pki", "")
    authority.create()
    authority.certificate("server", "/CN=metrics", f"DNS:{SERVER}", usage="serverAuth")
    authority.certificate("reader", "/CN=prometheus", usage="clientAuth")
    return authority


@pytest.fixture(scope="module")
def authorities(tmp_path_factory) -> tuple[Authority, Authority]:
    """The second takes the place of the first."""
    return made(tmp_path_factory.mktemp("first")), made(tmp_path_factory.mktemp("second"))


class Mount:
    """A Secret's volume: all files change at once."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir()

    def show(self, authority: Authority) -> None:
        version = self.folder / authority.folder.parent.name
        version.mkdir()
        for name, source in ("tls.crt", "server.crt"), ("tls.key", "server.key"), ("ca.crt", "ca.crt"):
            (version / name).write_bytes(authority.path(source).read_bytes())
        link = self.folder / "new"
        link.symlink_to(version)
        link.rename(self.folder / "data")

    def flags(self) -> dict[str, Path]:
        data = self.folder / "data"
        return {"metrics-tls-cert-file": data / "tls.crt", "metrics-tls-key-file": data / "tls.key",
                "metrics-client-ca-file": data / "ca.crt", "tls-reload-interval": "100ms"}


class Program:
    def __init__(self, name: str, folder: Path, mount: Mount):
        self.mount = mount
        self.log, self.health, self.metrics = folder / "log", free_port(), free_port()
        addresses = {"health-address": f"127.0.0.1:{self.health}", "metrics-address": f"127.0.0.1:{self.metrics}"}
        words = ["setpriv", "--pdeathsig", "KILL", *command(name, folder, addresses | mount.flags()), "--v=5"]
        with open(self.log, "wb") as output:
            self.process = subprocess.Popen(words, stdout=output, stderr=output)

    def get(self, path: str, port: int, context: ssl.SSLContext | None = None) -> tuple[int, str]:
        """By a new connection: plain HTTP without a context."""
        assert self.process.poll() is None, self.log.read_text()
        link = Named("127.0.0.1", port, timeout=30, context=context) if context else \
            http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            link.request("GET", path)
            answer = link.getresponse()
            return answer.status, answer.read().decode()
        finally:
            link.close()

    def answers(self, trusted: Authority, shown: Authority | None) -> bool:
        context = ssl.create_default_context(cafile=trusted.path("ca.crt"))
        if shown:
            context.load_cert_chain(shown.path("reader.crt"), shown.path("reader.key"))
        try:
            status, text = self.get("/metrics", self.metrics, context)
        except (OSError, http.client.HTTPException):
            return False
        return status == 200 and "# TYPE azuredisk_kube_watch_failures_total counter\n" in text

    def end(self) -> int:
        self.process.terminate()
        return self.process.wait(60)


class Named(http.client.HTTPSConnection):
    """Calls an address, and expects the name of its certificate there, as Prometheus does with serverName."""

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        self.sock = self._context.wrap_socket(self.sock, server_hostname=SERVER)


@pytest.fixture(params=(CONTROLLER, NODE, EXTENDER))
def program(request, tmp_path, authorities) -> Iterator[Program]:
    mount = Mount(tmp_path / "mount")
    mount.show(authorities[0])
    program = Program(request.param, tmp_path, mount)
    try:
        yield program
    finally:
        program.process.kill()
        program.process.wait()


def test_metrics_are_read_by_https(program, authorities):
    first, second = authorities
    until(lambda: program.answers(first, first), "metrics by HTTPS")
    assert not program.answers(first, None), "a reader without a certificate"
    assert not program.answers(first, second), "a reader of another authority"
    with pytest.raises((OSError, http.client.HTTPException)):
        program.get("/metrics", program.metrics)
    assert program.get("/healthz", program.health) == (200, "ok\n"), "kubelet has no certificate"
    assert program.get("/metrics", program.health)[0] == 404

    program.mount.show(second)
    until(lambda: program.answers(second, second), "the new certificate, for the new readers")
    assert not program.answers(first, first)

    assert program.end() == 0, program.log.read_text()
    said = program.log.read_text()
    assert "the certificates for readers of metrics have changed" in said
    for authority in authorities:
        assert not [line for line in authority.path("server.key").read_text().splitlines() if line in said]
