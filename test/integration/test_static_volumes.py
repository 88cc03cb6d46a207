"""Volumes of PersistentVolumes that people make and delete by hand, and disks that they make anew."""

from cluster.waiting import until

from .azure_side import delete_disk, make_disk
from .calls import publish, refused, unpublish
from .csi import MULTI_NODE_MULTI_WRITER, block
from .driver_world import GROUP
from .kubernetes_side import persistent_volume, remove

SHARED_BY_TWO = {"maxShares": "2", "maxMountReplicaCount": "1"}
FILESYSTEM, UNIQUE_ID = f"{GROUP}/filesystem", f"{GROUP}/disk-unique-id"
SOURCE, ACCEPT = f"{GROUP}/source-filesystem", f"{GROUP}/accept-filesystem"


def notes(world) -> dict[str, str]:
    return (world.find("azvolumes", "data") or {}).get("status", {}).get("annotation", {})


def is_seen(world) -> bool:
    return UNIQUE_ID in notes(world)


def replicas_wanted(world) -> int | None:
    return (world.find("azvolumes", "data") or {"spec": {}})["spec"].get("maxMountReplicaCount")


def in_use_once(world, controller, volume: str) -> None:
    """A node had it, and formatted it."""
    node = world.nodes[0]
    publish(controller, volume, node)
    notes_of_the_disk = {FILESYSTEM: "ext4 of-the-first-disk", SOURCE: "ext4 of-its-origin"}
    world.patch("azvolumes", "data", {"status": {"annotation": notes_of_the_disk}}, True)
    unpublish(controller, volume, node)


def test_who_may_share_it_is_read_from_the_disk(world, controller, azure_sdk):
    shared, single = make_disk(azure_sdk, "data", shares=2), make_disk(azure_sdk, "single")
    capability = block(MULTI_NODE_MULTI_WRITER)
    with (persistent_volume(world, shared, {}, False, mode="ReadWriteMany"),
          persistent_volume(world, single, {}, False, mode="ReadWriteMany")):
        for node in world.nodes[:2]:
            publish(controller, shared, node, capability)
        until(lambda: len(world.attached("data")) == 2, "two VMs have it")
        with refused("INVALID_ARGUMENT", "maxShares"):
            publish(controller, single, world.nodes[0], capability)


def test_replicas_of_a_disk_that_says_itself_who_may_share_it(world, controller, azure_sdk):
    """Two are asked for; the disks have room for one, and for none."""
    shared, single = make_disk(azure_sdk, "data", shares=2), make_disk(azure_sdk, "single")
    wishes = {"maxMountReplicaCount": "2"}
    with persistent_volume(world, shared, wishes, False), persistent_volume(world, single, wishes, False):
        for disk in (shared, single):
            publish(controller, disk, world.nodes[0])
        until(lambda: sorted(world.roles("data").values()) == ["Primary Attached", "Replica Attached"], "a replica")
        until(lambda: world.roles("single") == {"a": "Primary Attached"}, "no replica")
        unpublish(controller, single, world.nodes[0])
        until(lambda: world.roles("single") == {}, "it is detached, and not kept as a replica")
        until(lambda: replicas_wanted(world) == 2, "the wish stays on record")


def test_it_says_which_claim_has_it(world, controller, azure_sdk):
    volume = make_disk(azure_sdk, "data")
    with persistent_volume(world, volume, {}, False) as pv:
        until(lambda: is_seen(world), "it is adopted")
        record = world.find("azvolumes", "data")
        assert record["spec"]["persistentVolume"] == pv
        assert record["metadata"]["labels"] == {
            f"{GROUP}/pv": pv, f"{GROUP}/pvc": "claim", f"{GROUP}/pvc-namespace": world.namespace}
        world.core.patch_persistent_volume(pv, {"spec": {"claimRef": None}})
        until(lambda: f"{GROUP}/pvc" not in world.find("azvolumes", "data")["metadata"]["labels"], "it is nobody's")
        world.core.patch_persistent_volume(
            pv, {"spec": {"claimRef": {"namespace": world.namespace, "name": "another"}}})
        until(lambda: world.find("azvolumes", "data")["metadata"]["labels"].get(f"{GROUP}/pvc") == "another",
              "another claim has it")


def test_a_record_ends_with_its_persistent_volume(world, controller, azure_sdk):
    volume = make_disk(azure_sdk, "data", shares=2)
    with persistent_volume(world, volume, SHARED_BY_TWO, False):
        publish(controller, volume, world.nodes[0])
        until(lambda: len(world.roles("data")) == 2, "a primary and a replica")
        unpublish(controller, volume, world.nodes[0])
    until(lambda: not world.objects("azvolumes"), "no record is left")
    assert not world.objects("azvolumeattachments")
    assert [disk["name"] for disk in world.azure.control("GET", "disks")["disks"]] == ["data"]


def test_replicas_of_a_released_volume_go_at_once(world, controller, azure_sdk):
    volume = make_disk(azure_sdk, "data", shares=2)
    with persistent_volume(world, volume, SHARED_BY_TWO, False) as pv:
        publish(controller, volume, world.nodes[0])
        until(lambda: len(world.roles("data")) == 2, "a primary and a replica")
        unpublish(controller, volume, world.nodes[0])
        world.core.patch_persistent_volume_status(pv, {"status": {"phase": "Released"}})
        until(lambda: not world.objects("azvolumeattachments"), "they would have stayed for minutes")
        assert world.find("azvolumes", "data"), "the record stays"


def test_a_persistent_volume_made_anew_is_another_volume(world, controller, azure_sdk):
    """With other attributes, although neither its name nor its disk is another."""
    volume = make_disk(azure_sdk, "data", shares=2)
    with persistent_volume(world, volume, {"cachingMode": "ReadOnly"}, False) as pv:
        until(lambda: is_seen(world), "it is adopted")
        remove(world, pv)
        with persistent_volume(world, volume, SHARED_BY_TWO, False):
            until(lambda: replicas_wanted(world) == 1, "a record of the new one")


def test_a_disk_made_anew_has_no_file_system_on_record(world, controller, azure_sdk):
    volume = make_disk(azure_sdk, "data")
    with persistent_volume(world, volume, {}, False):
        in_use_once(world, controller, volume)
        first = notes(world)[UNIQUE_ID]
        delete_disk(azure_sdk, "data")
        make_disk(azure_sdk, "data")
        publish(controller, volume, world.nodes[1])
        assert notes(world)[UNIQUE_ID] != first
        assert FILESYSTEM not in notes(world) and SOURCE not in notes(world)
        until(lambda: any(event.reason == "DiskReplaced" for event in events(world)), "an event says so")


def test_the_same_disk_keeps_its_file_system_on_record(world, controller, azure_sdk):
    volume = make_disk(azure_sdk, "data")
    with persistent_volume(world, volume, {}, False):
        in_use_once(world, controller, volume)
        publish(controller, volume, world.nodes[1])
        assert FILESYSTEM in notes(world) and SOURCE in notes(world)


def test_the_file_system_that_a_user_accepts(world, controller, azure_sdk):
    """It is in the AzVolume, where nodes read it, as it is in the PersistentVolume."""
    def accepted() -> str | None:
        return world.find("azvolumes", "data")["metadata"]["annotations"].get(ACCEPT)

    volume = make_disk(azure_sdk, "data")
    with persistent_volume(world, volume, {}, False) as pv:
        until(lambda: is_seen(world), "it is adopted")
        assert accepted() is None
        for uuid in ("617a646b-1111-8111-8111-111111111111", "617a646b-2222-8222-8222-222222222222", None):
            world.core.patch_persistent_volume(pv, {"metadata": {"annotations": {ACCEPT: uuid}}})
            until(lambda: accepted() == uuid, f"it says {uuid}")


def events(world) -> list:
    return world.core.list_namespaced_event(world.namespace).items
