"""The metadata service at its real address, in networks that come and go. Needs root."""

import json
import os
import subprocess
import sys

import pytest
from cluster.waiting import until

from .conftest import GivenToken, compute_client
from .simulator import Azsim, describe

IMDS = "http://169.254.169.254"
INSTANCE = f"{IMDS}/metadata/instance?api-version=2021-10-01"

IDENTITY = """
import sys
from azure.identity import ManagedIdentityCredential
print(ManagedIdentityCredential().get_token(sys.argv[1] + "/.default").token)
"""


class Namespace:
    """A network namespace with the metadata service's address on its loopback."""

    def __init__(self, name: str):
        self.name = name
        self.path = f"/run/netns/{name}"

    def make(self) -> None:
        subprocess.run(["ip", "netns", "add", self.name], check=True)
        subprocess.run(["ip", "-n", self.name, "link", "set", "lo", "up"], check=True)
        subprocess.run(["ip", "-n", self.name, "address", "add", "169.254.169.254/32", "dev", "lo"],
                       check=True)

    def remove(self) -> None:
        subprocess.run(["ip", "netns", "delete", self.name], check=True)

    def run(self, *command: str, **more) -> subprocess.CompletedProcess:
        return subprocess.run(["nsenter", f"--net={self.path}", *command], text=True,
                              capture_output=True, **more)

    def instance(self) -> dict | None:
        """What the metadata service says; None if nobody answers."""
        found = self.run("curl", "--silent", "--fail", "--max-time", "5", "--header",
                         "Metadata: true", INSTANCE)
        return json.loads(found.stdout)["compute"] if found.returncode == 0 else None

    def answers(self) -> dict:
        return until(self.instance, f"a metadata service in {self.name}")


@pytest.fixture
def namespaces(root):
    made = [Namespace(f"azsim-{os.getpid()}-{name}") for name in ("a", "b")]
    for namespace in made:
        namespace.make()
    yield made
    for namespace in made:
        if os.path.exists(namespace.path):
            namespace.remove()


@pytest.fixture
def azsim(namespaces, tmp_path):
    vms = [{"name": f"vm-{i}", "size": "Standard_D4s_v5", "zone": str(i + 1), "identity": "system",
            "networkNamespace": namespace.path} for i, namespace in enumerate(namespaces)]
    vms.append({"name": "elsewhere", "size": "Standard_D4s_v5",
                "networkNamespace": "/run/netns/there-is-none"})
    with Azsim(tmp_path, describe(vms), "--latency=get=0,accept=0,token=0,imds=0") as azsim:
        yield azsim


def test_each_vm_has_its_own(azsim, namespaces):
    one, two = (namespace.instance() for namespace in namespaces)
    assert (one["name"], one["zone"]) == ("vm-0", "1")
    assert (two["name"], two["zone"]) == ("vm-1", "2")


def test_a_namespace_that_comes_back_is_served_again(azsim, namespaces):
    victim, other = namespaces
    for _ in range(3):
        victim.remove()
        victim.make()
        assert victim.answers()["name"] == "vm-0"
    assert other.instance()["name"] == "vm-1"


def test_a_vm_that_is_added_and_deleted(azsim, namespaces, tmp_path):
    late = Namespace(f"azsim-{os.getpid()}-late")
    namespaces.append(late)
    azsim.control("POST", "vms", {"name": "late", "size": "Standard_B1s",
                                  "networkNamespace": late.path}, expect=201)
    late.make()
    assert late.answers()["name"] == "late"
    azsim.control("PATCH", "latency", {"delete": "0s"})
    azsim.control("DELETE", "vms/late", expect=202)
    until(lambda: late.instance() is None, "no metadata service of a VM that is gone")


def test_managed_identity_by_microsofts_sdk(azsim, namespaces):
    """From inside of the VM to a token, and with it into ARM."""
    environment = os.environ | {"AZURE_POD_IDENTITY_AUTHORITY_HOST": IMDS}
    found = namespaces[0].run(sys.executable, "-c", IDENTITY, azsim.url, env=environment,
                              timeout=60)
    assert found.returncode == 0, found.stderr
    with compute_client(azsim, credential=GivenToken(found.stdout.strip())) as compute:
        assert len(list(compute.virtual_machines.list_all())) == 3

    entry = next(entry for entry in azsim.journal() if entry["kind"] == "imds.token")
    assert (entry["vm"], entry["status"]) == ("vm-0", 200)
    assert azsim.journal()[-1]["principal"] == entry["principal"]


def test_a_vm_without_identity_gets_no_token(azsim, namespaces):
    url = (f"{IMDS}/metadata/identity/oauth2/token?api-version=2018-02-01"
           f"&resource={azsim.url}&client_id=x")
    found = namespaces[1].run("curl", "--silent", "--header", "Metadata: true", url)
    assert json.loads(found.stdout)["error_description"] == "Identity not found"
