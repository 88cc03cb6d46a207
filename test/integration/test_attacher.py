"""What csi-attacher itself asks for at once goes to Azure at once: a pod's volumes come in one change of its VM, and
go in one."""

import pytest
from cluster.waiting import until

from .attacher import Attacher
from .calls import create
from .driver_world import Controller, World

VOLUMES = 8
CHANGE = "virtualMachines.attachDetachDataDisks"


@pytest.fixture(scope="module")
def world(tmp_path_factory, apiserver):
    with World(tmp_path_factory.mktemp("attacher"), apiserver, attach="2s", detach="2s") as world:
        yield world


def changes(world: World, first: int) -> list[dict]:
    return [entry for entry in world.azure.journal(first) if entry.get("kind") == CHANGE]


def test_volumes_of_one_node_go_in_one_change(world):
    """Although it takes a fifth of a second for each of them."""
    slow = ("--kube-api-qps=10", "--kube-api-burst=1")
    with Controller(world, "one") as controller, Attacher(world, controller).running(*slow) as attacher:
        volumes = [create(controller, name=f"pvc-{number}", parameters={"skuName": "Premium_LRS"}).volume_id
                   for number in range(VOLUMES)]
        attacher.bind(volumes)
        first = world.last_call()
        attacher.attach({volume: world.nodes[0] for volume in volumes})
        until(lambda: attacher.told(VOLUMES), "Kubernetes is told")
        until(lambda: sum(len(change["attached"]) for change in changes(world, first)) == VOLUMES, "all are attached")
        assert len(changes(world, first)[0]["attached"]) >= VOLUMES / 2, changes(world, first)
        first = world.last_call()
        attacher.detach()
        until(lambda: attacher.told(0), "the VolumeAttachments go")
        assert len(changes(world, first)[0]["detached"]) >= VOLUMES / 2, changes(world, first)
