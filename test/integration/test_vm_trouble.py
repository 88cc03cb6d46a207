"""VMs that Azure cannot change as it is asked to: one that is lost and holds its disk, one whose extension does not work."""

import pytest
from cluster.waiting import until

from .calls import create, publish
from .csi import mounted
from .driver_world import Controller

SINGLE = {"skuName": "Premium_LRS"}
TAINT = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}


@pytest.fixture
def controller(world):
    with Controller(world, "one", "--publish-wait=attached") as controller:
        yield controller


def told(world, reason: str) -> list[str]:
    events = world.core.list_event_for_all_namespaces().items
    return [e.message for e in events if e.reason == reason and e.involved_object.name.startswith("pvc-1-")
            and e.involved_object.namespace == world.namespace]


def detaches(world) -> int:
    """What is to leave already is not named again."""
    return len([e for e in world.calls("virtualMachines.attachDetachDataDisks") if not e["attached"]])


def test_a_disk_of_a_node_out_of_service_goes_by_force(world, controller):
    """Azure does not detach it as it should, whether or not somebody says that the machine is off."""
    lost, other = world.nodes[:2]
    volume = create(controller, parameters=SINGLE).volume_id
    publish(controller, volume, lost)
    world.azure.fault("failDetach", resource=lost, code="InternalExecutionError")
    world.set_ready(lost, "Unknown")
    call = controller.csi.begin("Controller/ControllerUnpublishVolume", volume_id=volume, node_id=lost)
    until(lambda: detaches(world) >= 2, "it is tried again", 60)
    assert not told(world, "DetachedByForce") and "a" in world.roles("pvc-1")
    world.core.patch_node(lost, {"spec": {"taints": [TAINT]}})
    note = until(lambda: told(world, "DetachedByForce"), "it is told", 60)[0]
    assert lost in note and TAINT["key"] in note
    call.cancel()
    publish(controller, volume, other)
    assert world.roles("pvc-1") == {"b": "Primary Attached"}


def test_an_extension_that_does_not_work_keeps_no_volume_away(world, controller):
    """Whatever is done with the VM fails for its sake, and is done."""
    world.azure.fault("failWhenDone", kind="vm*", code="VMExtensionProvisioningError")
    volumes = [create(controller, name, SINGLE).volume_id for name in ("pvc-1", "pvc-2")]
    calls = [controller.csi.begin("Controller/ControllerPublishVolume", volume_id=volume, node_id=world.nodes[0],
                                  volume_capability=mounted()) for volume in volumes]
    for name in ("pvc-1", "pvc-2"):
        until(lambda name=name: world.roles(name) == {"a": "Primary Attached"}, "it is attached", 60)
    for call in calls:
        call.cancel()
    assert publish(controller, volumes[0], world.nodes[0])["LUN"]
    call = controller.csi.begin("Controller/ControllerUnpublishVolume", volume_id=volumes[0], node_id=world.nodes[0])
    until(lambda: world.roles("pvc-1") == {}, "it is detached", 60)
    call.cancel()
