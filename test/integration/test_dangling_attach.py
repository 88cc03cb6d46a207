"""A disk of the driver's that somebody has left on another VM, without a record."""

import grpc
import pytest
from cluster.waiting import until

from .azure_side import attach, make_disk
from .calls import create, publish
from .driver_world import GROUP, Controller
from .kubernetes_side import persistent_volume, volume_attachment

SINGLE = {"skuName": "Premium_LRS"}


@pytest.fixture
def controller(world):
    with Controller(world, "one", "--publish-wait=attached") as controller:
        yield controller


def is_refused(controller, volume: str, node: str) -> None:
    with pytest.raises(grpc.RpcError) as failure:
        publish(controller, volume, node)
    assert "already owned by VM" in failure.value.details()


def test_it_is_detached_where_nobody_uses_it(world, controller, azure_sdk):
    volume = create(controller, parameters=SINGLE).volume_id
    attach(azure_sdk, volume, world.nodes[1], 5)
    publish(controller, volume, world.nodes[0])
    assert world.attached("pvc-1")[-1] == "a"
    until(lambda: [e for e in world.core.list_namespaced_event(world.namespace).items
                   if e.reason == "DanglingAttachEnded" and world.nodes[1] in e.message], "an event says so")


def test_not_where_a_kubelet_says_that_it_uses_it(world, controller, azure_sdk):
    volume = create(controller, parameters=SINGLE).volume_id
    attach(azure_sdk, volume, world.nodes[1], 5)
    in_use = {"status": {"volumesInUse": [f"kubernetes.io/csi/{GROUP}^{volume}"]}}
    world.core.patch_node_status(world.nodes[1], in_use)
    is_refused(controller, volume, world.nodes[0])
    world.core.patch_node_status(world.nodes[1], {"status": {"volumesInUse": None}})
    until(lambda: world.attached("pvc-1")[-1:] == ["a"], "it is, once no kubelet says so")


def test_not_where_kubernetes_has_it(world, controller, azure_sdk):
    volume = create(controller, parameters=SINGLE).volume_id
    attach(azure_sdk, volume, world.nodes[1], 5)
    with persistent_volume(world, volume, {}) as pv, volume_attachment(world, pv, world.nodes[1]):
        with pytest.raises(grpc.RpcError):
            publish(controller, volume, world.nodes[0])
        assert not world.attached("pvc-1")[1:]


def test_not_a_disk_that_the_driver_has_not_made(world, controller, azure_sdk):
    volume = make_disk(azure_sdk, "theirs")
    attach(azure_sdk, volume, world.nodes[1], 5)
    is_refused(controller, volume, world.nodes[0])
