"""What a debugger writes of the running controller has none of what it proves itself to Azure with.

The kernel writes no core of it at all; gcore stands for whoever may look into any process. It is the
shipped program, since a sanitized one keeps what is freed.
"""

import re
import subprocess
from urllib.parse import quote

import pytest
from azsim import simulator
from azsim.applications import ByCertificate, ByWorkload
from cluster.waiting import until

from .calls import create, delete
from .driver_world import TREE, Controller, World

TOKEN = rb"eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"


class Shipped(Controller):
    PROGRAM = TREE / "build/bin/azdisk-controller"


@pytest.fixture
def applications(tmp_path):
    return ByCertificate(tmp_path), ByWorkload(tmp_path)


@pytest.fixture
def world(tmp_path, apiserver, applications):
    with World(tmp_path, apiserver, applications=[a.client for a in applications],
               create="50ms", delete="50ms") as world:
        yield world


def core_of(controller) -> bytes:
    pid = controller.process.pid
    subprocess.run(["gcore", "-o", controller.world.folder / "core", str(pid)], check=True, capture_output=True)
    file = controller.world.folder / f"core.{pid}"
    core = file.read_bytes()
    file.unlink()
    return core


def used(world) -> bytes:
    """The core of a controller that has logged in, and has nothing under way."""
    with Shipped(world) as controller:
        until(controller.leads, "a leader")
        delete(controller, create(controller, parameters={}).volume_id)
        assert world.azure.control("GET", "summary")["nothingLeft"]
        core = core_of(controller)
    assert world.namespace.encode() in core, "it is a core of this controller"
    return core


def check(core: bytes, *secrets: bytes) -> None:
    found = [number for number, secret in enumerate(secrets) if secret in core]
    assert not found, f"secrets {found} are in the core"
    tokens = {match.group()[:12] for match in re.finditer(TOKEN, core)}
    assert not tokens, f"tokens are in the core: {tokens}"


def test_of_a_client_secret(world):
    config = world.core.read_namespaced_secret("cloud", world.namespace).data["cloud-config"].encode()
    pieces = [config[at : at + 40] for at in range(0, len(config) - 40, 40)]
    secret = simulator.SECRET
    check(used(world), secret.encode(), quote(secret, safe="").encode(), *pieces)


def test_of_a_certificate(world, applications):
    application, _ = applications
    world.log_in_by(aadClientId=application.client_id, aadClientSecret=None,
                    aadClientCertPath=str(application.file), aadClientCertPassword=application.password)
    numbers = application.key.private_numbers()
    halves = [(n >> 256).to_bytes(256, "little")[:64] for n in (numbers.d, numbers.p, numbers.q)]
    private = [line.encode() for line in application.key_lines[7:]]  # the modulus, before, is no secret
    check(used(world), application.password.encode(), *private, *halves, *[half[::-1] for half in halves])


def test_of_a_workload(world, applications):
    _, application = applications
    world.log_in_by(aadClientId=application.client_id, aadClientSecret=None,
                    useFederatedWorkloadIdentityExtension=True, aadFederatedTokenFile=str(application.file))
    check(used(world), application.file.read_bytes().strip())


def test_what_is_kept_in_the_heap_would_be_found(world):
    """Else this is no test: what is no secret is there."""
    core = used(world)
    assert simulator.CLIENT.encode() in core
    with pytest.raises(AssertionError, match="secrets \\[1\\] are in the core"):
        check(core, simulator.SECRET.encode(), simulator.CLIENT.encode())
