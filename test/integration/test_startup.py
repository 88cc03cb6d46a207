"""What a program says when it cannot start: one line, which names the flag or the file and the reason.

A wrong command line ends with status 2; what only shows when the program begins to work, with status 1.
The programs are those with sanitizers, so an unclean way out would show as well.
"""

import json
import os
import re
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from azsim import simulator
from kubernetes import client

from . import custom_resources
from .apiserver import free_port

BIN = Path(__file__).parents[2] / "build/checked/bin"
CONTROLLER, NODE, EXTENDER, AZSIM = (
    "azdisk-controller", "azdisk-node", "azdisk-scheduler-extender", "azsim")
PROGRAMS = (CONTROLLER, NODE, EXTENDER, AZSIM)

SECRET = "hunter2-do-not-print"
NOT_OF_PROGRAM = re.compile(r"==\d+==WARNING: ASan doesn't fully support makecontext/swapcontext")


# ---- files ----

def file(name: str, content: str | bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def missing(folder: Path) -> Path:
    return folder / "missing"


def kubeconfig(cluster: dict | None = None, user: dict | None = None) -> Callable[[Path], Path]:
    """Of an API server that does not answer, with changes."""
    document = {
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"} | (cluster or {})}],
        "users": [{"name": "u", "user": {"token": SECRET} if user is None else user}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }
    return file("kubeconfig", yaml.safe_dump(document))


AZURE = {
    "tenantId": simulator.TENANT, "subscriptionId": simulator.SUBSCRIPTION, "resourceGroup": "rg",
    "location": "eastus", "aadClientId": simulator.CLIENT, "aadClientSecret": SECRET,
}


def azure_json(**changes) -> Callable[[Path], Path]:
    """With changes; None takes a member out."""
    members = {name: value for name, value in (AZURE | changes).items() if value is not None}
    return file("azure.json", json.dumps(members))


def vms_json(**changes) -> Callable[[Path], Path]:
    config = simulator.describe([{"name": "vm", "size": "Standard_D4s_v5", "zone": "1"}])
    config["clients"][0]["clientSecret"] = SECRET
    return file("vms.json", json.dumps(config | changes))


def certificate(folder: Path) -> tuple[Path, Path]:
    paths = folder / "tls.crt", folder / "tls.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                    "-nodes", "-subj", "/CN=x", "-keyout", paths[1], "-out", paths[0]],
                   check=True, capture_output=True)
    return paths


def other_key(folder: Path) -> Path:
    (folder / "other").mkdir()
    return certificate(folder / "other")[1]


# ---- runs ----

# What every program can start with, but for what a row changes.
GOOD = {
    CONTROLLER: {"kubeconfig": kubeconfig(), "cloud-config": azure_json(), "cloud-config-secret-name": "",
                 "endpoint": lambda folder: folder / "csi.sock"},
    NODE: {"kubeconfig": kubeconfig(), "node-id": "node-a", "registration-dir": lambda folder: folder,
           "endpoint": lambda folder: folder / "csi.sock"},
    EXTENDER: {"kubeconfig": kubeconfig(), "address": "127.0.0.1:0"},
    AZSIM: {"config": vms_json(), "state-dir": lambda folder: folder / "state", "address": "127.0.0.1:0"},
}
LISTENING = {CONTROLLER: ("health-address", "metrics-address"), NODE: ("health-address", "metrics-address"),
             EXTENDER: ("health-address", "metrics-address"), AZSIM: ()}


def command(program: str, folder: Path, changes: dict) -> list[str]:
    flags = GOOD[program] | dict.fromkeys(LISTENING[program], "127.0.0.1:0") | changes
    words = [str(BIN / program)]
    for name, value in flags.items():
        if value is not None:
            words.append(f"--{name}={value(folder) if callable(value) else value}")
    return words


def run(words: list[str], **environment: str) -> tuple[int, str, str]:
    """Status, output and what it says on stderr, without the line of the sanitizer itself."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=120,
                          env={"PATH": os.environ["PATH"]} | environment)
    lines = [line for line in done.stderr.splitlines() if not NOT_OF_PROGRAM.match(line)]
    return done.returncode, done.stdout, "\n".join(lines)


class Fault(NamedTuple):
    program: str
    changes: dict  # of flags; None takes one away
    words: tuple[str, ...]  # in the line; {folder} is that of the test's files

    def __str__(self) -> str:
        return f"{self.program} {' '.join(self.changes)} {self.words[-1]}"


def check(said: str, words: tuple[str, ...], folder: Path, program: str) -> None:
    assert len(said.splitlines()) == 1, said
    assert said.startswith(f"{program}: ")
    assert not [word for word in words if word.format(folder=folder) not in said], said
    assert SECRET not in said


# ---- the command line ----

USAGE = [
    *(Fault(program, {"no-such": "1"}, ("--no-such", "unknown", "--help")) for program in PROGRAMS),
    *(Fault(program, {"v": "eleven"}, ("--v", '"eleven"', "0 to 10")) for program in PROGRAMS),
    *(Fault(program, {"log-format": "xml"}, ("--log-format", '"xml"', "text, json")) for program in PROGRAMS),
    Fault(CONTROLLER, {"lease-duration": "5"}, ("--lease-duration", '"5"', "300ms, 30s")),
    Fault(CONTROLLER, {"lease-duration": "1ms"}, ("--lease-duration", '"1ms"', "1s")),
    Fault(CONTROLLER, {"lease-renew-deadline": "20s"}, ("--lease-renew-deadline", "--lease-duration")),
    Fault(CONTROLLER, {"on-unpublish": "forget"}, ("--on-unpublish", '"forget"', "demote, detach")),
    Fault(CONTROLLER, {"worker-threads": "0"}, ("--worker-threads", '"0"', "1 to 1000")),
    Fault(NODE, {"node-id": None}, ("--node-id", "KUBE_NODE_NAME", "required")),
    Fault(NODE, {"heartbeat-interval": "soon"}, ("--heartbeat-interval", '"soon"')),
    Fault(EXTENDER, {"tls-cert-file": "/x"}, ("--tls-cert-file", "--tls-key-file", "must be set together")),
    *(Fault(program, changes, words) for program in (CONTROLLER, NODE, EXTENDER) for changes, words in (
        ({"metrics-tls-key-file": "/x"}, ("--metrics-tls-cert-file", "--metrics-tls-key-file", "must be set together")),
        ({"metrics-client-ca-file": "/x"}, ("--metrics-client-ca-file", "requires --metrics-tls-cert-file")),
        ({"metrics-tls-cert-file": "/x", "metrics-tls-key-file": "/x", "metrics-address": ""},
         ("--metrics-tls-cert-file", "requires --metrics-address")))),
    Fault(AZSIM, {"state-dir": None}, ("--state-dir", "missing")),
    Fault(AZSIM, {"config": None}, ("--config", "missing")),
    Fault(AZSIM, {"latency": "attach=soon"}, ("--latency", "attach", "soon")),
]


@pytest.mark.parametrize("fault", USAGE, ids=str)
def test_a_wrong_command_line(tmp_path, fault):
    status, output, said = run(command(fault.program, tmp_path, fault.changes))
    check(said, fault.words, tmp_path, fault.program)
    assert (status, output) == (2, "")


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_no_flag(tmp_path, program):
    for word in ("surprise", "-", ""):
        status, _, said = run([*command(program, tmp_path, {}), word])
        check(said, (f'unexpected argument "{word}"',), tmp_path, program)
        assert status == 2
    status, _, said = run([*command(program, tmp_path, {}), "--v"])
    check(said, ("--v needs a value",), tmp_path, program)
    assert status == 2


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_and_version(program):
    version = re.search(r"VERSION \?= (\S+)", (BIN.parents[2] / "Makefile").read_text())[1]
    assert run([str(BIN / program), "--version"]) == (0, f"{program} {version}\n", "")
    status, output, said = run([str(BIN / program), "--help"])
    assert (status, said) == (0, "")
    assert output.startswith(f"{program} - ")
    assert run([str(BIN / program), "-h"]) == (0, output, "")


# ---- files ----

KUBECONFIGS = [
    (missing, ("kubeconfig", "{folder}/missing", "No such file")),
    (lambda folder: folder, ("kubeconfig", "{folder}", "directory")),
    (file("kubeconfig", ""), ("kubeconfig", "{folder}/kubeconfig")),
    (file("kubeconfig", f"token: [{SECRET}"), ("kubeconfig", "{folder}/kubeconfig")),
    (file("kubeconfig", b"\xff\x00"), ("kubeconfig", "{folder}/kubeconfig")),
    (file("kubeconfig", "kind: Config"), ("{folder}/kubeconfig", "current-context is missing")),
    (kubeconfig({"server": "ftp://x"}), ("{folder}/kubeconfig", "cluster", "ftp://x", "https://")),
    (kubeconfig({"server": 5}), ("{folder}/kubeconfig", "server", "not a string")),
    (kubeconfig({"insecure-skip-tls-verify": True}), ("{folder}/kubeconfig", "insecure-skip-tls-verify")),
    (kubeconfig({"certificate-authority": "missing.crt"}),
     ("{folder}/kubeconfig", "certificate-authority", "{folder}/missing.crt", "No such file")),
    (kubeconfig({"certificate-authority-data": "no base64!"}),
     ("{folder}/kubeconfig", "certificate-authority-data", "base64")),
    (kubeconfig({"certificate-authority-data": "aGVsbG8="}), ("{folder}/kubeconfig", "certificate authority", "PEM")),
    (kubeconfig(user={"client-certificate": "missing.crt"}),
     ("{folder}/kubeconfig", "client-certificate", "{folder}/missing.crt")),
    (kubeconfig(user={"client-certificate-data": "aGVsbG8=", "client-key-data": "aGVsbG8="}),
     ("{folder}/kubeconfig", "client certificate", "PEM")),
    (kubeconfig(user={"tokenFile": "missing"}), ("{folder}/kubeconfig", "tokenFile", "{folder}/missing")),
    (kubeconfig(user={"exec": {"command": "x", "apiVersion": "client.authentication.k8s.io/v1alpha1"}}),
     ("{folder}/kubeconfig", "exec.apiVersion", "client.authentication.k8s.io/v1")),
    (kubeconfig({"proxy-url": "proxy:3128"}), ("{folder}/kubeconfig", "proxy-url", "http://")),
]

AZURE_JSONS = [
    (missing, ("{folder}/missing", "No such file")),
    (file("azure.json", f'{{"aadClientSecret": "{SECRET}"'), ("{folder}/azure.json",)),
    (file("azure.json", f'{{"aadClientSecret": {SECRET}'), ("{folder}/azure.json",)),
    (file("azure.json", "[]"), ("{folder}/azure.json",)),
    (azure_json(tenantId=None), ("{folder}/azure.json", "tenantId is missing")),
    (azure_json(location=""), ("{folder}/azure.json", "location is missing")),
    (azure_json(aadClientSecret=None), ("{folder}/azure.json", "aadClientSecret")),
    (azure_json(aadClientSecret=[SECRET]), ("{folder}/azure.json", "aadClientSecret")),
    (azure_json(aadClientId=None), ("{folder}/azure.json", "aadClientId is missing")),
    (azure_json(tenantId="a/b"), ("{folder}/azure.json", "tenantId", '"a/b"')),
    (azure_json(vmType="huge"), ("{folder}/azure.json", "vmType", '"huge"', "standard, vmss, vmssflex")),
    (azure_json(identitySystem="adfs"), ("{folder}/azure.json", "identitySystem", "azure_ad")),
    (azure_json(useManagedIdentityExtension=SECRET),
     ("{folder}/azure.json", "useManagedIdentityExtension", "true or false")),
    (azure_json(aadClientSecret=None, aadClientCertPath="/missing.p12", aadClientCertPassword=SECRET),
     ("{folder}/azure.json", "aadClientCertPath", "/missing.p12", "No such file")),
    (azure_json(aadClientSecret=None, aadClientCertPath="/dev/null", aadClientCertPassword=SECRET),
     ("{folder}/azure.json", "aadClientCertPath", "/dev/null", "not PKCS#12")),
    (azure_json(aadClientId=None, useFederatedWorkloadIdentityExtension=True),
     ("{folder}/azure.json", "aadClientId", "AZURE_CLIENT_ID")),
    (azure_json(cloud="MoonCloud"), ("{folder}/azure.json", "MoonCloud", "not known")),
    (azure_json(resourceManagerEndpoint="http://x"), ("{folder}/azure.json", "resourceManagerEndpoint", "https://")),
]

VMS_JSONS = [
    (missing, ("{folder}/missing", "No such file")),
    (file("vms.json", f'{{"clientSecret": "{SECRET}"'), ("{folder}/vms.json",)),
    (vms_json(tenantId="x"), ("{folder}/vms.json", "tenantId", '"x"', "UUID")),
    (vms_json(surprise=1), ("{folder}/vms.json", "surprise", "unknown")),
    (vms_json(clients=[{"clientId": "x", "clientSecret": SECRET}]), ("{folder}/vms.json", "clients[0].clientId")),
    (vms_json(clients=[{"clientId": simulator.CLIENT, "clientSecret": [SECRET]}]),
     ("{folder}/vms.json", "clients[0].clientSecret")),
    (vms_json(clients=[{"clientId": simulator.CLIENT}]), ("{folder}/vms.json", "clients[0].clientId", "certificates")),
    (vms_json(clients=[{"clientId": simulator.CLIENT, "certificates": [SECRET]}]),
     ("{folder}/vms.json", "clients[0].certificates[0]", "PEM certificate")),
    (vms_json(identities=[{"name": "one", "clientId": simulator.CLIENT}]),
     ("{folder}/vms.json", "identities[0].objectId", "missing")),
    (vms_json(vms=[{"name": "vm", "size": "Huge", "zone": "1"}]), ("{folder}/vms.json", "vms[0]", '"Huge"')),
]

FILES = [
    *(Fault(program, {"kubeconfig": value}, words)
      for program in (CONTROLLER, NODE, EXTENDER) for value, words in KUBECONFIGS),
    *(Fault(program, {"kubeconfig": None}, ("not in a pod", "kubeconfig"))
      for program in (CONTROLLER, NODE, EXTENDER)),
    *(Fault(CONTROLLER, {"cloud-config": value}, ("--cloud-config", *words)) for value, words in AZURE_JSONS),
    *(Fault(AZSIM, {"config": value}, words) for value, words in VMS_JSONS),
    Fault(AZSIM, {"state-dir": lambda folder: file("x", "")(folder) / "state"}, ("--state-dir", "{folder}/x/state")),
    Fault(EXTENDER, {"tls-cert-file": missing, "tls-key-file": missing},
          ("--tls-cert-file", "{folder}/missing", "No such file")),
    Fault(EXTENDER, {"tls-cert-file": file("crt", "hello"), "tls-key-file": lambda folder: certificate(folder)[1]},
          ("--tls-cert-file {folder}/crt", "no PEM certificate")),
    Fault(EXTENDER, {"tls-cert-file": lambda folder: certificate(folder)[0], "tls-key-file": file("key", SECRET)},
          ("--tls-key-file {folder}/key", "no PEM private key")),
    Fault(EXTENDER, {"tls-cert-file": lambda folder: certificate(folder)[0],
                     "tls-key-file": lambda folder: certificate(folder)[1], "client-ca-file": file("ca", "hello")},
          ("--client-ca-file", "{folder}/ca", "PEM")),
    Fault(EXTENDER, {"tls-cert-file": lambda folder: certificate(folder)[0], "tls-key-file": other_key},
          ("--tls-key-file {folder}/other/tls.key", "does not belong")),
    *(Fault(program, {"metrics-tls-cert-file": lambda folder: certificate(folder)[0], "metrics-tls-key-file": key}, words)
      for program in (CONTROLLER, NODE, EXTENDER) for key, words in (
          (missing, ("--metrics-tls-key-file", "{folder}/missing", "No such file")),
          (file("key", SECRET), ("--metrics-tls-key-file {folder}/key", "no PEM private key")))),
]


@pytest.mark.parametrize("fault", FILES, ids=str)
def test_a_wrong_file(tmp_path, fault):
    status, output, said = run(command(fault.program, tmp_path, fault.changes))
    check(said, fault.words, tmp_path, fault.program)
    assert (status, output) == (1, "")


def test_a_wrong_file_by_the_environment(tmp_path):
    words = command(CONTROLLER, tmp_path, {"cloud-config": None})
    status, _, said = run(words, AZURE_CREDENTIAL_FILE=str(tmp_path / "missing"))
    check(said, ("{folder}/missing", "No such file"), tmp_path, CONTROLLER)
    assert status == 1


# ---- places to listen at ----

ADDRESSES = [(program, name) for program, names in LISTENING.items() for name in names]
ADDRESSES += [(EXTENDER, "address"), (AZSIM, "address")]


@pytest.mark.parametrize("program, name", ADDRESSES)
def test_an_address_that_cannot_be_listened_at(tmp_path, program, name):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        used = f"127.0.0.1:{taken.getsockname()[1]}"
        faults = [(used, "in use"), ("nonsense", "host:port"), ("127.0.0.1:99999", "65535"), ("192.0.2.1:80", "assign")]
        waits = (program, name) == (CONTROLLER, "metrics-address")  # for the port, which may be another replica's
        for address, reason in faults[waits:]:
            status, output, said = run(command(program, tmp_path, {name: address}))
            check(said, (f"--{name}", address, reason), tmp_path, program)
            assert (status, output) == (1, "")


SOCKETS = [
    (lambda folder: "csi.sock", ("--endpoint", "csi.sock", "path")),
    (lambda folder: folder / "no" / "csi.sock", ("--endpoint", "{folder}/no", "No such file")),
    (lambda folder: "/proc/csi.sock", ("/proc/csi.sock", "cannot listen")),
    (file("csi.sock", "x"), ("--endpoint", "{folder}/csi.sock", "not a socket")),
    (lambda folder: folder / "used.sock", ("--endpoint", "{folder}/used.sock", "another process")),
    (lambda folder: folder / ("x" * 120), ("--endpoint", "at most 107")),
]


@pytest.fixture
def installed(apiserver):
    """The controller looks at the cluster before it serves."""
    custom_resources.install(apiserver.client())
    return apiserver


@pytest.mark.parametrize("place, words", SOCKETS, ids=[words[-1] for _, words in SOCKETS])
@pytest.mark.parametrize("program", [CONTROLLER, NODE])
def test_a_socket_that_cannot_be_made(tmp_path, installed, program, place, words):
    changes = {"endpoint": place, "kubeconfig": installed.kubeconfig}
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "used.sock"))
        server.listen()
        status, output, said = run(command(program, tmp_path, changes))
    check(said, words, tmp_path, program)
    assert (status, output) == (1, "")


def test_a_registration_folder_that_is_not_there(tmp_path):
    status, _, said = run(command(NODE, tmp_path, {"registration-dir": missing}))
    check(said, ("--registration-dir", "{folder}/missing"), tmp_path, NODE)
    assert status == 1


# ---- the Secret ----

SECRETS = [
    ({"other": ""}, "cloud-config"),
    ({"cloud-config": json.dumps({"aadClientSecret": SECRET})}, "tenantId is missing"),
    ({"cloud-config": f'{{"aadClientSecret": "{SECRET}'}, ""),
]


@pytest.mark.parametrize("content, reason", SECRETS)
def test_a_wrong_secret(tmp_path, installed, content, reason):
    name = f"secret-{free_port()}"
    core = client.CoreV1Api(installed.client())
    core.create_namespaced_secret("default", {"metadata": {"name": name}, "stringData": content})
    status, _, said = run(command(CONTROLLER, tmp_path, {
        "kubeconfig": installed.kubeconfig, "cloud-config-secret-name": name,
        "cloud-config-secret-namespace": "default"}))
    core.delete_namespaced_secret(name, "default")
    check(said, (f"Secret default/{name}", reason), tmp_path, CONTROLLER)
    assert status == 1


def test_neither_secret_nor_file(tmp_path, installed):
    status, _, said = run(command(CONTROLLER, tmp_path, {
        "kubeconfig": installed.kubeconfig, "cloud-config-secret-name": "nobody", "cloud-config": missing}))
    check(said, ("Secret kube-system/nobody", "{folder}/missing", "No such file"), tmp_path, CONTROLLER)
    assert status == 1
