"""The controller logs in to Azure by each kind of application, and nothing of what it knows gets out."""

import subprocess
import urllib.request

import pytest
from azsim import simulator
from azsim.applications import ByCertificate, ByWorkload
from cluster.waiting import until

from .calls import create, publish
from .driver_world import Controller, World

CRS = ("azvolumes", "azvolumeattachments", "azdrivernodes")


@pytest.fixture
def applications(tmp_path):
    return ByCertificate(tmp_path), ByWorkload(tmp_path)


@pytest.fixture
def world(tmp_path, apiserver, applications):
    with World(tmp_path, apiserver, applications=[a.client for a in applications],
               attach="100ms", detach="50ms", create="50ms", delete="50ms") as world:
        yield world


def written(world, controller) -> str:
    """Everything that others can read: the log, the custom resources, the events, the metrics."""
    with urllib.request.urlopen(f"http://127.0.0.1:{controller.metrics}/metrics", timeout=30) as answer:
        metrics = answer.read().decode()
    events = world.core.list_namespaced_event(world.namespace)
    objects = [str(world.objects(plural)) for plural in CRS]
    return "\n".join([controller.log.read_text(), metrics, str(events), *objects])


def attaches(world, controller, client_id: str) -> None:
    publish(controller, create(controller, parameters={}).volume_id, world.nodes[0])
    until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "attached")
    assert {e["principal"] for e in world.calls("disks.createOrUpdate")} == {client_id}


def check(text: str, *secrets: str) -> None:
    found = [secret for secret in (*secrets, "Bearer ", "eyJ", "PRIVATE KEY") if secret in text]
    assert not found, f"{len(found)} secrets are told"


def test_by_secret(world):
    with Controller(world, "one", "--v=10") as controller:
        attaches(world, controller, simulator.CLIENT)
        check(written(world, controller), simulator.SECRET)


def test_by_certificate(world, applications):
    application, _ = applications
    world.log_in_by(aadClientId=application.client_id, aadClientSecret=None,
                    aadClientCertPath=str(application.file), aadClientCertPassword=application.password)
    with Controller(world, "one", "--v=10") as controller:
        attaches(world, controller, application.client_id)
        check(written(world, controller), application.password, *application.key_lines)


def test_by_workload_identity(world, applications):
    _, application = applications
    world.log_in_by(aadClientId=application.client_id, aadClientSecret=None,
                    useFederatedWorkloadIdentityExtension=True, aadFederatedTokenFile=str(application.file))
    with Controller(world, "one", "--v=10") as controller:
        attaches(world, controller, application.client_id)
        check(written(world, controller), application.file.read_text())


def test_neither_a_secret_nor_a_file_says_what_to_do(world):
    """What helps depends on how it was installed."""
    words = Controller(world, "none", "--cloud-config-secret-name=none", "--cloud-config=/no/azure.json").words
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    [said] = [line for line in done.stderr.splitlines() if line.startswith("azdisk-controller: ")]
    for part in (f"Secret {world.namespace}/none does not exist", "/no/azure.json: No such file", "controller.credentialFile"):
        assert part in said


def test_a_refusal_is_told_without_the_secret(world):
    """It is told: whoever reads the log or the volume's events has to learn what to mend."""
    secret = "another / secret + of = ours"
    world.log_in_by(aadClientSecret=secret, extraKey=1)
    with Controller(world, "one", "--v=10") as controller:
        with pytest.raises(Exception, match="AADSTS7000215"):
            create(controller, parameters={})
        text = written(world, controller)
        assert "AADSTS7000215" in text
        assert f"Secret {world.namespace}/cloud: ignoring keys that the Azure cloud provider does not define" in text
        assert "does not define: extraKey" in text
        check(text, secret)
