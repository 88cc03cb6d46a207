"""The scheduler extender with certificates: it answers those who are vouched for, and tells nobody else anything."""

import http.client
import shutil
import ssl
from pathlib import Path

import pytest
from cluster.authority import Authority
from cluster.waiting import until

from .extender import Extender
from .placement import Placement

NODES = ["a", "b"]


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Of the extender, and of those who may call it."""
    authority = Authority(tmp_path_factory.mktemp("authority") / "pki", "")
    authority.create()
    authority.certificate("extender", "/CN=extender", usage="serverAuth")
    authority.certificate("scheduler", "/CN=scheduler", usage="clientAuth")
    authority.certificate("any", "/CN=any")
    return authority


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    authority = Authority(tmp_path_factory.mktemp("stranger") / "pki", "")
    authority.create()
    authority.certificate("scheduler", "/CN=scheduler", usage="clientAuth")
    return authority


@pytest.fixture(scope="module")
def objects(apiserver):
    placement = Placement(apiserver.client())
    placement.install()
    for node in NODES:
        placement.plugin(node)
    placement.bound("one")
    placement.attachment("one", "a", "Attached")
    yield placement
    placement.clear()


def pair(authority: Authority, name: str) -> tuple[Path, Path]:
    return authority.path(f"{name}.crt"), authority.path(f"{name}.key")


def flags(certificate: Path, key: Path) -> tuple[str, str]:
    return f"--tls-cert-file={certificate}", f"--tls-key-file={key}"


def test_without_an_authority_of_clients_anybody_may_call(apiserver, objects, authority, tmp_path):
    words = flags(*pair(authority, "extender"))
    with Extender(tmp_path / "log", *words, kubeconfig=apiserver.kubeconfig) as extender:
        extender.ca = authority.path("ca.crt")
        extender.until_ready()
        assert extender.scores(["one"], NODES) == [10, 0]


@pytest.fixture
def guarded(apiserver, objects, authority, tmp_path):
    words = *flags(*pair(authority, "extender")), f"--client-ca-file={authority.path('ca.crt')}"
    with Extender(tmp_path / "log", *words, kubeconfig=apiserver.kubeconfig) as extender:
        extender.ca, extender.certificate = authority.path("ca.crt"), pair(authority, "scheduler")
        yield extender.until_ready()


def test_those_who_are_vouched_for_are_answered(guarded, authority):
    for name in ("scheduler", "any"):
        guarded.certificate = pair(authority, name)
        assert guarded.scores(["one"], NODES) == [10, 0]


def test_strangers_get_nothing(guarded, authority, stranger):
    for certificate in (None, pair(stranger, "scheduler"), pair(authority, "extender")):
        guarded.certificate = certificate
        for method, path in (("GET", "/ping"), ("POST", "/prioritize")):
            with pytest.raises((ssl.SSLError, OSError, http.client.HTTPException)):
                guarded.request(method, path, b"{}")
    guarded.ca = None  # plain HTTP
    with pytest.raises((OSError, http.client.HTTPException)):
        guarded.request("GET", "/ping")


def test_health_needs_no_certificate(guarded):
    """kubelet has none."""
    assert guarded.request("GET", "/readyz", port=guarded.metrics_port) == (200, b"ok\n")


def test_new_certificates_are_used(apiserver, objects, authority, stranger, tmp_path):
    certificate, key, ca = tmp_path / "tls.crt", tmp_path / "tls.key", tmp_path / "ca.crt"
    for path, source in zip((certificate, key), pair(authority, "extender")):
        shutil.copy(source, path)
    shutil.copy(authority.path("ca.crt"), ca)
    words = *flags(certificate, key), f"--client-ca-file={ca}", "--tls-reload-interval=100ms"
    with Extender(tmp_path / "log", *words, kubeconfig=apiserver.kubeconfig) as extender:
        extender.ca, extender.certificate = authority.path("ca.crt"), pair(authority, "scheduler")
        extender.until_ready()

        key.write_text("not yet written")
        until(lambda: "continuing with the certificates read before" in extender.log.read_text(), "a warning")
        assert extender.scores(["one"], NODES) == [10, 0]
        shutil.copy(pair(authority, "extender")[1], key)

        shutil.copy(stranger.path("ca.crt"), ca)
        until(lambda: "serving with the new ones" in extender.log.read_text(), "the new ones are used")
        with pytest.raises((ssl.SSLError, OSError, http.client.HTTPException)):
            extender.request("GET", "/ping")
        extender.certificate = pair(stranger, "scheduler")
        assert extender.scores(["one"], NODES) == [10, 0]
