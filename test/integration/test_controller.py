"""The controller against a real API server and a simulated Azure: from a claim to replicas and back."""

import grpc
import pytest
from azsim import simulator
from cluster.waiting import until

from .calls import GIB, SHARED, create, delete, publish, refused, unpublish
from .csi import MULTI_NODE_MULTI_WRITER, block, mounted
from .driver_world import Controller


@pytest.fixture
def controller(world):
    with Controller(world, "one", "--replica-gc-delay=2s") as controller:
        yield controller


def test_a_claim_becomes_a_disk_with_replicas_and_goes(world, controller):
    volume = create(controller)
    assert volume.volume_id == simulator.disk_id("pvc-1")
    assert volume.capacity_bytes == 4 * GIB
    assert volume.volume_context["requestedsizegib"] == "4"

    context = publish(controller, volume.volume_id, world.nodes[0])
    assert context == {"LUN": "0", "diskSizeBytes": str(4 * GIB)}
    everywhere = {"a": "Primary Attached", "b": "Replica Attached", "c": "Replica Attached"}
    until(lambda: world.roles("pvc-1") == everywhere, "three attachments")
    assert world.attached("pvc-1")[0] == "a", "the primary is attached before the replicas"

    before = world.last_call()
    unpublish(controller, volume.volume_id, world.nodes[0])
    publish(controller, volume.volume_id, world.nodes[1])
    moved = {"a": "Replica Attached", "b": "Primary Attached", "c": "Replica Attached"}
    until(lambda: world.roles("pvc-1") == moved, "the promotion")
    assert [e for e in world.azure.journal(before)] == [], "a promotion asks nothing of Azure"

    unpublish(controller, volume.volume_id, world.nodes[1])
    until(lambda: world.roles("pvc-1") == {}, "the replicas are collected")
    assert world.azure.control("GET", "disks")["disks"][0]["attachedTo"] == []

    delete(controller, volume.volume_id)
    assert world.objects("azvolumes") == []
    assert world.azure.control("GET", "summary")["nothingLeft"]
    delete(controller, volume.volume_id)


def test_a_publish_may_meet_the_collection_of_replicas(world):
    """Then it is done, or is to be asked for again; what was answered stays."""
    with Controller(world, "one", "--replica-gc-delay=0s") as controller:
        volume = create(controller).volume_id
        for node in (0, 1, 0, 1, 0, 1):
            until(lambda: published(controller, volume, world.nodes[node]), "the publish")
            until(lambda: world.roles("pvc-1").get("ab"[node]) == "Primary Attached", "the primary")
            until(lambda: len(world.roles("pvc-1")) == 3, "replicas")
            unpublish(controller, volume, world.nodes[node])
        until(lambda: world.roles("pvc-1") == {}, "all are collected")


def published(controller, volume: str, node: str) -> bool:
    try:
        return bool(publish(controller, volume, node))
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.ABORTED, error
        return False


# ---- what is refused ----

BAD_CLAIMS = [
    ({"parameters": {"maxShares": "16"}}, "maxShares", "16", "1 to 15"),
    ({"parameters": {"maxShares": "2", "maxMountReplicaCount": "2"}}, "maxMountReplicaCount", "0 to 1"),
    ({"parameters": {"skuName": "Fast"}}, "skuName", "Fast", "Premium_LRS"),
    ({"parameters": {"maxShares": "4", "skuName": "Premium_LRS"}}, "maxShares", "4", "3"),
    ({"parameters": {"colour": "red"}}, "colour"),
    ({"parameters": {"fsType": "ntfs"}}, "fsType", "ntfs", "ext4, ext3, ext2, xfs"),
    ({"parameters": {"maxShares": "2", "cachingMode": "ReadOnly"}}, "cachingMode", "None"),
    ({"name": ""}, "name"),
    ({"capability": mounted(MULTI_NODE_MULTI_WRITER), "parameters": SHARED}, "access_mode"),
    ({"capability": block(MULTI_NODE_MULTI_WRITER), "parameters": {}}, "maxShares"),
    ({"volume_content_source": {}}, "volume_content_source"),
]


def test_a_claim_that_cannot_be_is_refused_before_anything_is_asked_of_azure(world, controller):
    before = world.last_call()
    for arguments, *words in BAD_CLAIMS:
        with refused("INVALID_ARGUMENT", *words):
            create(controller, **arguments)
    with refused("OUT_OF_RANGE", "limit_bytes"):
        create(controller, size=GIB, limit=GIB - 1)
    with refused("OUT_OF_RANGE", "required_bytes", "too large"):
        create(controller, size=2**63 - 1)
    assert world.objects("azvolumes") == []
    assert not [e for e in world.azure.journal(before) if "disks" in e.get("kind", "")]


def test_calls_without_what_they_need_say_what_is_missing(controller):
    for call, field, more in [
        ("DeleteVolume", "volume_id", {}),
        ("ControllerPublishVolume", "volume_id", {}),
        ("ControllerPublishVolume", "node_id", {"volume_id": "x"}),
        ("ControllerPublishVolume", "volume_capability", {"volume_id": "x", "node_id": "y"}),
        ("ControllerUnpublishVolume", "volume_id", {}),
        ("ValidateVolumeCapabilities", "volume_id", {}),
        ("ValidateVolumeCapabilities", "volume_capabilities", {"volume_id": "x"}),
    ]:
        with refused("INVALID_ARGUMENT", field):
            controller.csi.call(f"Controller/{call}", **more)
    with refused("UNIMPLEMENTED"):
        controller.csi.call("Controller/GetCapacity")


def test_what_azure_says_is_passed_on(world, controller):
    with refused("NOT_FOUND", "ResourceGroupNotFound", "nowhere"):
        create(controller, parameters={"resourceGroup": "nowhere"})
    status = world.find("azvolumes", "pvc-1")["status"]
    assert status["state"] == "CreationFailed"
    assert status["error"]["code"] == "NOT_FOUND"
    assert status["error"]["parameters"] == {"code": "ResourceGroupNotFound"}
    assert status["annotation"]["disk.csi.azure.com/forget-after"], "it goes if nobody asks again"
    assert create(controller).volume_id == simulator.disk_id("pvc-1"), "the same name, mended"
    annotation = world.find("azvolumes", "pvc-1")["status"].get("annotation", {})
    assert "disk.csi.azure.com/forget-after" not in annotation


def test_a_disk_of_somebody_else_is_left_alone(world, controller, azure_sdk):
    disk = {"location": "eastus", "zones": ["1"], "sku": {"name": "Premium_LRS"},
            "properties": {"diskSizeGB": 4, "maxShares": 3, "creationData": {"createOption": "Empty"}}}
    azure_sdk.disks.begin_create_or_update("rg", "pvc-1", disk, polling_interval=0.1).result()
    with refused("ALREADY_EXISTS", "did not create"):
        create(controller)
    name = world.objects("azvolumes")[0]["metadata"]["name"]
    world.delete("azvolumes", name)
    until(lambda: not world.objects("azvolumes"), "the record goes")
    assert azure_sdk.disks.get("rg", "pvc-1").tags is None, "the disk is as it was"


# ---- once is enough ----

def test_the_same_claim_twice_is_one_disk(world, controller):
    first, second = create(controller), create(controller)
    assert first == second
    assert len(world.calls("disks.createOrUpdate")) == 1
    with refused("ALREADY_EXISTS", "required_bytes"):
        create(controller, size=8 * GIB)
    with refused("ALREADY_EXISTS", "parameters"):
        create(controller, parameters={"skuName": "Premium_LRS"})


def test_a_call_that_was_given_up_goes_on_and_is_joined(world, controller):
    world.azure.control("PATCH", "latency", {"create": "2s"})
    with pytest.raises(grpc.RpcError) as error:
        controller.csi.call("Controller/CreateVolume", name="pvc-1", timeout=0.5, parameters=SHARED,
                            volume_capabilities=[mounted()])
    assert error.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    create_same = {"name": "pvc-1", "parameters": SHARED, "volume_capabilities": [mounted()]}
    controller.csi.call("Controller/CreateVolume", **create_same)
    assert len(world.calls("disks.createOrUpdate")) == 1


def test_publishing_twice_and_elsewhere(world, controller):
    volume = create(controller).volume_id
    with refused("NOT_FOUND", "node-x"):
        publish(controller, volume, "node-x")
    with refused("NOT_FOUND"):
        publish(controller, simulator.disk_id("pvc-2"), world.nodes[0])
    assert publish(controller, volume, world.nodes[0]) == publish(controller, volume, world.nodes[0])
    with refused("FAILED_PRECONDITION", world.nodes[0]):
        publish(controller, volume, world.nodes[1])
    with refused("FAILED_PRECONDITION", world.nodes[0]):
        delete(controller, volume)
    unpublish(controller, volume, world.nodes[0])
    unpublish(controller, volume, world.nodes[0])
    unpublish(controller, volume, world.nodes[1])
    delete(controller, volume)
    assert world.azure.control("GET", "summary")["nothingLeft"]


def test_publishing_what_is_not_there_makes_no_disk(world, controller):
    """The record of a disk that was there before is written in two steps; between them it is one too."""
    for number in range(8):
        with refused("NOT_FOUND"):
            publish(controller, simulator.disk_id(f"nobody-{number}"), world.nodes[0])
    assert not world.calls("disks.createOrUpdate")


def test_without_replicas_an_unpublished_disk_is_detached(world, controller):
    volume = create(controller, parameters={}).volume_id
    publish(controller, volume, world.nodes[0])
    until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "attached")
    unpublish(controller, volume, world.nodes[0])
    assert world.roles("pvc-1") == {}, "it answers when the disk is detached"
    assert world.azure.control("GET", "disks")["disks"][0]["attachedTo"] == []
    publish(controller, volume, world.nodes[1])
    until(lambda: world.roles("pvc-1") == {"b": "Primary Attached"}, "attached elsewhere")
    unpublish(controller, volume, "")
    assert world.roles("pvc-1") == {}, "without a node: from all"


def test_unpublished_at_once_it_ends_detached(world, controller):
    world.azure.control("PATCH", "latency", {"attach": "1s"})
    volume = create(controller, parameters={}).volume_id
    publish(controller, volume, world.nodes[0])
    unpublish(controller, volume, world.nodes[0])
    assert world.roles("pvc-1") == {}
    assert world.azure.control("GET", "summary")["attachments"] == 0


def test_unpublished_while_it_is_attached_it_is_published_elsewhere(world, controller):
    """Neither waits for the other: the first becomes a replica on record before it is attached."""
    world.azure.control("PATCH", "latency", {"attach": "2s"})
    volume = create(controller).volume_id
    publish(controller, volume, world.nodes[0])
    unpublish(controller, volume, world.nodes[0])
    publish(controller, volume, world.nodes[1])
    everywhere = {"a": "Replica Attached", "b": "Primary Attached", "c": "Replica Attached"}
    until(lambda: world.roles("pvc-1") == everywhere, "one primary, where it was published last")
    assert sorted(world.attached("pvc-1")) == ["a", "b", "c"], "each once"


def test_capabilities(controller):
    volume = create(controller).volume_id
    ask = {"volume_id": volume, "volume_capabilities": [block(MULTI_NODE_MULTI_WRITER)]}
    assert controller.csi.call("Controller/ValidateVolumeCapabilities", **ask).confirmed.volume_capabilities
    ask["volume_capabilities"] = [mounted(MULTI_NODE_MULTI_WRITER)]
    answer = controller.csi.call("Controller/ValidateVolumeCapabilities", **ask)
    assert not answer.HasField("confirmed") and "one node" in answer.message
    with refused("NOT_FOUND"):
        controller.csi.call("Controller/ValidateVolumeCapabilities", **ask | {"volume_id": "x"})


# ---- by hand ----

def test_custom_resources_alone_are_enough(world, controller):
    spec = {"volumeName": "by-hand", "maxMountReplicaCount": 1, "parameters": SHARED,
            "volumeCapability": [{"access_type": 1, "access_mode": 1}],
            "accessibilityRequirements": {
                "preferred": [{"segments": {"topology.disk.csi.azure.com/zone": "eastus-1"}}]}}
    world.create("azvolumes", {"metadata": {"name": "by-hand"}, "spec": spec})
    until(lambda: world.find("azvolumes", "by-hand").get("status", {}).get("state") == "Created", "created")
    publish(controller, simulator.disk_id("BY-HAND"), world.nodes[2])
    until(lambda: sorted(world.roles("by-hand").values()) == ["Primary Attached", "Replica Attached"],
          "one replica, as the volume says")
    world.delete("azvolumes", "by-hand")
    world.azure.control("PATCH", "latency", {"get": "0s"})
    assert "c" in world.roles("by-hand"), "a published volume stays"
    unpublish(controller, simulator.disk_id("by-hand"), world.nodes[2])
    until(lambda: not world.objects("azvolumes"), "gone once it is unpublished")
    assert [d["name"] for d in world.azure.control("GET", "disks")["disks"]] == ["by-hand"], (
        "nobody asked for the disk to be deleted")


def test_a_disk_that_was_there_before(world, controller, azure_sdk):
    disk = {"location": "eastus", "zones": ["1"], "sku": {"name": "Premium_LRS"},
            "properties": {"diskSizeGB": 8, "maxShares": 2, "creationData": {"createOption": "Empty"}}}
    azure_sdk.disks.begin_create_or_update("rg", "Data_1", disk, polling_interval=0.1).result()
    volume = simulator.disk_id("Data_1").upper().replace("/SUBSCRIPTIONS/", "/subscriptions/")
    context = publish(controller, volume, world.nodes[0],
                      volume_context={"maxShares": "2", "skuName": "Premium_LRS", "other": "x"})
    assert context["diskSizeBytes"] == str(8 * GIB)
    name = world.objects("azvolumes")[0]["metadata"]["name"]
    until(lambda: len(world.roles(name)) == 2, "a replica")
    unpublish(controller, volume, world.nodes[0])
    delete(controller, volume)
    assert world.objects("azvolumes") == []
    assert azure_sdk.disks.get("rg", "Data_1").disk_state == "Unattached", "it was not ours to delete"
