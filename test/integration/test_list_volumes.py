"""ListVolumes: pages of what is on record, and where each volume is published, as csi-attacher compares it."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from azsim import simulator
from cluster.waiting import until

from .azure_side import make_disk
from .calls import GIB, SHARED, create, delete, publish, refused, unpublish
from .driver_world import GROUP, Controller, World
from .kubernetes_side import persistent_volume

FAST = {"attach": "50ms", "detach": "50ms", "create": "10ms", "delete": "10ms", "throttling": "off"}
MANY, PAGE = 250, 100


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, **FAST) as world:
        yield world


def page(controller, most: int = 0, token: str = ""):
    return controller.csi.call("Controller/ListVolumes", max_entries=most, starting_token=token)


def names(answer) -> list[str]:
    return [entry.volume.volume_id.rpartition("/")[2] for entry in answer.entries]


def published(controller) -> dict[str, list[str]]:
    """By the volume's id."""
    return {entry.volume.volume_id: list(entry.status.published_node_ids) for entry in page(controller).entries}


def test_it_is_advertised(controller):
    answer = controller.csi.call("Controller/ControllerGetCapabilities")
    advertised = {capability.rpc.DESCRIPTOR.enum_types_by_name["Type"].values_by_number[capability.rpc.type].name
                  for capability in answer.capabilities}
    assert {"LIST_VOLUMES", "LIST_VOLUMES_PUBLISHED_NODES", "VOLUME_CONDITION"} <= advertised


def test_what_cannot_be_listed(controller):
    with refused("INVALID_ARGUMENT", "max_entries", "-1"):
        page(controller, -1)
    for token in ("invalid-token", "after:", "after:Not-A-Name"):
        with refused("ABORTED", token, "without starting_token"):
            page(controller, token=token)
    assert page(controller).entries == []


def record(world, name: str) -> None:
    """A volume whose disk was created long ago; to create 250 disks would take half a minute."""
    capacity = {"required_bytes": 4 * GIB, "limit_bytes": 0}
    capability = {"access_type": 1, "fs_type": "", "mount_flags": [], "access_mode": 1}
    detail = {"volume_id": simulator.disk_id(name), "capacity_bytes": 4 * GIB, "node_expansion_required": False}
    world.create("azvolumes", {
        "metadata": {"name": name, "finalizers": [f"{GROUP}/azvolume-finalizer"]},
        "spec": {"volumeName": name, "maxMountReplicaCount": 0, "capacityRange": capacity,
                 "volumeCapability": [capability]}})
    world.patch("azvolumes", name, {"status": {"state": "Created", "detail": detail}}, status=True)


@pytest.fixture
def many(world) -> list[str]:
    """Names of volumes that are on record before there is a controller, which would create disks for them."""
    names_ = [f"v-{number:03}" for number in range(MANY)]
    for name in reversed(names_):
        record(world, name)
    return names_


@pytest.fixture
def without_audit(world, many):
    """The audit would ask Azure about disks that are only on record."""
    with Controller(world, "one", "--audit-interval=0s") as controller:
        yield controller


def test_pages_while_volumes_come_and_go(world, many, without_audit):
    controller = without_audit
    before = world.last_call()
    assert names(page(controller)) == many, "in order, on one page where there is room for all"

    found, token, pages = [], "", []
    while token or not pages:
        answer = page(controller, PAGE, token)
        found += names(answer)
        token = answer.next_token
        pages.append(len(answer.entries))
    assert (found, pages) == (many, [100, 100, 50])
    assert {entry.volume.capacity_bytes for entry in answer.entries} == {4 * GIB}
    asked = {entry["kind"] for entry in world.azure.journal(before)}
    assert asked <= {"metadata.endpoints"}, "Azure is not asked, but for what a controller that starts asks"

    first = page(controller, PAGE)
    gone = [many[3], many[PAGE - 1], many[PAGE], many[PAGE + 50]]
    with ThreadPoolExecutor(len(gone)) as pool:
        list(pool.map(lambda name: delete(controller, simulator.disk_id(name)), gone))
    create(controller, "v-000a", parameters={})
    create(controller, "v-150a", parameters={})
    rest = names(page(controller, token=first.next_token))
    expected = sorted(set(many[PAGE:]) - set(gone) | {"v-150a"})
    assert rest == expected, "none of the others is lost or comes twice"


def test_primaries_are_published_and_replicas_are_not(world, controller):
    a, b = world.nodes[:2]
    volume = create(controller).volume_id
    assert published(controller) == {volume: []}
    publish(controller, volume, a)
    assert published(controller) == {volume: [a]}, "at once, the disk may be on its way"
    everywhere = {"a": "Primary Attached", "b": "Replica Attached", "c": "Replica Attached"}
    until(lambda: world.roles("pvc-1") == everywhere, "replicas")
    assert published(controller) == {volume: [a]}
    with Controller(world, "other") as other:
        assert published(other) == {volume: [a]}, "every replica of the controller answers"
        unpublish(controller, volume, a)
        assert published(controller) == {volume: []}
        publish(controller, volume, b)
        assert published(controller) == {volume: [b]}, "it was promoted"
        until(lambda: published(other) == {volume: [b]}, "the other one hears of it")
    unpublish(controller, volume, b)
    assert published(controller) == {volume: []}


def test_a_handle_is_spelled_as_in_its_persistent_volume(world, controller, azure_sdk):
    """csi-attacher compares texts; Azure does not care for capitals, nor do those who write PersistentVolumes."""
    disk = make_disk(azure_sdk, "Data")
    handle = disk.replace("/resourceGroups/", "/resourcegroups/").replace("Data", "DATA")
    with persistent_volume(world, handle, {}, False):
        until(lambda: world.find("azvolumes", "data"), "it is adopted")
        until(lambda: published(controller) == {handle: []}, "it is listed")
        publish(controller, handle, world.nodes[0])
        assert published(controller) == {handle: [world.nodes[0]]}
        unpublish(controller, handle, world.nodes[0])


def test_the_condition_of_a_volume(world, controller, azure_sdk):
    """Its disk is deleted by somebody else while it is attached nowhere."""
    volume = create(controller, parameters=SHARED).volume_id
    (entry,) = page(controller).entries
    assert entry.status.volume_condition.message and not entry.status.volume_condition.abnormal
    azure_sdk.disks.begin_delete(simulator.GROUP, "pvc-1", polling_interval=0.1).result()
    publish(controller, volume, world.nodes[0])

    def condition():
        return page(controller).entries[0].status.volume_condition

    until(lambda: condition().abnormal, "the attach has failed")
    assert f"node {world.nodes[0]} failed" in condition().message
