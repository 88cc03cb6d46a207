"""Microsoft's Go SDK (armcompute, azidentity) against azsim, over verified TLS."""

import os
import pathlib
import re
import subprocess

import pytest
from cluster import tools

from .simulator import CLIENT, GROUP, LOCATION, SECRET, SUBSCRIPTION, TENANT, Azsim, describe
from .test_calls import known_calls, module_folder, shape

MODULE = pathlib.Path(__file__).parent / "go"

SIZE = {"size": "Standard_D4s_v5", "zone": "1"}
VMS = [{"name": f"vm{i}", **SIZE} for i in (1, 2, 3)] + [
    {"name": f"pool00000{i}", "scaleSet": "pool", "instanceId": str(i), **SIZE} for i in (3, 4, 5)]


@pytest.fixture(scope="module")
def program() -> pathlib.Path:
    return tools.build_module(MODULE)


@pytest.fixture
def azsim(tmp_path):
    """It attaches for longer than the 200 ms in which a shared disk is refused to a second VM."""
    with Azsim(tmp_path, describe(VMS), "--throttling=off", "--page-size=2", "--retry-after=1",
               "--latency=get=0,accept=0,token=0,create=0,update=0,delete=0,snapshot=0",
               "--latency=attach=250ms,detach=100ms,orphan=0") as azsim:
        yield azsim


def run(program: pathlib.Path, azsim: Azsim, *arguments: str) -> str:
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=300,
        env=os.environ | {
            "AZSIM_URL": azsim.url, "AZSIM_TENANT": TENANT, "AZSIM_CLIENT": CLIENT,
            "AZSIM_SECRET": SECRET, "AZSIM_SUBSCRIPTION": SUBSCRIPTION, "AZSIM_GROUP": GROUP,
            "AZSIM_LOCATION": LOCATION, "SSL_CERT_FILE": azsim.ca, "SSL_CERT_DIR": "/nowhere"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_life_of_disks(program, azsim):
    steps = run(program, azsim, "walk").splitlines()
    assert steps[0] == "create" and steps[-1] == "delete"
    assert azsim.control("GET", "summary")["nothingLeft"]
    changes = [(entry["vm"], entry["kind"].split(".")[0]) for entry in azsim.journal()
               if entry.get("kind", "").endswith("attachDetachDataDisks")]
    assert ("pool000003", "virtualMachineScaleSetVMs") in changes
    assert ("vm1", "virtualMachines") in changes


def test_it_waits_as_long_as_it_is_told_when_it_is_throttled(program, azsim):
    azsim.control("PATCH", "throttling", {"throttling": "0.1"})
    run(program, azsim, "read", "60")
    statuses = [entry["status"] for entry in azsim.journal()
                if entry.get("kind") == "disks.listByResourceGroup"]
    assert statuses.count(200) == 60 and 429 in statuses


def test_no_call_of_the_sdk_is_missing_in_the_table():
    folder = module_folder(MODULE, "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7")
    clients = ("disks", "snapshots", "virtualmachines", "virtualmachinescalesets", "virtualmachinescalesetvms",
               "virtualmachinescalesetrollingupgrades", "resourceskus", "usage", "virtualmachinesizes")
    asked = [call for name in clients for call in calls((folder / f"{name}_client.go").read_text())]
    assert len(asked) > 90
    assert set(asked) <= known_calls()


def calls(text: str):
    """Each function of a client that makes a request: method, path and api-version."""
    for function in re.split(r"\n}\n", text):
        method = re.search(r"http\.Method(\w+)", function)
        path = re.search(r'urlPath := "([^"]+)"', function)
        version = re.search(r'"api-version", "([^"]+)"', function)
        if method and path and version:
            yield method[1].upper(), shape(path[1]), version[1]


def test_a_certificate_of_another_authority_is_not_trusted(program, azsim, tmp_path):
    other = tmp_path / "other.pem"
    other.write_text("")
    done = subprocess.run([program, "read", "1"], capture_output=True, text=True, timeout=300, env={
        "AZSIM_URL": azsim.url, "AZSIM_TENANT": TENANT, "AZSIM_CLIENT": CLIENT,
        "AZSIM_SECRET": SECRET, "AZSIM_SUBSCRIPTION": SUBSCRIPTION, "AZSIM_GROUP": GROUP,
        "AZSIM_LOCATION": LOCATION, "SSL_CERT_FILE": str(other), "SSL_CERT_DIR": "/nowhere"})
    assert done.returncode == 1 and "certificate" in done.stderr
