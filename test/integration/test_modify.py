"""ControllerModifyVolume: what a disk becomes, when, and what is said where it cannot."""

import grpc
import pytest
from azsim import simulator
from cluster.waiting import until

from . import custom_resources
from .calls import GIB, create, publish, refused, unpublish
from .driver_world import Controller, World
from .kubernetes_side import persistent_volume

ALONE = {"skuName": "Premium_LRS"}
SHARED = {"skuName": "Premium_LRS", "maxShares": "2"}
FAST = {"skuName": "PremiumV2_LRS", "DiskIOPSReadWrite": "4000"}


@pytest.fixture
def world(tmp_path, apiserver):
    latency = {kind: "50ms" for kind in ("attach", "detach", "create", "update", "copy")}
    with World(tmp_path, apiserver, **latency) as world:
        yield world


def begin(controller, volume: str, **parameters):
    return controller.csi.begin("Controller/ControllerModifyVolume", volume_id=volume, mutable_parameters=parameters)


def modify(controller, volume: str, **parameters) -> None:
    begin(controller, volume, **parameters).result()


@pytest.fixture
def disk(world):
    """What Azure has: kind, IOPS and MBps."""
    def read() -> tuple[str, int, int]:
        found = next(d for d in world.azure.control("GET", "disks")["disks"] if d["name"] == "pvc-1")
        return found["sku"], found["iops"], found["mbps"]

    return read


def changes(world, since: int) -> int:
    """How often Azure was asked to change a disk."""
    return len(world.calls("disks.update", since))


def record(world, name: str = "pvc-1") -> dict:
    return world.find("azvolumes", name)


def events(world) -> list[str]:
    return [e.reason for e in world.core.list_namespaced_event(world.namespace).items]


def test_a_disk_in_use_gets_other_iops(world, controller, disk):
    volume = create(controller, parameters=FAST, size=16 * GIB).volume_id
    publish(controller, volume, world.nodes[0])
    until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "the disk is attached")
    before = world.last_call()
    modify(controller, volume, DiskIOPSReadWrite="5000", diskMBpsReadWrite="300")
    assert disk() == ("PremiumV2_LRS", 5000, 300)
    assert changes(world, before) == 1, "one change for both"
    assert record(world)["status"]["mutableParameters"] == record(world)["spec"]["mutableParameters"]
    assert world.calls("virtualMachines.attachDetachDataDisks", before) == [], "it stays attached"
    until(lambda: "DiskModified" in events(world), "an event")

    before = world.last_call()
    modify(controller, volume, DiskIOPSReadWrite="5000", diskMBpsReadWrite="300")
    assert changes(world, before) == 0, "what is so already is not changed"


def test_the_class_of_a_new_volume_counts(world, controller, disk):
    parameters = {"skuName": "PremiumV2_LRS", "DiskIOPSReadWrite": "3500"}
    mutable = {"DiskIOPSReadWrite": "4200"}
    volume = create(controller, parameters=parameters, mutable_parameters=mutable, size=16 * GIB)
    assert disk()[1] == 4200
    assert dict(volume.volume_context)["DiskIOPSReadWrite"] == "3500", "the context is that of the StorageClass"
    before = world.last_call()
    assert create(controller, parameters=parameters, mutable_parameters=mutable, size=16 * GIB).volume_id == volume.volume_id
    modify(controller, volume.volume_id, **mutable)
    modify(controller, volume.volume_id, DiskIOPSReadWrite="4300")
    again = create(controller, parameters=parameters, mutable_parameters=mutable, size=16 * GIB)
    assert again.volume_id == volume.volume_id, "a volume that was modified is still the one that was created"
    assert changes(world, before) == 1 and disk()[1] == 4300
    with refused("INVALID_ARGUMENT", "cachingMode", "VolumeAttributesClass"):
        create(controller, name="pvc-2", mutable_parameters={"cachingMode": "None"})
    with refused("INVALID_ARGUMENT", "diskIOPSReadWrite", "100000"):
        create(controller, name="pvc-2", parameters=parameters, size=16 * GIB, mutable_parameters={"DiskIOPSReadWrite": "100000"})


@pytest.mark.parametrize("parameters, words", [
    ({"maxShares": "2"}, ("maxShares", "only skuName")),
    ({"skuname": "Premium"}, ("skuName", "not one of")),
    ({"skuName": "UltraSSD_LRS"}, ("Premium_LRS cannot become UltraSSD_LRS", "copying")),
    ({"skuName": "Premium_ZRS"}, ("Premium_LRS cannot become Premium_ZRS", "zone-redundant")),
    ({"DiskIOPSReadWrite": "5000"}, ("diskIOPSReadWrite", "Premium_LRS")),
    ({"skuName": "PremiumV2_LRS", "DiskIOPSReadWrite": "90000"}, ("diskIOPSReadWrite", "90000", "PremiumV2_LRS")),
    ({}, ("mutable_parameters",)),
])
def test_what_can_never_be_is_refused_before_azure_is_asked(world, controller, parameters, words):
    volume = create(controller, parameters=ALONE).volume_id
    before = world.last_call()
    with refused("INVALID_ARGUMENT", *words):
        modify(controller, volume, **parameters)
    assert changes(world, before) == 0
    assert "mutableParameters" not in record(world)["spec"]
    with refused("NOT_FOUND"):
        modify(controller, volume + "x", skuName="StandardSSD_LRS")


def test_a_shared_disk_cannot_become_of_a_kind_that_is_not(world, controller):
    volume = create(controller, parameters=SHARED).volume_id
    with refused("INVALID_ARGUMENT", "maxShares", "Standard_LRS disks cannot be shared"):
        modify(controller, volume, skuName="Standard_LRS")


def test_what_the_storage_class_asks_for_stays_possible(world, controller):
    volume = create(controller, parameters={**ALONE, "writeAcceleratorEnabled": "true", "cachingMode": "None"}).volume_id
    with refused("INVALID_ARGUMENT", "writeAcceleratorEnabled", "StandardSSD_LRS"):
        modify(controller, volume, skuName="StandardSSD_LRS")


def test_another_kind_waits_until_no_pod_uses_the_volume(world, controller, disk):
    volume = create(controller, parameters=SHARED).volume_id
    publish(controller, volume, world.nodes[0])
    until(lambda: world.roles("pvc-1") == {"a": "Primary Attached", "b": "Replica Attached"}, "a replica")
    before = world.last_call()
    with refused("FAILED_PRECONDITION", "that is shared", "StandardSSD_LRS", world.nodes[0], "scaled to 0"):
        modify(controller, volume, skuName="StandardSSD_LRS")
    assert len(world.roles("pvc-1")) == 2, "the replica stays for a failover"
    unpublish(controller, volume, world.nodes[0])
    until(lambda: disk()[0] == "StandardSSD_LRS", "it is modified, though nobody asks again")
    modify(controller, volume, skuName="StandardSSD_LRS")
    assert changes(world, before) == 1
    publish(controller, volume, world.nodes[1])
    until(lambda: len(world.roles("pvc-1")) == 2, "the replica is back")


def test_it_waits_for_the_last_pod(world, controller, disk):
    volume = create(controller, parameters=ALONE).volume_id
    with persistent_volume(world, volume, ALONE):
        world.core.create_namespaced_pod(world.namespace, {
            "metadata": {"name": "user"}, "spec": {
                "containers": [{"name": "c", "image": "i"}],
                "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "claim"}}]}})
        with refused("FAILED_PRECONDITION", f"pod {world.namespace}/user"):
            modify(controller, volume, skuName="StandardSSD_LRS")
        world.core.delete_namespaced_pod("user", world.namespace, grace_period_seconds=0)
        until(lambda: disk()[0] == "StandardSSD_LRS", "it is modified when the pod is gone")


def test_a_disk_is_converted_in_the_background(world, controller):
    """Azure says that it has changed the disk at once, and copies its data for hours."""
    world.azure.control("PATCH", "latency", {"copy": "600s"})
    volume = create(controller, parameters={**ALONE, "cachingMode": "None"}).volume_id
    publish(controller, volume, world.nodes[0])
    first = begin(controller, volume, skuName="PremiumV2_LRS")
    until(lambda: "completionPercent" in record(world)["status"], "how far it is")
    until(lambda: "DiskConverting" in events(world), "an event")
    assert not first.done()
    first.cancel()
    assert record(world)["status"]["annotation"]["disk.csi.azure.com/disk-sku"] == "PremiumV2_LRS"

    def is_told() -> bool:
        failure = controller.csi.begin("Controller/ControllerModifyVolume", timeout=2, volume_id=volume,
                                       mutable_parameters={"skuName": "PremiumV2_LRS"}).exception()
        return failure.code() == grpc.StatusCode.DEADLINE_EXCEEDED and "converting" in failure.details()

    until(is_told, "the controller says why, before the caller's time is over")


def test_a_cached_disk_is_converted_when_it_is_detached(world, controller, disk, azure_sdk):
    volume = create(controller, parameters=ALONE, size=16 * GIB).volume_id
    publish(controller, volume, world.nodes[0])
    with refused("FAILED_PRECONDITION", "with host caching", "PremiumV2_LRS"):
        modify(controller, volume, skuName="PremiumV2_LRS")
    unpublish(controller, volume, world.nodes[0])
    modify(controller, volume, skuName="PremiumV2_LRS", DiskIOPSReadWrite="3500")
    assert disk()[:2] == ("PremiumV2_LRS", 3500)
    publish(controller, volume, world.nodes[0])
    until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "the disk is attached, as its new kind allows")
    vm = azure_sdk.virtual_machines.get(simulator.GROUP, world.nodes[0]).as_dict()
    assert [d["caching"] for d in vm["properties"]["storageProfile"]["dataDisks"]] == ["None"]


def test_a_disk_that_somebody_has_converted_in_azure_is_attached_as_it_is_now(world, controller, azure_sdk):
    volume = create(controller, parameters=ALONE, size=16 * GIB).volume_id
    azure_sdk.disks.begin_update(simulator.GROUP, "pvc-1", {"sku": {"name": "PremiumV2_LRS"}},
                                 polling_interval=0.1).result()
    publish(controller, volume, world.nodes[0])
    until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "the disk is attached without caching", 60)
    modify(controller, volume, DiskIOPSReadWrite="3500")


def test_a_disk_in_use_that_somebody_has_changed_waits_to_be_changed_back(world, controller, disk, azure_sdk):
    """By the record it has that kind already."""
    volume = create(controller, parameters=ALONE).volume_id
    azure_sdk.disks.begin_update(simulator.GROUP, "pvc-1", {"sku": {"name": "StandardSSD_LRS"}},
                                 polling_interval=0.1).result()
    publish(controller, volume, world.nodes[0])
    until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "the disk is attached")
    before = world.last_call()
    with refused("FAILED_PRECONDITION", "a StandardSSD_LRS disk", "becomes a Premium_LRS disk only while no VM has it"):
        modify(controller, volume, skuName="Premium_LRS")
    assert changes(world, before) == 0
    unpublish(controller, volume, world.nodes[0])
    until(lambda: disk()[0] == "Premium_LRS", "it is modified")


def test_what_azure_refuses_is_said_and_tried_again_when_asked(world, controller):
    volume = create(controller, parameters=FAST, size=16 * GIB).volume_id
    for iops in (4100, 4200, 4300, 4400):
        modify(controller, volume, DiskIOPSReadWrite=str(iops))
    with refused("RESOURCE_EXHAUSTED", "4 times in 24 hours"):
        modify(controller, volume, DiskIOPSReadWrite="4500")
    status = record(world)["status"]
    assert status["modifyError"]["code"] == "RESOURCE_EXHAUSTED" and status["state"] == "Created"
    assert status["mutableParameters"] == {"DiskIOPSReadWrite": "4400"}
    until(lambda: "DiskModifyFailed" in events(world), "an event")
    modify(controller, volume, DiskIOPSReadWrite="4400")
    assert "modifyError" not in record(world)["status"], "the wish was taken back"
    assert controller.csi.call("Controller/ControllerExpandVolume", volume_id=volume,
                               capacity_range={"required_bytes": 17 * GIB}).capacity_bytes == 17 * GIB


def test_the_next_leader_goes_on(world, disk):
    first = Controller(world, "one").start()
    volume = create(first, parameters=ALONE).volume_id
    world.azure.control("PATCH", "latency", {"update": "2s"})
    before = world.last_call()
    asked = begin(first, volume, skuName="StandardSSD_LRS")
    until(lambda: world.calls("disks.update", before), "the change is asked for")
    first.kill()
    assert asked.exception()
    with Controller(world, "two") as second:
        until(lambda: record(world)["status"].get("mutableParameters") == {"skuName": "StandardSSD_LRS"}, "it is done")
        modify(second, volume, skuName="StandardSSD_LRS")
    assert changes(world, before) == 1 and disk()[0] == "StandardSSD_LRS"


def is_kept(world) -> bool:
    world.patch("azvolumes", "pvc-1", {"spec": {"mutableParameters": {"diskMBpsReadWrite": "125"}}})
    return "mutableParameters" in record(world)["spec"]


def test_definitions_that_are_too_old_are_found_out(world, controller):
    volume = create(controller, parameters=FAST, size=16 * GIB).volume_id
    with custom_resources.older(world.client, "azvolumes", "mutableParameters", lambda: is_kept(world)):
        with refused("FAILED_PRECONDITION", "custom resource definitions"):
            modify(controller, volume, DiskIOPSReadWrite="4100")
        with refused("FAILED_PRECONDITION", "custom resource definitions"):
            create(controller, name="pvc-2", parameters=FAST, size=16 * GIB, mutable_parameters={"DiskIOPSReadWrite": "4100"})
