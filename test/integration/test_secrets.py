"""Secrets that CSI calls may have: those of a creation are refused by their names, others are of no use to the driver, and
none is found in a log, a metric or anything that the API server keeps."""

import urllib.request

import pytest
from cluster.waiting import until

from .calls import GIB, create, publish, refused
from .csi import mounted
from .driver_world import Controller, World

SECRET = "hunter2-2718281828"
SECRETS = {"clientSecret": SECRET, "tenantId": SECRET}


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, attach="50ms", detach="50ms", create="50ms", delete="50ms") as world:
        yield world


def test_secrets_are_kept_by_nobody(world, apiserver):
    with Controller(world, "one", "--v=9") as controller:
        with refused("INVALID_ARGUMENT", "clientSecret", "tenantId", "csi.storage.k8s.io/provisioner-secret-name"):
            create(controller, "pvc-s", {}, secrets=SECRETS)
        assert not world.find("azvolumes", "pvc-s") and not world.calls("disks.createOrUpdate")

        volume = create(controller, parameters={}).volume_id
        node = world.nodes[0]
        publish(controller, volume, node, secrets=SECRETS)
        until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "attached")
        assert controller.csi.call("Controller/ValidateVolumeCapabilities", volume_id=volume, secrets=SECRETS,
                                   volume_capabilities=[mounted()]).confirmed.volume_capabilities
        controller.csi.call("Controller/ControllerExpandVolume", volume_id=volume, secrets=SECRETS,
                            capacity_range={"required_bytes": 5 * GIB})
        with refused("FAILED_PRECONDITION", "still published"):
            controller.csi.call("Controller/DeleteVolume", volume_id=volume, secrets=SECRETS)
        controller.csi.call("Controller/ControllerUnpublishVolume", volume_id=volume, node_id=node, secrets=SECRETS)
        kept = apiserver.everything()
        controller.csi.call("Controller/DeleteVolume", volume_id=volume, secrets=SECRETS)
        assert world.azure.control("GET", "summary")["nothingLeft"]
        with urllib.request.urlopen(f"http://127.0.0.1:{controller.metrics}/metrics") as answer:
            metrics = answer.read()
        log = controller.log.read_bytes()
    assert b"pvc-1" in kept and b"pvc-1" in log, "what is no secret is found"
    for place in (kept, apiserver.everything(), metrics, log):
        assert SECRET.encode() not in place
