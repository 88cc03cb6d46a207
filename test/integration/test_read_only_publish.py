"""ControllerPublishVolume's readonly: what is on record of it, and that it belongs to a publish, not to the attachment."""

import grpc
import pytest
from cluster.waiting import until

from . import custom_resources
from .calls import create, publish, refused, unpublish
from .driver_world import Controller, World
from .kubernetes_side import forget, persistent_volume, volume_attachment

ALONE = {"skuName": "Premium_LRS"}


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, attach="100ms", detach="50ms", create="50ms") as world:
        yield world


def spec(world: World, node: int = 0, volume: str = "pvc-1") -> dict:
    return world.find("azvolumeattachments", f"{volume}-{world.nodes[node]}-attachment")["spec"]


def is_read_only(world: World, node: int = 0) -> bool:
    return spec(world, node).get("readOnly", False)


def test_it_is_claimed(controller):
    claimed = [c.rpc.type for c in controller.csi.call("Controller/ControllerGetCapabilities").capabilities]
    assert 8 in claimed, "PUBLISH_READONLY"


@pytest.mark.parametrize("read_only", [False, True])
def test_a_publish_and_its_repetition(world, controller, read_only):
    volume, node = create(controller, parameters=ALONE).volume_id, world.nodes[0]
    context = publish(controller, volume, node, readonly=read_only)
    assert is_read_only(world) == read_only
    assert publish(controller, volume, node, readonly=read_only) == context
    other = ["for writing", "read-only"]
    with refused("ALREADY_EXISTS", f"is published to node {node} {other[read_only]}",
                 f"before it is published {other[not read_only]}"):
        publish(controller, volume, node, readonly=not read_only)
    assert is_read_only(world) == read_only
    unpublish(controller, volume, node)
    publish(controller, volume, node, readonly=not read_only)
    assert is_read_only(world) != read_only


def test_a_replica_knows_nothing_of_it(world, controller):
    volume = create(controller).volume_id
    publish(controller, volume, world.nodes[0], readonly=True)
    until(lambda: len([r for r in world.roles("pvc-1").values() if "Attached" in r]) == 3, "replicas")
    assert [is_read_only(world, node) for node in range(3)] == [True, False, False]
    unpublish(controller, volume, world.nodes[0])
    assert spec(world, 0)["role"] == "Replica" and "readOnly" not in spec(world, 0)

    publish(controller, volume, world.nodes[1])
    assert [is_read_only(world, node) for node in range(3)] == [False] * 3
    unpublish(controller, volume, world.nodes[1])
    publish(controller, volume, world.nodes[0], readonly=True)
    until(lambda: world.roles("pvc-1").get("a") == "Primary Attached", "the promotion")
    assert [is_read_only(world, node) for node in range(3)] == [True, False, False]


def test_an_attachment_of_before_is_for_writing(world, controller):
    volume, node = create(controller, parameters=ALONE).volume_id, world.nodes[0]
    publish(controller, volume, node)
    assert "readOnly" not in spec(world), "as a former controller has written it"
    with refused("ALREADY_EXISTS", "for writing"):
        publish(controller, volume, node, readonly=True)


def test_what_was_never_answered_can_be_published_otherwise(world):
    """As across an upgrade: the sidecar of before did not say that it is to be read-only."""
    world.azure.control("PATCH", "latency", {"attach": "3s"})
    with Controller(world, "one", "--publish-wait=attached") as controller:
        volume, node = create(controller, parameters=ALONE).volume_id, world.nodes[0]
        with pytest.raises(grpc.RpcError) as failure:
            controller.csi.call("Controller/ControllerPublishVolume", 1, volume_id=volume, node_id=node,
                                volume_capability={"mount": {}, "access_mode": {"mode": 1}})
        assert failure.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        publish(controller, volume, node, readonly=True)
        assert is_read_only(world) and world.roles("pvc-1") == {"a": "Primary Attached"}
        assert world.attached("pvc-1") == ["a"], "once"


@pytest.mark.parametrize("read_only", [False, True])
def test_records_that_were_lost(world, controller, read_only):
    volume = create(controller, parameters=ALONE)
    publish(controller, volume.volume_id, world.nodes[0], readonly=read_only)
    with persistent_volume(world, volume.volume_id, dict(volume.volume_context), read_only=read_only) as pv:
        with volume_attachment(world, pv, world.nodes[0]):
            controller.end()
            forget(world, "azvolumeattachments")
            forget(world, "azvolumes")
            controller.start()
            until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "it is on record again")
            assert is_read_only(world) == read_only


def is_kept(world) -> bool:
    name = f"probe-{world.nodes[1]}-attachment"
    world.create("azvolumeattachments", {"metadata": {"name": name}, "spec": {
        "volumeName": "probe", "volume_id": "/x", "nodeName": world.nodes[1], "role": "Replica", "readOnly": True}})
    kept = "readOnly" in spec(world, 1, "probe")
    world.delete("azvolumeattachments", name)
    return kept


def test_definitions_that_are_too_old_are_found_out(world, controller):
    """It is not published for writing instead."""
    volume, node = create(controller, parameters=ALONE).volume_id, world.nodes[0]
    with custom_resources.older(world.client, "azvolumeattachments", "readOnly", lambda: is_kept(world)):
        with refused("FAILED_PRECONDITION", "does not keep spec.readOnly", "custom resource definitions"):
            publish(controller, volume, node, readonly=True)
        until(lambda: not world.roles("pvc-1"), "and is withdrawn")
        publish(controller, volume, node)
