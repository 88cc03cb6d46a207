"""CreateVolume from a snapshot or a volume: what Azure is asked for, what is on record, and which sources are refused."""

import hashlib
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from azsim import simulator
from cluster.waiting import until

from .calls import GIB, create, delete, refused
from .driver_world import Controller, World
from .kubernetes_side import persistent_volume
from .test_snapshots import by_hand, snap

FAST = {"attach": "50ms", "detach": "50ms", "create": "10ms", "delete": "50ms", "snapshot": "50ms"}
PLAIN = {"skuName": "Premium_LRS"}
FILESYSTEM = "disk.csi.azure.com/filesystem"
SOURCE_FILESYSTEM = "disk.csi.azure.com/source-filesystem"
FORGET_AFTER = "disk.csi.azure.com/forget-after"
SOURCE_UUIDS = "disk.csi.azure.com/source-uuids"
MARK = "ext4 0c1a7c55-1f58-4d34-8f6d-7f6b1d2b3a4c"


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, **FAST) as world:
        yield world


def from_snapshot(id_: str) -> dict:
    return {"volume_content_source": {"snapshot": {"snapshot_id": id_}}}


def from_volume(id_: str) -> dict:
    return {"volume_content_source": {"volume": {"volume_id": id_}}}


def note(world, volume: str, **annotations: str) -> None:
    world.patch("azvolumes", volume, {"status": {"annotation": annotations}}, status=True)


def formatted(world, name="pvc-1") -> None:
    note(world, name, **{FILESYSTEM: MARK})


def derived(volume_id: str) -> str:
    """The UUID that provisioner-lib/host/identity.h gives to a volume's file system."""
    raw = bytearray(b"azdk" + hashlib.sha256(volume_id.lower().encode()).digest()[:12])
    raw[6], raw[8] = raw[6] & 0x0F | 0x80, raw[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(raw)))


def snapshot_begun(controller, source: str) -> None:
    snapshot = snap(controller, source, parameters={}).snapshot_id
    create(controller, "pvc-2", PLAIN, **from_snapshot(snapshot))


def clone_begun(controller, source: str) -> None:
    create(controller, "pvc-2", PLAIN, **from_volume(source))


def annotations(world, name: str) -> dict[str, str]:
    return world.find("azvolumes", name)["status"]["annotation"]


def test_a_volume_is_restored_from_a_snapshot(world, controller, azure_sdk):
    source = create(controller, parameters=PLAIN).volume_id
    formatted(world)
    snapshot = snap(controller, source, parameters={}).snapshot_id
    restored = create(controller, "pvc-2", PLAIN, size=6 * GIB, **from_snapshot(snapshot))
    assert restored.capacity_bytes == 6 * GIB
    assert restored.content_source.snapshot.snapshot_id == snapshot
    disk = azure_sdk.disks.get(simulator.GROUP, "pvc-2")
    assert (disk.creation_data.create_option, disk.creation_data.source_resource_id) == ("Copy", snapshot)
    assert disk.disk_size_gb == 6
    assert annotations(world, "pvc-2")[SOURCE_FILESYSTEM] == MARK
    assert FILESYSTEM not in annotations(world, "pvc-2")
    before = world.last_call()
    assert create(controller, "pvc-2", PLAIN, size=6 * GIB, **from_snapshot(snapshot.upper())) == restored
    assert not world.calls("disks.createOrUpdate", before)


def test_a_volume_is_cloned(world, controller, azure_sdk):
    """Smaller than is asked for it cannot be."""
    source = create(controller, parameters=PLAIN).volume_id
    formatted(world)
    clone = create(controller, "pvc-2", PLAIN, size=GIB, **from_volume(source))
    assert clone.capacity_bytes == 4 * GIB
    assert clone.content_source.volume.volume_id == source
    assert azure_sdk.disks.get(simulator.GROUP, "pvc-2").creation_data.source_resource_id == source
    assert annotations(world, "pvc-2")[SOURCE_FILESYSTEM] == MARK
    again = create(controller, "pvc-3", PLAIN, **from_volume(clone.volume_id))
    assert annotations(world, "pvc-3")[SOURCE_FILESYSTEM] == MARK, "of a copy that was never mounted"
    note(world, "pvc-2", **{FILESYSTEM: MARK.replace("0c1a", "ffff")})
    create(controller, "pvc-4", PLAIN, **from_volume(clone.volume_id))
    assert annotations(world, "pvc-4")[SOURCE_FILESYSTEM] == MARK.replace("0c1a", "ffff")
    assert again.accessible_topology == clone.accessible_topology


def test_an_empty_source_has_no_file_system(world, controller):
    source = create(controller, parameters=PLAIN).volume_id
    create(controller, "pvc-2", PLAIN, **from_volume(source))
    assert SOURCE_FILESYSTEM not in annotations(world, "pvc-2")
    assert annotations(world, "pvc-2")[SOURCE_UUIDS] == derived(source), "it may have been formatted just now"
    clone = create(controller, "pvc-3", PLAIN, **from_volume(source)).volume_id
    create(controller, "pvc-4", PLAIN, **from_volume(clone))
    assert annotations(world, "pvc-4")[SOURCE_UUIDS] == f"{derived(clone)} {derived(source)}"


@pytest.mark.parametrize("begin", [snapshot_begun, clone_begun])
def test_what_comes_on_record_while_it_is_copied(world, controller, begin):
    """The copy may be of a moment before, when there was nothing on the disk."""
    source = create(controller, parameters=PLAIN).volume_id
    world.azure.control("PATCH", "latency", {"create": "3s", "snapshot": "3s"})
    with ThreadPoolExecutor(1) as pool:
        before = world.last_call()
        made = pool.submit(begin, controller, source)
        until(lambda: world.calls("disks.createOrUpdate", before) or world.calls("snapshots.createOrUpdate", before),
              "Azure is asked for the copy")
        formatted(world)
        made.result()
    assert SOURCE_FILESYSTEM not in annotations(world, "pvc-2")
    assert annotations(world, "pvc-2")[SOURCE_UUIDS] == derived(source)


def test_the_file_system_is_that_of_the_snapshot_not_of_what_came_later(world, controller):
    source = create(controller, parameters=PLAIN).volume_id
    formatted(world)
    snapshot = snap(controller, source, parameters={}).snapshot_id
    note(world, "pvc-1", **{FILESYSTEM: MARK.replace("0c1a", "ffff")})
    create(controller, "pvc-2", PLAIN, **from_snapshot(snapshot))
    assert annotations(world, "pvc-2")[SOURCE_FILESYSTEM] == MARK


def test_a_snapshot_that_is_not_on_record(world, controller, azure_sdk):
    """Of a driver before this one, or made by hand: whose disk it is of is known."""
    source = create(controller, parameters=PLAIN).volume_id
    formatted(world)
    create(controller, "pvc-2", PLAIN, **from_snapshot(by_hand(azure_sdk, "theirs", source)))
    assert annotations(world, "pvc-2")[SOURCE_FILESYSTEM] == MARK


def test_what_is_refused(world, controller):
    source = create(controller, parameters=PLAIN).volume_id
    snapshot = snap(controller, source, parameters={}).snapshot_id
    for missing in (from_snapshot(snapshot + "-no"), from_snapshot("no"), from_volume(source + "-no"), from_volume("no"),
                    from_volume(snapshot)):
        with refused("NOT_FOUND"):
            create(controller, "pvc-2", PLAIN, **missing)
    with refused("INVALID_ARGUMENT", "neither a snapshot nor a volume"):
        create(controller, "pvc-2", PLAIN, volume_content_source={})
    with refused("OUT_OF_RANGE", "limit_bytes"):
        create(controller, "pvc-2", PLAIN, size=GIB, limit=2 * GIB, **from_snapshot(snapshot))
    assert {o["metadata"]["name"] for o in world.objects("azvolumes")} == {"pvc-1"}
    create(controller, "pvc-2", PLAIN, **from_snapshot(snapshot))
    with refused("ALREADY_EXISTS", "copy of", snapshot):
        create(controller, "pvc-2", PLAIN)
    with refused("ALREADY_EXISTS", "copy of", source):
        create(controller, "pvc-2", PLAIN, **from_volume(source))
    with refused("ALREADY_EXISTS", "copy of nothing"):
        create(controller, "pvc-1", PLAIN, **from_volume(source))


def test_a_clone_stays_in_its_zone(world, controller):
    source = create(controller, parameters=PLAIN).volume_id
    zone = f"topology.{world.driver}/zone"

    def elsewhere(name: str, parameters: dict, source: dict, *zones: str):
        return controller.csi.call(
            "Controller/CreateVolume", name=name, parameters=parameters, capacity_range={"required_bytes": 4 * GIB},
            volume_capabilities=[{"mount": {}, "access_mode": {"mode": 1}}], **source,
            accessibility_requirements={"requisite": [{"segments": {zone: z}} for z in zones],
                                        "preferred": [{"segments": {zone: zones[0]}}]}).volume

    with refused("RESOURCE_EXHAUSTED", "eastus-1", "snapshot"):
        elsewhere("pvc-2", PLAIN, from_volume(source), "eastus-2", "eastus-3")
    assert elsewhere("pvc-2", PLAIN, from_volume(source), "eastus-2", "eastus-1").accessible_topology[0].segments == {
        zone: "eastus-1"}
    snapshot = snap(controller, source, parameters={}).snapshot_id
    assert elsewhere("pvc-3", PLAIN, from_snapshot(snapshot), "eastus-2").accessible_topology[0].segments == {
        zone: "eastus-2"}


def test_data_that_is_not_there_yet(world, controller):
    world.azure.control("PATCH", "latency", {"copy": "1h"})
    slow = {"skuName": "PremiumV2_LRS"}
    source = create(controller, parameters=slow).volume_id
    snapshot = snap(controller, source, parameters={}).snapshot_id
    with refused("ABORTED", "has not been copied yet"):
        create(controller, "pvc-2", slow, **from_snapshot(snapshot))
    clone = create(controller, "pvc-3", slow, **from_volume(source)).volume_id
    with refused("ABORTED", "is being copied"):
        create(controller, "pvc-4", slow, **from_volume(clone))


def test_a_volume_outlives_its_source(world, controller):
    source = create(controller, parameters=PLAIN).volume_id
    clone = create(controller, "pvc-2", PLAIN, **from_volume(source))
    delete(controller, source)
    assert create(controller, "pvc-2", PLAIN, **from_volume(source)) == clone, "repeated, by whoever missed the answer"
    with refused("NOT_FOUND", "pvc-1"):
        create(controller, "pvc-3", PLAIN, **from_volume(source))


def test_a_creation_that_failed_begins_anew_without_its_source(world, controller, azure_sdk):
    source = create(controller, parameters=PLAIN).volume_id
    with refused("NOT_FOUND", "nowhere"):
        create(controller, "pvc-2", {**PLAIN, "resourceGroup": "nowhere"}, **from_volume(source))
    assert not create(controller, "pvc-2", PLAIN).HasField("content_source")
    assert azure_sdk.disks.get(simulator.GROUP, "pvc-2").creation_data.create_option == "Empty"


@pytest.mark.parametrize("is_snapshot", [True, False])
def test_a_record_that_was_lost(world, controller, is_snapshot):
    """Of a copy that no node has used yet: Azure knows what it is a copy of."""
    source = create(controller, parameters=PLAIN).volume_id
    formatted(world)
    content = from_snapshot(snap(controller, source, parameters={}).snapshot_id) if is_snapshot else from_volume(source)
    copy = create(controller, "pvc-2", PLAIN, **content).volume_id
    with persistent_volume(world, copy, PLAIN):
        before = world.find("azvolumes", "pvc-2")["metadata"]["uid"]
        world.delete("azvolumes", "pvc-2")
        made_anew = until(lambda: next((o for o in world.objects("azvolumes")
                                        if o["metadata"]["name"] == "pvc-2" and o["metadata"]["uid"] != before
                                        and o.get("status", {}).get("detail")), None), "the record is made anew")
    uuids = made_anew["status"]["annotation"][SOURCE_UUIDS].split()
    assert uuids == [MARK.split()[1] if is_snapshot else derived(source)]


def test_what_failed_goes_when_its_source_is_gone(world, controller):
    """Nobody asks again after such an answer. The call of which the creation failed may have ended before."""
    source = create(controller, parameters=PLAIN).volume_id
    parameters = {**PLAIN, "resourceGroup": "nowhere"}
    with refused("NOT_FOUND", "nowhere"):
        create(controller, "pvc-2", parameters, **from_volume(source))
    note(world, "pvc-2", **{FORGET_AFTER: None})
    delete(controller, source)
    with refused("NOT_FOUND", "pvc-1"):
        create(controller, "pvc-2", parameters, **from_volume(source))
    assert annotations(world, "pvc-2")[FORGET_AFTER]
