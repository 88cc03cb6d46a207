"""Microsoft's Go SDK of 2019 (services/compute, go-autorest, adal) against azsim, over verified TLS."""

import os
import pathlib
import re
import subprocess

import pytest
from cluster import tools
from cryptography.hazmat.primitives import serialization

from .applications import ByCertificate
from .simulator import CLIENT, LOCATION, SECRET, SUBSCRIPTION, TENANT, Azsim, describe
from .test_calls import known_calls, module_folder, shape

SIZE = {"size": "Standard_D4s_v5", "zone": "1"}
VMS = [{"name": "vm1", **SIZE}, {"name": "vm2", **SIZE},
       {"name": "pool000003", "scaleSet": "pool", "instanceId": "3", **SIZE}]
MODULE = pathlib.Path(__file__).parent / "go_old"


@pytest.fixture(scope="module")
def program() -> pathlib.Path:
    return tools.build_module(MODULE)


@pytest.fixture(scope="module")
def by_certificate(tmp_path_factory):
    return ByCertificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def azsim(tmp_path, by_certificate):
    config = describe(VMS)
    config["clients"].append(by_certificate.client)
    with Azsim(tmp_path, config, "--throttling=off", "--page-size=2", "--retry-after=1",
               "--latency=get=0,accept=0,token=0,create=0,update=0,delete=0,snapshot=0",
               "--latency=attach=100ms,detach=100ms,power=100ms,orphan=0") as azsim:
        yield azsim


def run(program: pathlib.Path, azsim: Azsim, client: str, *arguments: str) -> list[str]:
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=300,
        env=os.environ | {
            "AZSIM_URL": azsim.url, "AZSIM_TENANT": TENANT, "AZSIM_CLIENT": client,
            "AZSIM_SECRET": SECRET, "AZSIM_SUBSCRIPTION": SUBSCRIPTION, "AZSIM_LOCATION": LOCATION,
            "SSL_CERT_FILE": azsim.ca, "SSL_CERT_DIR": "/nowhere"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("way", ["secret", "certificate"])
def test_the_life_of_a_group(program, azsim, by_certificate, tmp_path, way):
    pem = tmp_path / "certificate.pem"
    pem.write_bytes(by_certificate.certificate.public_bytes(serialization.Encoding.PEM)
                    + by_certificate.key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                                       serialization.NoEncryption()))
    how = {"secret": (CLIENT, "secret"),
           "certificate": (by_certificate.client_id, "certificate", str(pem))}
    steps = run(program, azsim, *how[way])
    assert steps[0] == "group" and steps[-1] == "delete"
    assert azsim.control("GET", "summary")["nothingLeft"]
    asked = {(entry["method"], entry["path"].lower()) for entry in azsim.journal()}
    assert ("GET", "/metadata/endpoints") in asked
    assert ("POST", f"/{TENANT}/oauth2/token") in asked


def test_no_call_of_the_sdk_is_missing_in_the_table():
    services = module_folder(MODULE, "github.com/Azure/azure-sdk-for-go") / "services"
    asked = [call for source in sources(services) for call in calls(source.read_text())]
    assert len(asked) > 900
    assert set(asked) <= known_calls()


def sources(services: pathlib.Path):
    """What the SDK has about what calls.txt is about."""
    compute = ("disks", "snapshots", "virtualmachines", "virtualmachinescalesets", "virtualmachinescalesetvms",
               "virtualmachinescalesetrollingupgrades", "resourceskus", "usage", "virtualmachinesizes")
    for name in compute:
        yield from services.glob(f"compute/mgmt/20*/compute/{name}.go")
    yield from services.glob("resources/mgmt/20*/resources/groups.go")


def calls(text: str):
    """Each function of a file that makes a request, since 2019: method, path and api-version."""
    for function in re.split(r"\n}\n", text):
        method = re.search(r"autorest\.As(Get|Put|Post|Patch|Delete|Head)\(\)", function)
        path = re.search(r'autorest\.WithPathParameters\("([^"]+)"', function)
        version = re.search(r'const APIVersion = "([^"]+)"', function)
        if method and path and version and version[1] >= "2019":
            yield method[1].upper(), shape(path[1]), version[1]
