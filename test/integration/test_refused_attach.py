"""Attaches that Azure refuses because of the disk: which of them are tried again, when, and by whom."""

import pytest
from azsim import simulator
from cluster.waiting import until

from .calls import create, publish, refused
from .csi import mounted
from .driver_world import Controller

SINGLE = {"skuName": "Premium_LRS"}
ATTACH = "virtualMachines.attachDetachDataDisks"


def attempts(world) -> int:
    return len([e for e in world.azure.journal() if e.get("kind") == ATTACH])


@pytest.fixture
def controller(world):
    with Controller(world, "one", "--publish-wait=attached") as controller:
        yield controller


def test_a_disk_that_azure_does_not_find_yet(world, controller):
    """What attaches disks learns of a new one late: the call that waits for it is answered when it has."""
    volume = create(controller, parameters=SINGLE).volume_id
    world.azure.fault("refuse", kind=ATTACH, code="NotFound", calls="1-4")
    publish(controller, volume, world.nodes[0])
    assert world.roles("pvc-1") == {"a": "Primary Attached"}
    assert attempts(world) == 5


def test_a_disk_that_is_gone(world, controller, azure_sdk):
    """It is not found for good, and that is logged as a failure."""
    volume = create(controller, parameters=SINGLE).volume_id
    azure_sdk.disks.begin_delete(simulator.GROUP, "pvc-1", polling_interval=0.1).result()
    with refused("NOT_FOUND", "pvc-1"):
        publish(controller, volume, world.nodes[0])
    until(lambda: [line for line in controller.said().splitlines()
                   if line.startswith("W") and f"azvolumeattachment {world.namespace}/pvc-1-" in line], "a warning")


def test_a_call_asks_for_another_attempt(world, controller):
    """Whichever controller it comes to. An attempt that fails is repeated once, because its record has changed."""
    volume = create(controller, parameters=SINGLE).volume_id
    with Controller(world, "follower", "--publish-wait=attached") as follower:
        fault = world.azure.fault("refuse", kind=ATTACH, code="InvalidParameter")
        for calls, asked in enumerate((controller, follower), start=1):
            with refused("INVALID_ARGUMENT", "InvalidParameter"):
                publish(asked, volume, world.nodes[0])
            assert calls <= attempts(world) <= 2 * calls
        world.azure.control("DELETE", f"faults/{fault}")
        publish(follower, volume, world.nodes[0])
    assert world.roles("pvc-1") == {"a": "Primary Attached"}


def test_a_disk_that_cannot_be_attached_holds_up_no_other(world, controller, azure_sdk):
    """Azure has it in the VM's model and tries it with every change of the VM, which fails."""
    def come(name: str):
        """External-attacher calls again when a call fails, as one may while the other disk is in the model."""
        return controller.csi.begin("Controller/ControllerPublishVolume", node_id=world.nodes[0],
                                    volume_id=volumes[name], volume_capability=mounted())

    def on_the_vm() -> list[str]:
        vm = azure_sdk.virtual_machines.get(simulator.GROUP, world.prefix + "a")
        return [disk.name for disk in vm.storage_profile.data_disks]

    def is_attached(name: str) -> bool:
        return world.roles(name) == {"a": "Primary Attached"}

    volumes = {name: create(controller, name, SINGLE).volume_id for name in ("pvc-1", "pvc-2")}
    fault = world.azure.fault("failAttach", disk="pvc-1", code="DiskProcessingError")
    calls = [come("pvc-1")]
    until(lambda: "the last change of its VM has failed again" in controller.said(), "it is known", 60)
    calls.append(come("pvc-2"))
    until(lambda: is_attached("pvc-2"), "the other one comes", 60)
    until(lambda: on_the_vm() == ["pvc-2"], "it is not left in the model", 60)
    assert not is_attached("pvc-1")
    world.azure.control("DELETE", f"faults/{fault}")
    until(lambda: is_attached("pvc-1"), "it comes when Azure lets it", 120)
    for call in calls:
        call.cancel()
