"""The certificate of the webhook that the leader makes: it is right for the extender's Service, it is replaced without a call that
fails, and it comes again whatever somebody does to it."""

import base64
import ssl
import subprocess
import urllib.request
from pathlib import Path

import pytest
from cluster.waiting import until
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException

from .driver_world import Controller, World
from .placement_webhook import attached
from .webhook_certificate import ACCOUNT, CONFIGURATION, SECRET, Callers, Installation, running


@pytest.fixture(scope="module")
def installation(apiserver, tmp_path_factory):
    objects = attached(apiserver)
    next(objects)
    with World(tmp_path_factory.mktemp("certificate"), apiserver) as world, \
            Installation(world, apiserver, tmp_path_factory.mktemp("webhook")) as installation:
        yield installation
    next(objects, None)


@pytest.fixture(scope="module")
def extender(installation):
    """It is there before its certificate is."""
    with installation.extender() as extender:
        until(extender.listens, "it serves kube-scheduler")
        until(lambda: "gets no answer until there is a certificate" in extender.log.read_text(), "it waits")
        assert not extender.is_ready()
        yield extender


# ---- the first one ----

def test_there_is_one_soon_after_the_installation(installation, extender, tmp_path):
    assert not installation.gates()  # and nobody waits for it
    with running(installation) as controller:
        until(installation.gates, "the first gate", 30)
        until(extender.is_ready, "the extender is ready")
        begins, ends = (metric(controller, f"azuredisk_webhook_certificate_not_{what}_seconds") for what in ("before", "after"))
    secret = installation.secret()
    assert secret.type == "kubernetes.io/tls" and set(secret.data) == {"ca.crt", "tls.crt", "tls.key"}
    assert [(owner.kind, owner.name) for owner in secret.metadata.owner_references] == [
        ("MutatingWebhookConfiguration", CONFIGURATION)]
    assert installation.bundle() == installation.text("ca.crt")
    assert (begins, ends) == term(installation.text("tls.crt"), tmp_path)
    assert ends - begins == 90 * 24 * 3600 + 300
    said = controller.log.read_text()
    assert "PRIVATE KEY" not in said and secret.data["tls.key"][:40] not in said


def test_it_is_for_the_extenders_service(installation, tmp_path):
    paths = {name: tmp_path / name for name in ("ca.crt", "tls.crt", "tls.key")}
    for name, path in paths.items():
        path.write_text(installation.text(name))
    verify = ["openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-verify_hostname", installation.host, "-CAfile",
              paths["ca.crt"], paths["tls.crt"]]
    subprocess.run(verify, check=True, capture_output=True)
    keys = [["openssl", "x509", "-noout", "-pubkey", "-in", paths["tls.crt"]],
            ["openssl", "pkey", "-pubout", "-in", paths["tls.key"]]]
    first, second = (subprocess.run(words, check=True, capture_output=True).stdout for words in keys)
    assert first == second


def test_whoever_applies_the_chart_again_does_not_take_it_away(installation, extender):
    bundle = installation.bundle()
    for words in (), ("--server-side", "--field-manager=somebody"):
        installation.apply(*words)
        assert installation.bundle() == bundle


# ---- rotations ----

def test_no_call_fails_for_a_rotation(installation, extender, tmp_path):
    """From that of an earlier chart, by Helm and for ten years, and by ever shorter durations."""
    former = install_former(installation, tmp_path)
    until(installation.gates, "a gate")
    bundles = []
    with Callers(installation) as callers:
        certificate = former
        for duration in "2160h", "24h", "1h":
            with running(installation, f"--placement-certificate-duration={duration}"):
                certificate = installation.until_another_is_used(certificate)
                until(lambda: "next-tls.key" not in installation.secret().data, "the end of the rotation")
                bundles.append(installation.bundle())
    assert callers.failed == [] and callers.pods > 100 and callers.connections > 100
    assert set(callers.bundles) == {1, 2}
    authority = (tmp_path / "former/ca.crt").read_text()
    assert [authority in bundle for bundle in bundles] == [True, False, False]


# ---- what somebody does to it ----

def broken_pair(installation, tmp_path):
    return {"data": {"tls.crt": base64.b64encode(b"nonsense").decode()}}


def foreign_key(installation, tmp_path):
    done = subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
                          check=True, capture_output=True)
    return {"data": {"tls.key": base64.b64encode(done.stdout).decode()}}


def emptied(installation, tmp_path):
    return {"data": {"tls.crt": "", "tls.key": "", "ca.crt": None}}


@pytest.mark.parametrize("change", [broken_pair, foreign_key, emptied])
def test_one_that_is_broken_is_made_anew(installation, extender, tmp_path, change):
    with running(installation, "--placement-certificate-duration=1h"):
        before = installation.text("tls.crt")
        installation.core.patch_namespaced_secret(SECRET, installation.release.namespace, change(installation, tmp_path))
        installation.until_another_is_used(before)
        assert installation.gates()


def test_one_that_was_deleted_is_made_anew(installation, extender):
    with running(installation, "--placement-certificate-duration=1h"):
        before = installation.text("tls.crt")
        installation.core.delete_namespaced_secret(SECRET, installation.release.namespace)
        until(lambda: exists(installation), "another Secret")
        installation.until_another_is_used(before)
        assert installation.gates()


@pytest.mark.parametrize("bundle", ["", base64.b64encode(b"nonsense").decode(), "the former"])
def test_an_authority_that_was_taken_away_comes_again(installation, extender, tmp_path, bundle):
    with running(installation, "--placement-certificate-duration=1h"):
        before = installation.text("tls.crt")
        if bundle == "the former":
            bundle = base64.b64encode((make_former(installation, tmp_path) / "ca.crt").read_bytes()).decode()
        try:
            patch_bundle(installation, bundle)
        except ApiException as refusal:  # of a server that reads what it is told to trust
            assert refusal.status == 422
        until(lambda: installation.text("ca.crt") in installation.bundle(), "it is trusted again", 30)
        until(installation.gates, "a gate")
        assert installation.text("tls.crt") == before


def test_a_configuration_that_is_not_there_needs_none(installation, extender):
    """And the next one gets what there is."""
    with running(installation, "--placement-certificate-duration=1h") as controller:
        installation.release.kubectl("delete", "--filename=-", objects=installation.configurations())
        before = installation.secret().metadata.resource_version
        installation.apply()
        until(lambda: installation.text("ca.crt") in installation.bundle(), "it is trusted", 30)
        assert installation.secret().metadata.resource_version == before
        assert "keeping the certificate" not in controller.said()


def test_what_has_changed_meanwhile_is_not_overwritten(installation):
    """As the leader patches the configuration."""
    version = installation.hooks.read_mutating_webhook_configuration(CONFIGURATION).metadata.resource_version
    patch = [{"op": "replace", "path": "/metadata/resourceVersion", "value": version},
             {"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": ""}]
    patch_bundle(installation, base64.b64encode((installation.bundle() + "\n").encode()).decode())
    before = installation.bundle()
    with pytest.raises(ApiException) as refusal:
        installation.hooks.patch_mutating_webhook_configuration(CONFIGURATION, patch)
    assert refusal.value.status == 409 and installation.bundle() == before


# ---- what the controller may do ----

def test_the_account_makes_no_other_secret(installation):
    """One with a token of another account above all."""
    core = client.CoreV1Api(config.new_client_from_config(str(installation.kubeconfig)))
    token = {"metadata": {"name": SECRET, "annotations": {"kubernetes.io/service-account.name": ACCOUNT}},
             "type": "kubernetes.io/service-account-token"}
    other = {"metadata": {"name": "other"}, "type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}}
    nameless = {"metadata": {"generateName": SECRET}, "type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}}
    for secret in token, other, nameless:
        with pytest.raises(ApiException, match="the controller makes one Secret") as refusal:
            core.create_namespaced_secret(installation.release.namespace, secret)
        assert refusal.value.status == 403


# ---- what an earlier chart has left ----

def make_former(installation: Installation, folder: Path) -> Path:
    """An authority for ten years, and what it has issued, with RSA keys: in a folder."""
    pki = folder / "former"
    pki.mkdir()
    begin = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650"]
    signer = ["-CA", pki / "ca.crt", "-CAkey", pki / "ca.key"]
    extensions = [f"subjectAltName=DNS:{installation.host}", "basicConstraints=critical,CA:FALSE", "extendedKeyUsage=serverAuth"]
    added = [word for extension in extensions for word in ("-addext", extension)]
    for name, more in ("ca", []), ("tls", [*signer, *added]):
        subprocess.run([*begin, "-subj", f"/CN={name}", "-keyout", pki / f"{name}.key", "-out", pki / f"{name}.crt", *more],
                       check=True, capture_output=True)
    return pki


def install_former(installation: Installation, folder: Path) -> str:
    """Its certificate, which the extender uses."""
    pki = make_former(installation, folder)
    data = {name: base64.b64encode((pki / name).read_bytes()).decode() for name in ("ca.crt", "tls.crt", "tls.key")}
    patch_bundle(installation, data["ca.crt"])
    installation.core.delete_namespaced_secret(SECRET, installation.release.namespace)
    installation.core.create_namespaced_secret(installation.release.namespace, {
        "metadata": {"name": SECRET, "annotations": {"meta.helm.sh/release-name": "release"}},
        "type": "kubernetes.io/tls", "data": data})
    certificate = (pki / "tls.crt").read_text()
    until(lambda: installation.is_used(certificate), "the extender shows it")
    return certificate


def patch_bundle(installation: Installation, bundle: str) -> None:
    patch = [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle}]
    installation.hooks.patch_mutating_webhook_configuration(CONFIGURATION, patch)


def exists(installation: Installation) -> bool:
    try:
        return bool(installation.secret())
    except ApiException:
        return False


def term(certificate: str, folder: Path) -> tuple[float, float]:
    path = folder / "certificate"
    path.write_text(certificate)
    said = subprocess.run(["openssl", "x509", "-noout", "-dates", "-in", path], check=True, capture_output=True, text=True).stdout
    begins, ends = (ssl.cert_time_to_seconds(line.partition("=")[2]) for line in said.splitlines())
    return begins, ends


def metric(controller: Controller, name: str) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{controller.metrics}/metrics", timeout=30) as answer:
        [value] = [line.split()[1] for line in answer.read().decode().splitlines() if line.startswith(f"{name} ")]
    return float(value)
