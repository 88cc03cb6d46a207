"""Whether a node may keep its disk, as a replica, when a volume is unpublished from it: what its Node says."""

import pytest
from cluster.waiting import until

from .calls import create, publish, unpublish
from .driver_world import Controller, World


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, attach="100ms", detach="50ms", create="50ms") as world:
        yield world


def in_use(world: World, node: str, volume: str) -> None:
    """As kubelet says it, from before a mount until after the end of it."""
    name = f"kubernetes.io/csi/disk.csi.azure.com^{volume}"
    world.core.patch_node_status(node, {"status": {"volumesInUse": [name]}})


def published(world: World, controller: Controller) -> str:
    volume = create(controller).volume_id
    publish(controller, volume, world.nodes[0])
    until(lambda: list(world.roles("pvc-1").values()).count("Replica Attached") == 2, "both replicas")
    in_use(world, world.nodes[0], volume)
    return volume


def detached(world: World, after: int) -> list[str]:
    changes = world.calls("virtualMachines.attachDetachDataDisks", after)
    return [e["vm"].removeprefix(f"{world.namespace}-") for e in changes if "pvc-1" in e["detached"]]


def told(world: World) -> list[str]:
    events = world.core.list_event_for_all_namespaces().items
    return [e.message for e in events if e.reason == "DetachedFromFormerNode"
            and e.involved_object.namespace == world.namespace]


def test_a_node_that_may_write_loses_the_disk_before_another_is_primary(world, controller):
    volume, before = published(world, controller), world.last_call()
    unpublish(controller, volume, world.nodes[0])
    assert detached(world, before) == ["a"] and "a" not in world.roles("pvc-1")
    publish(controller, volume, world.nodes[1])
    until(lambda: world.roles("pvc-1")["b"] == "Primary Attached", "the replica is promoted")
    note = until(lambda: told(world), "it is told")[0]
    assert world.nodes[0] in note and "volumesInUse" in note


def test_a_node_out_of_service_keeps_its_disk_and_no_call_is_made(world, controller):
    volume = published(world, controller)
    taint = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
    world.core.patch_node(world.nodes[0], {"spec": {"taints": [taint]}})
    before = world.last_call()
    unpublish(controller, volume, world.nodes[0])
    until(lambda: world.roles("pvc-1")["a"] == "Replica Attached", "it is a replica")
    assert detached(world, before) == [] and told(world) == []


def test_a_node_that_is_gone_loses_the_disk(world, controller):
    volume, before = published(world, controller), world.last_call()
    world.core.delete_node(world.nodes[0])
    unpublish(controller, volume, world.nodes[0])
    assert detached(world, before) == ["a"] and "a" not in world.roles("pvc-1")


def on_record(world: World, node: str, job: str | None) -> None:
    """As the node's plug-in says it, from before a program writes to the disk until after its end."""
    status = {"annotation": {"disk.csi.azure.com/running-job": job}}
    world.patch("azvolumeattachments", f"pvc-1-{node}-attachment", {"status": status}, status=True)


def test_a_node_that_runs_fsck_loses_the_disk_before_another_is_primary(world, controller):
    """Kubelet, restarted, does not know of the volume any more; fsck still writes."""
    volume, before = published(world, controller), world.last_call()
    world.core.patch_node_status(world.nodes[0], {"status": {"volumesInUse": []}})
    on_record(world, world.nodes[0], "e2fsck 2026-01-01T00:00:00Z 5d1b2e0c-6c1f-4a31-9d6b-0d3a3b5a7f10")
    unpublish(controller, volume, world.nodes[0])
    assert detached(world, before) == ["a"] and "a" not in world.roles("pvc-1")
    publish(controller, volume, world.nodes[1])
    until(lambda: world.roles("pvc-1")["b"] == "Primary Attached", "the replica is promoted")
    note = until(lambda: told(world), "it is told")[0]
    assert world.nodes[0] in note and "running-job" in note


def test_a_node_whose_fsck_has_ended_keeps_its_disk(world, controller):
    volume, before = published(world, controller), world.last_call()
    world.core.patch_node_status(world.nodes[0], {"status": {"volumesInUse": []}})
    on_record(world, world.nodes[0], "e2fsck 2026-01-01T00:00:00Z 5d1b2e0c-6c1f-4a31-9d6b-0d3a3b5a7f10")
    on_record(world, world.nodes[0], None)
    unpublish(controller, volume, world.nodes[0])
    until(lambda: world.roles("pvc-1")["a"] == "Replica Attached", "it is a replica")
    assert detached(world, before) == [] and told(world) == []
