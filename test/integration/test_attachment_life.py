"""What CSI's callers, and those who watch an AzVolumeAttachment, see of its life from first to last."""

import uuid

import pytest
from cluster.waiting import until
from kubernetes import watch

from .calls import create, publish, refused, unpublish
from .csi import MULTI_NODE_MULTI_WRITER, block, mounted
from .driver_world import GROUP, VERSION, Controller, World

SINGLE = {"skuName": "Premium_LRS"}
PUBLISHED = {"a": "Primary Attached"}


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, attach="100ms", detach="50ms", create="50ms") as world:
        yield world


def attachment(world: World, node: int) -> dict | None:
    return world.find("azvolumeattachments", f"pvc-1-{world.nodes[node]}-attachment")


def on_vm(world: World, node: int) -> bool:
    return bool(world.azure.control("GET", f"vms/{world.nodes[node]}")["attached"])


def whereabouts(world: World) -> str:
    """The version of all AzVolumeAttachments by now."""
    where = GROUP, VERSION, world.namespace, "azvolumeattachments"
    return world.custom.list_namespaced_custom_object(*where)["metadata"]["resourceVersion"]


def seen_since(world: World, version: str) -> list[str]:
    """The states that a watcher has seen, up to the end, each once as long as it lasts, "-" for none; "!" when it is to go."""
    where = GROUP, VERSION, world.namespace, "azvolumeattachments"
    seen = [""]
    for event in watch.Watch().stream(world.custom.list_namespaced_custom_object, *where,
                                      resource_version=version, timeout_seconds=60):
        item = event["object"]
        state = item.get("status", {}).get("state", "-") + "!" * ("deletionTimestamp" in item["metadata"])
        state = "gone" if event["type"] == "DELETED" else state
        seen += [state] if state != seen[-1] else []
        if state == "gone":
            break
    return seen[1:]


# ---- publishing ----

@pytest.mark.parametrize("wait, lun, there", [
    ("created", False, False), ("lun", True, False), ("attached", True, True)])
def test_what_a_publish_waits_for(world, wait, lun, there):
    world.azure.control("PATCH", "latency", {"attach": "3s"})
    with Controller(world, "one", f"--publish-wait={wait}") as controller:
        volume = create(controller, parameters=SINGLE).volume_id
        context = publish(controller, volume, world.nodes[0])
        assert (world.roles("pvc-1") == PUBLISHED) == there
        assert not lun or context["LUN"] == "0"
        until(lambda: world.roles("pvc-1") == PUBLISHED, "attached in the end")
        assert publish(controller, volume, world.nodes[0])["LUN"] == "0", "asked again: what came of it"


def test_the_role_of_before_is_on_record(world):
    with Controller(world) as controller:
        volume = create(controller).volume_id
        publish(controller, volume, world.nodes[0])
        until(lambda: len([r for r in world.roles("pvc-1").values() if "Attached" in r]) == 3, "replicas")
        unpublish(controller, volume, world.nodes[0])
        publish(controller, volume, world.nodes[1])
        until(lambda: world.roles("pvc-1").get("b") == "Primary Attached", "the promotion")
        details = [attachment(world, node)["status"]["detail"] for node in (0, 1)]
        assert [(d["previous_role"], d["role"]) for d in details] == [
            ("Primary", "Replica"), ("Replica", "Primary")]


def test_a_device_for_one_node_has_replicas_and_one_for_many_may_be_everywhere(world):
    with Controller(world) as controller:
        volume = create(controller, capability=block()).volume_id
        publish(controller, volume, world.nodes[0], block())
        until(lambda: sorted(world.roles("pvc-1").values()) == [
            "Primary Attached", "Replica Attached", "Replica Attached"], "replicas of a block device")
        many = block(MULTI_NODE_MULTI_WRITER)
        volume = create(controller, "pvc-2", capability=many).volume_id
        for node in world.nodes[:2]:
            publish(controller, volume, node, many)
        until(lambda: world.roles("pvc-2") == {"a": "Primary Attached", "b": "Primary Attached"},
              "two primaries, and no replica unless one is asked for")


def test_of_two_publishes_that_cross_the_one_on_record_goes_on(world):
    """A controller that has not heard of the other one writes that its own node is to have the volume."""
    lease = ["--lease-duration=120s", "--lease-renew-deadline=100s"]
    replicas = {"a": "Replica Attached", "b": "Replica Attached", "c": "Replica Attached"}
    with Controller(world, "leader", *lease) as leader, Controller(world, "follower", *lease) as follower:
        volume = create(leader).volume_id
        publish(leader, volume, world.nodes[0])
        until(lambda: len([r for r in world.roles("pvc-1").values() if "Attached" in r]) == 3, "replicas")
        unpublish(leader, volume, world.nodes[0])
        until(lambda: world.roles("pvc-1") == replicas, "nobody has it")
        leader.pause()
        try:
            call = follower.csi.begin("Controller/ControllerPublishVolume", volume_id=volume,
                                      node_id=world.nodes[1], volume_capability=mounted())
            until(lambda: attachment(world, 1)["spec"]["role"] == "Primary", "it is to be")
            assert not call.done(), "which it is when a leader says so"
            other = attachment(world, 0)["metadata"]["name"]
            world.patch("azvolumeattachments", other, {"spec": {"role": "Primary"}})
            world.patch("azvolumeattachments", other, {"status": {"detail": {"role": "Primary"}}}, status=True)
            with refused("FAILED_PRECONDITION", world.nodes[0]):
                call.result()
            assert attachment(world, 1)["spec"]["role"] == "Replica"
        finally:
            leader.resume()
        assert publish(follower, volume, world.nodes[0])["LUN"] == "0"
        until(lambda: world.roles("pvc-1") == replicas | PUBLISHED, "one primary")


# ---- unpublishing ----

def test_an_unpublish_is_seen_at_once_and_answered_when_the_disk_is_detached(world):
    before = whereabouts(world)
    with Controller(world, "one", "--on-unpublish=detach") as controller:
        volume = create(controller, parameters=SINGLE).volume_id
        publish(controller, volume, world.nodes[0])
        until(lambda: world.roles("pvc-1") == PUBLISHED, "attached")
        world.azure.control("PATCH", "latency", {"detach": "3s"})
        call = controller.csi.begin("Controller/ControllerUnpublishVolume", volume_id=volume,
                                    node_id=world.nodes[0])
        until(lambda: world.roles("pvc-1") == {"a": "Primary Detaching!"}, "it is being detached")
        assert on_vm(world, 0) and not call.done()
        call.result()
        assert not attachment(world, 0) and not on_vm(world, 0)
        unpublish(controller, volume, world.nodes[0])
    assert seen_since(world, before) == [
        "-", "Attaching", "Attached", "Attached!", "Detaching!", "gone"]


def test_by_the_flag_a_volume_with_replicas_is_detached_too(world):
    with Controller(world, "one", "--on-unpublish=detach") as controller:
        volume = create(controller).volume_id
        publish(controller, volume, world.nodes[0])
        until(lambda: len(world.roles("pvc-1")) == 3, "replicas")
        unpublish(controller, volume, world.nodes[0])
        assert not on_vm(world, 0) and "a" not in world.roles("pvc-1")


# ---- the node's machine ----

def boot(world: World, node: str) -> None:
    """As kubelet tells of it."""
    world.core.patch_node_status(node, {"status": {"nodeInfo": {"bootID": str(uuid.uuid4())}}})


def test_what_was_attached_to_the_vm_before_is_attached_to_its_successor(world, azure_sdk):
    """Of the same name, so that only the boot tells them apart; a model of the former one is known."""
    machine = world.nodes[0]
    with Controller(world) as controller:
        boot(world, machine)
        publish(controller, create(controller, parameters=SINGLE).volume_id, machine)
        until(lambda: world.roles("pvc-1") == PUBLISHED, "attached")
        azure_sdk.virtual_machines.begin_delete("rg", machine, polling_interval=0.1).result()
        world.azure.control("POST", "vms", {"name": machine, "size": "Standard_D4s_v5", "zone": "1"}, 201)
        assert not on_vm(world, 0)
        boot(world, machine)
        until(lambda: on_vm(world, 0) and world.roles("pvc-1") == PUBLISHED, "attached to the new VM", 30)


def note_of_boot(world: World) -> str | None:
    return attachment(world, 0)["status"].get("annotation", {}).get("disk.csi.azure.com/boot-id")


def test_azure_is_asked_again_in_each_boot(world, azure_sdk):
    """The plug-in tells of it; until it is answered, the record says of which boot it is."""
    machine = world.nodes[0]

    def boot_plugin(boot_id: str) -> None:
        world.patch("azdrivernodes", machine, {"status": {"bootId": boot_id}}, status=True)

    with Controller(world) as controller:
        boot_plugin("first")
        publish(controller, create(controller, parameters=SINGLE).volume_id, machine)
        until(lambda: world.roles("pvc-1") == PUBLISHED, "attached")
        assert note_of_boot(world) == "first"
        boot_plugin("second")
        until(lambda: note_of_boot(world) == "second", "it is there in the second boot", 30)
        azure_sdk.virtual_machines.begin_delete("rg", machine, polling_interval=0.1).result()
        fault = world.azure.fault("refuse", kind="virtualMachines.get", code="InternalServerError")
        before = world.last_call()
        boot_plugin("third")
        until(lambda: [e for e in world.azure.journal(before) if e.get("kind") == "virtualMachines.get"], "asked")
        assert note_of_boot(world) == "second"
        world.azure.control("POST", "vms", {"name": machine, "size": "Standard_D4s_v5", "zone": "1"}, 201)
        world.azure.control("DELETE", f"faults/{fault}")
        until(lambda: on_vm(world, 0) and note_of_boot(world) == "third", "attached to the new VM", 60)


def test_a_vm_that_comes_late_is_waited_for(world, azure_sdk):
    machine = world.nodes[0]
    azure_sdk.virtual_machines.begin_delete("rg", machine, polling_interval=0.1).result()
    with Controller(world, "one", "--publish-wait=created") as controller:
        publish(controller, create(controller, parameters=SINGLE).volume_id, machine)
        until(lambda: world.roles("pvc-1") == {"a": "- AttachmentFailed"}, "there is no VM")
        assert "has no VM" in attachment(world, 0)["status"]["error"]["message"]
        world.azure.control("POST", "vms", {"name": machine, "size": "Standard_D4s_v5", "zone": "1"}, 201)
        until(lambda: world.roles("pvc-1") == PUBLISHED, "the VM is there")
