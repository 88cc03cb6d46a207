"""Disks that fewer VMs may have than their class says: people lower maxShares, or restore a disk without it."""

from cluster.waiting import until

from .azure_side import delete_disk, make_disk
from .calls import create, publish, refused, unpublish
from .driver_world import GROUP, Controller
from .kubernetes_side import persistent_volume, volume_attachment

SHARED_BY_THREE = {"maxShares": "3", "maxMountReplicaCount": "2"}


def told(world) -> set[str]:
    return {event.reason for event in world.core.list_namespaced_event(world.namespace).items}


def shares_on_record(world, name: str) -> str:
    return world.find("azvolumes", name)["status"]["annotation"][f"{GROUP}/disk-max-shares"]


def leave_shares(azure_sdk, name: str, n: int) -> None:
    azure_sdk.disks.begin_update("rg", name, {"properties": {"maxShares": n}}, polling_interval=0.1).result()


def moves(world, controller, volume: str, name: str) -> None:
    """From node to node, as a pod does: each is its primary, and the only one to have it."""
    for node in world.nodes[:2]:
        publish(controller, volume, node)
        until(lambda: list(world.roles(name).values()) == ["Primary Attached"], f"only {node} has it")
        unpublish(controller, volume, node)


def test_a_disk_that_people_bring_along(world, controller, azure_sdk):
    disk = make_disk(azure_sdk, "data", shares=1)
    with persistent_volume(world, disk, SHARED_BY_THREE, False):
        moves(world, controller, disk, "data")
        until(lambda: "FewerShares" in told(world), "an event says so")


def test_one_that_was_lowered_since(world, controller, azure_sdk):
    """A refused attach is enough to see it."""
    volume = create(controller).volume_id
    leave_shares(azure_sdk, "pvc-1", 1)
    moves(world, controller, volume, "pvc-1")
    assert shares_on_record(world, "pvc-1") == "1"
    until(lambda: "FewerShares" in told(world), "an event says so")


def test_one_that_was_raised_again(world, azure_sdk):
    """The audit sees both, and replicas come back."""
    with Controller(world, "controller", "--audit-interval=50ms") as controller:
        volume = create(controller).volume_id
        for n in (1, 3):
            leave_shares(azure_sdk, "pvc-1", n)
            until(lambda: shares_on_record(world, "pvc-1") == str(n), f"{n} on record")
        publish(controller, volume, world.nodes[0])
        until(lambda: sorted(world.roles("pvc-1").values()) == ["Primary Attached", *["Replica Attached"] * 2],
              "two replicas")


def test_a_disk_that_is_gone_is_on_no_node(world, controller, azure_sdk):
    """Its record will never be complete, which keeps nobody from unpublishing it."""
    disk, node = make_disk(azure_sdk, "data"), world.nodes[0]
    delete_disk(azure_sdk, "data")
    with persistent_volume(world, disk, {}, False) as pv, volume_attachment(world, pv, node):
        with refused("NOT_FOUND", "data"):
            publish(controller, disk, node)
        unpublish(controller, disk, node)
