"""ControllerExpandVolume: which disks grow when, who is served first, and what is left when it fails."""

import grpc
import pytest
from cluster.waiting import until

from .azure_side import make_disk
from .calls import GIB, create, publish, refused, unpublish
from .driver_world import Controller, World
from .kubernetes_side import persistent_volume

ALONE = {"skuName": "Premium_LRS"}
SHARED = {"skuName": "Premium_LRS", "maxShares": "2"}


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, attach="50ms", detach="50ms", create="50ms", update="50ms") as world:
        yield world


def begin(controller, volume: str, size: int, limit: int = 0):
    return controller.csi.begin("Controller/ControllerExpandVolume", volume_id=volume,
                                capacity_range={"required_bytes": size, "limit_bytes": limit})


def expand(controller, volume: str, size: int, limit: int = 0) -> int:
    """The size that the disk has then."""
    answer = begin(controller, volume, size, limit).result()
    assert answer.node_expansion_required
    return answer.capacity_bytes


def size_of(world, name: str = "pvc-1") -> int:
    """In Azure, in GiB."""
    return next(d["sizeGiB"] for d in world.azure.control("GET", "disks")["disks"] if d["name"] == name)


def state_of(world, name: str = "pvc-1") -> str:
    return world.find("azvolumes", name)["status"]["state"]


def user() -> dict:
    """A pod with the claim of persistent_volume()."""
    return {"metadata": {"name": "user"}, "spec": {
        "containers": [{"name": "c", "image": "i"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "claim"}}]}}


def test_a_disk_grows_while_it_is_in_use(world, controller):
    volume = create(controller, parameters=ALONE).volume_id
    publish(controller, volume, world.nodes[0])
    until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "the disk is attached")
    before = world.last_call()
    assert expand(controller, volume, 9 * GIB + 1) == 10 * GIB
    assert size_of(world) == 10
    assert state_of(world) == "Updated"
    until(lambda: publish(controller, volume, world.nodes[0])["diskSizeBytes"] == str(10 * GIB),
          "the attachment has the new size")
    assert world.calls("virtualMachines.attachDetachDataDisks", before) == []
    before = world.last_call()
    assert expand(controller, volume, 9 * GIB + 1) == 10 * GIB
    assert world.azure.journal(before) == [], "what is done already asks nothing of Azure"


def test_a_volume_that_has_grown_is_still_the_one_that_was_created(world, controller):
    volume = create(controller, parameters=ALONE).volume_id
    assert expand(controller, volume, 10 * GIB) == 10 * GIB
    again = create(controller, parameters=ALONE)
    assert (again.volume_id, again.capacity_bytes) == (volume, 10 * GIB)
    with refused("ALREADY_EXISTS", f"{10 * GIB} bytes"):
        create(controller, parameters=ALONE, limit=4 * GIB)


def test_a_size_that_cannot_be_had_is_refused_before_azure_is_asked(world, controller):
    volume = create(controller, parameters=ALONE).volume_id
    before = world.last_call()
    with refused("OUT_OF_RANGE", "at most 32767 GiB"):
        expand(controller, volume, 40000 * GIB)
    with refused("OUT_OF_RANGE", "whole GiB"):
        expand(controller, volume, 5 * GIB + 1, limit=6 * GIB - 1)
    with refused("OUT_OF_RANGE", "cannot become smaller"):
        expand(controller, volume, 2 * GIB, limit=3 * GIB)
    with refused("NOT_FOUND"):
        expand(controller, volume + "x", 5 * GIB)
    with refused("INVALID_ARGUMENT", "volume_id"):
        expand(controller, "", 5 * GIB)
    with refused("INVALID_ARGUMENT", "capacity_range"):
        controller.csi.call("Controller/ControllerExpandVolume", volume_id=volume)
    assert expand(controller, volume, 2 * GIB) == 4 * GIB, "it is larger already"
    assert world.azure.journal(before) == []


def test_a_shared_disk_grows_between_two_users(world, controller):
    volume = create(controller, parameters=SHARED).volume_id
    publish(controller, volume, world.nodes[0])
    everywhere = {"a": "Primary Attached", "b": "Replica Attached"}
    until(lambda: len(world.roles("pvc-1")) == 2, "a replica")
    with refused("FAILED_PRECONDITION", "maxShares above 1", world.nodes[0], "scaled to 0"):
        expand(controller, volume, 10 * GIB)
    assert size_of(world) == 4 and len(world.roles("pvc-1")) == 2, "the replica stays for a failover"
    assert expand_twice_is_one_wish(world)

    unpublish(controller, volume, world.nodes[0])
    until(lambda: size_of(world) == 10, "it grows, though nobody asks again")
    assert expand(controller, volume, 10 * GIB) == 10 * GIB
    publish(controller, volume, world.nodes[0])
    until(lambda: world.roles("pvc-1").get("a") == everywhere["a"] and len(world.roles("pvc-1")) == 2,
          "the replica is back")


def expand_twice_is_one_wish(world) -> bool:
    volume = world.find("azvolumes", "pvc-1")
    return (volume["status"]["state"], volume["spec"]["capacityRange"]["required_bytes"]) == ("Updating", 10 * GIB)


def test_a_pod_that_comes_is_served_first(world, controller):
    """In a failover the volume is published nowhere for a moment: that is no time to take its replicas away."""
    volume = create(controller, parameters=SHARED).volume_id
    with persistent_volume(world, volume, SHARED):
        world.core.create_namespaced_pod(world.namespace, user())
        publish(controller, volume, world.nodes[0])
        until(lambda: world.roles("pvc-1") == {"a": "Primary Attached", "b": "Replica Attached"}, "a replica")
        unpublish(controller, volume, world.nodes[0])
        with refused("FAILED_PRECONDITION", f"pod {world.namespace}/user"):
            expand(controller, volume, 10 * GIB)
        before = world.last_call()
        publish(controller, volume, world.nodes[1])
        until(lambda: world.roles("pvc-1").get("b") == "Primary Attached", "the failover")
        assert world.calls("virtualMachines.attachDetachDataDisks", before) == [], "without a call to Azure"
        unpublish(controller, volume, world.nodes[1])
        world.core.delete_namespaced_pod("user", world.namespace, grace_period_seconds=0)
        until(lambda: size_of(world) == 10, "it grows when the pod is gone")


def test_a_pod_that_has_completed_holds_up_nothing(world, controller):
    """As those of Jobs, which stay for a day."""
    volume = create(controller, parameters=SHARED).volume_id
    with persistent_volume(world, volume, SHARED):
        world.core.create_namespaced_pod(world.namespace, user())
        with refused("FAILED_PRECONDITION", f"pod {world.namespace}/user"):
            expand(controller, volume, 10 * GIB)
        world.core.patch_namespaced_pod_status("user", world.namespace, {"status": {"phase": "Succeeded"}})
        until(lambda: size_of(world) == 10, "it grows")
        world.core.delete_namespaced_pod("user", world.namespace, grace_period_seconds=0)


def test_a_range_that_another_version_wrote_makes_no_disk_larger(world, controller):
    volume = create(controller, parameters=ALONE).volume_id
    before = world.last_call()
    world.patch("azvolumes", "pvc-1", {"spec": {"capacityRange": {"required_bytes": 100 * GIB}}})
    publish(controller, volume, world.nodes[0])
    until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "the disk is attached")
    assert world.calls("disks.update", before) == [] and size_of(world) == 4


def test_replicas_stay_if_they_are_to(world):
    with Controller(world, "one", "--expand-detaches-replicas=false", "--replica-gc-delay=3s") as controller:
        volume = create(controller, parameters=SHARED).volume_id
        publish(controller, volume, world.nodes[0])
        until(lambda: len(world.roles("pvc-1")) == 2, "a replica")
        unpublish(controller, volume, world.nodes[0])
        with refused("FAILED_PRECONDITION", "--expand-detaches-replicas is off"):
            expand(controller, volume, 10 * GIB)
        until(lambda: size_of(world) == 10, "it grows when they have been collected")
        assert expand(controller, volume, 10 * GIB) == 10 * GIB


def test_a_disk_crosses_4_tib_only_while_no_vm_has_it(world, controller):
    volume = create(controller, parameters=ALONE, size=4000 * GIB).volume_id
    publish(controller, volume, world.nodes[0])
    with refused("FAILED_PRECONDITION", "beyond 4095 GiB", world.nodes[0]):
        expand(controller, volume, 5000 * GIB)
    unpublish(controller, volume, world.nodes[0])
    until(lambda: size_of(world) == 5000, "it grows when it is free")
    until(lambda: publish(controller, volume, world.nodes[0])["diskSizeBytes"] == str(5000 * GIB),
          "the record has the new size")


def test_what_azure_refuses_can_be_taken_back(world, controller):
    volume = create(controller, parameters=ALONE).volume_id
    rule = world.azure.fault("refuse", kind="disks.update", code="RequestDisallowedByPolicy")
    with refused("PERMISSION_DENIED"):
        expand(controller, volume, 10 * GIB)
    assert state_of(world) == "UpdateFailed"
    publish(controller, volume, world.nodes[0])
    assert expand(controller, volume, 4 * GIB) == 4 * GIB, "the claim's owner asks for less"
    assert state_of(world) == "Updated" and size_of(world) == 4
    world.azure.control("DELETE", f"faults/{rule}")
    assert expand(controller, volume, 10 * GIB) == 10 * GIB


def test_another_leader_finishes_it(tmp_path, apiserver):
    with World(tmp_path, apiserver, create="50ms", update="1s") as world:
        first = Controller(world, "first").start()
        volume = create(first, parameters=ALONE).volume_id
        before = world.last_call()
        asked = begin(first, volume, 10 * GIB)
        until(lambda: world.calls("disks.update", before), "the change is asked for")
        first.kill()
        assert asked.exception()
        with Controller(world, "second") as second:
            assert expand(second, volume, 10 * GIB) == 10 * GIB
            assert size_of(world) == 10
            assert len(world.calls("disks.update", before)) == 1, "nothing is done twice"


def test_a_volume_that_was_never_published_grows(world, controller):
    """A volume of version 1 of the driver has no AzVolume until then."""
    volume = create(controller, parameters=ALONE).volume_id
    with persistent_volume(world, volume, ALONE):
        world.patch("azvolumes", "pvc-1", {"metadata": {"finalizers": None}})
        world.delete("azvolumes", "pvc-1")
        until(lambda: _expands(controller, volume), "the volume is adopted")
        assert size_of(world) == 10


def test_a_partition_does_not_grow_with_its_disk(world, controller, azure_sdk):
    disk = make_disk(azure_sdk, "pvc-1")
    with persistent_volume(world, disk, {"partition": "2"}, False):
        with refused("INVALID_ARGUMENT", "pvc-1", "partition 2", "by hand"):
            expand(controller, disk, 10 * GIB)
    assert azure_sdk.disks.get("rg", "pvc-1").disk_size_gb == 4
    with refused("INVALID_ARGUMENT", "parameter partition", "a new disk has no partitions"):
        create(controller, "data", {"partition": "2"})


def _expands(controller, volume: str) -> bool:
    try:
        return expand(controller, volume, 10 * GIB) == 10 * GIB
    except grpc.RpcError:
        return False
