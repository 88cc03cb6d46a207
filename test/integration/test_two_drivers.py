"""Two drivers in one cluster, on the same nodes, with disks in one subscription: neither touches what is the other's,
even if both call their volumes the same."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc
import pytest
from cluster.waiting import until

from .calls import SHARED, create, delete, publish, refused, unpublish
from .driver_world import Controller, Neighbour, World
from .kubernetes_side import forget, persistent_volume, volume_attachment
from .test_audit import counts, scans

OTHER = "other.disk.example"
ELSEWHERE = SHARED | {"resourceGroup": "elsewhere"}
EVERYWHERE = {"a": "Primary Attached", "b": "Replica Attached", "c": "Replica Attached"}


@pytest.fixture
def other(world):
    """What the second driver has there."""
    with Neighbour(world, OTHER) as other:
        yield other


@pytest.fixture
def flags():
    return ["--replica-gc-delay=1s"]


@pytest.fixture
def first(world, flags):
    with Controller(world, "first", *flags) as controller:
        yield controller


@pytest.fixture
def second(other, flags):
    with Controller(other, "second", *flags) as controller:
        yield controller


def records(world: World) -> dict[tuple[str, str], dict]:
    """What there is of volumes and attachments, as it is written."""
    return {(plural, o["metadata"]["name"]): o for plural in ("azvolumes", "azvolumeattachments")
            for o in world.objects(plural)}


def disks(world: World) -> dict[str, list[tuple[str, int]]]:
    """The ids of all disks, and the VMs that have them, with their LUNs."""
    return {disk["id"].lower(): sorted((owner["vm"].removeprefix(world.prefix), owner["lun"]) for owner in disk["attachedTo"])
            for disk in world.azure.control("GET", "disks")["disks"]}


@contextmanager
def in_use(controller: Controller, parameters: dict[str, str], node: int = 0, name: str = "pvc-1"):
    """A volume that a pod uses, as Kubernetes has it too; its id."""
    world = controller.world
    volume = create(controller, name, parameters)
    publish(controller, volume.volume_id, world.nodes[node])
    with persistent_volume(world, volume.volume_id, dict(volume.volume_context)) as pv:
        with volume_attachment(world, pv, world.nodes[node]):
            yield volume.volume_id


def changed_disks(world: World, after: int) -> list[str]:
    """Requests that made, changed or deleted a disk, or what a VM has."""
    kinds = ("disks.createOrUpdate", "disks.update", "disks.delete", "virtualMachines.attachDetachDataDisks")
    return [kind for kind in kinds for _ in world.calls(kind, after)]


def test_both_serve_volumes_of_one_name(world, other, first, second):
    with in_use(first, SHARED) as mine:
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "three attachments")
        until(lambda: world.find("azvolumes", "pvc-1")["status"].get("readyReplicas") == 2, "the volume says so, too")
        before = records(world)
        with in_use(second, ELSEWHERE) as theirs:
            until(lambda: other.roles("pvc-1") == EVERYWHERE, "three attachments")
            attached = disks(world)
            assert attached.keys() == {mine.lower(), theirs.lower()}
            at = [dict(attached[volume.lower()]) for volume in (mine, theirs)]
            assert at[0].keys() == at[1].keys() == {"a", "b", "c"}
            assert not [vm for vm in "abc" if at[0][vm] == at[1][vm]], "each has a LUN of its own"
            unpublish(second, theirs, other.nodes[0])
        until(lambda: other.roles("pvc-1") == {}, "nobody uses the second any more")
        delete(second, theirs)
        assert disks(world) == {mine.lower(): attached[mine.lower()]}
        assert not other.objects("azvolumes")
        assert records(world) == before, "nothing of it was news to the first"


def test_what_is_the_others_is_no_finding(world, other, first, second):
    with in_use(first, SHARED), in_use(second, ELSEWHERE):
        for controller in (first, second):
            until(lambda: controller.world.roles("pvc-1") == EVERYWHERE, "three attachments")
            controller.end()
            controller.words.append("--audit-interval=50ms")
            controller.start()
        for controller in (first, second):
            until(lambda: scans(controller) >= 14, "all is looked at, and what is doubtful again")
            assert counts(controller) == {}


def test_a_disk_that_the_other_has_made_becomes_no_volume_and_is_not_deleted(world, first, second):
    mine = create(first, "data").volume_id
    before = world.last_call()
    with refused("ALREADY_EXISTS", mine, world.driver):
        create(second, "data")
    delete(second, mine)
    assert changed_disks(world, before) == [] and disks(world) == {mine.lower(): []}
    delete(first, mine)
    assert create(second, "data").volume_id.lower() == mine.lower(), "then the name is free"


def test_each_recovers_what_is_its_own(world, other, first, second):
    """Nobody has a record: Kubernetes alone says which volume is whose."""
    with in_use(first, SHARED) as mine, in_use(second, ELSEWHERE) as theirs:
        for place in (world, other):
            until(lambda: place.roles("pvc-1") == EVERYWHERE, "three attachments")
        for controller in (first, second):
            controller.end()
        for place in (world, other):
            forget(place, "azvolumeattachments")
            forget(place, "azvolumes")
        before, attached = world.last_call(), disks(world)

        for controller, volume in ((first, mine), (second, theirs)):
            place = controller.world
            controller.start()
            until(lambda: place.roles("pvc-1") == EVERYWHERE, "everything is on record again")
            [record] = place.objects("azvolumes")
            assert record["status"]["detail"]["volume_id"].lower() == volume.lower()
            if controller is first:
                assert not other.objects("azvolumes") + other.objects("azvolumeattachments")
        assert changed_disks(world, before) == [] and disks(world) == attached


def test_both_attach_to_one_vm_at_the_same_time(world, other, first, second):
    volumes = [(controller, create(controller, f"{name}-{i}", {}).volume_id)
               for i in range(4) for controller, name in ((first, "mine"), (second, "theirs"))]
    with ThreadPoolExecutor(8) as pool:
        luns = list(pool.map(lambda volume: publish(*volume, world.nodes[0])["LUN"], volumes))
    for controller, id_ in volumes:
        name = id_.rpartition("/")[2]
        until(lambda: controller.world.roles(name) == {"a": "Primary Attached"}, f"{name} is attached")
    there = disks(world)
    recorded = {}
    for place in (world, other):
        for attachment in place.objects("azvolumeattachments"):
            lun = attachment["status"]["detail"]["publish_context"]["LUN"]
            recorded[attachment["spec"]["volume_id"].lower()] = [("a", int(lun))]
    assert recorded == there, "each is where its record says"
    assert len(luns) == len({lun for [(_, lun)] in there.values()}) == 8


def limit(world: World, node: str) -> int | None:
    return world.find("azdrivernodes", node)["status"].get("slots", {}).get("limit")


def is_published(controller: Controller, volume: str, node: str) -> bool:
    """Or refused, for lack of room or because what was refused before is still being deleted."""
    try:
        publish(controller, volume, node)
    except grpc.RpcError as error:
        assert error.code() in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.ABORTED), error
        return False
    return True


def test_on_a_full_vm_each_has_the_places_that_the_other_leaves(world, other):
    """One of four places."""
    world.add_small_nodes("s")
    node = world.nodes[-1]
    other.core.patch_node(node, {"metadata": {"labels": {f"topology.{OTHER}/zone": "eastus-1"}}})
    other.add_driver_node(node)

    def attached() -> int:
        return len(world.azure.control("GET", f"vms/{node}")["attached"])

    with Controller(world, "first") as first, Controller(other, "second") as second:
        theirs = [create(second, f"theirs-{i}", {}).volume_id for i in range(2)]
        publish(second, theirs[0], node)
        until(lambda: attached() == 1, "one place is taken")
        mine = [create(first, f"mine-{i}", {}).volume_id for i in range(4)]
        for volume in mine[:3]:
            publish(first, volume, node)
        until(lambda: attached() == 4, "all places are taken")
        second.end()  # what it remembers of the VM is from before
        second.start()
        for controller, volume in ((first, mine[3]), (second, theirs[1])):
            with refused("RESOURCE_EXHAUSTED", node):
                publish(controller, volume, node)
        assert (limit(world, node), limit(other, node)) == (3, 1), "which kubelet hears of"

        unpublish(first, mine[0], node)
        until(lambda: not world.roles("mine-0"), "one goes")
        until(lambda: is_published(second, theirs[1], node), "the call is repeated until it hears of that")
        until(lambda: other.roles("theirs-1") == {"s": "Primary Attached"}, "there is a place")


def test_only_ones_own_replicas_give_way(tmp_path, apiserver):
    """Whether the other's may be detached is not one's own to decide."""
    with World(tmp_path, apiserver, nodes=1, attach="100ms", detach="50ms", create="50ms") as world:
        world.add_small_nodes("s")
        big, small = world.nodes
        with (Neighbour(world, OTHER) as other, Controller(world, "first") as first,
              Controller(other, "second") as second):
            publish(first, create(first, "shared", {"skuName": "Premium_LRS", "maxShares": "2"}).volume_id, big)
            until(lambda: world.roles("shared").get("s") == "Replica Attached", "a replica")
            for i in range(3):
                publish(second, create(second, f"theirs-{i}", {}).volume_id, small)
            with refused("RESOURCE_EXHAUSTED", small):
                publish(second, create(second, "theirs-3", {}).volume_id, small)
            assert world.roles("shared") == {"a": "Primary Attached", "s": "Replica Attached"}
            publish(first, create(first, "mine", {}).volume_id, small)
            until(lambda: world.roles("mine") == {"s": "Primary Attached"}, "the place of its own replica")
            assert world.roles("shared").get("a") == "Primary Attached"


def test_a_node_that_goes_is_cleared_away_by_both(world, other, first, second):
    with in_use(first, SHARED), in_use(second, ELSEWHERE):
        for place in (world, other):
            until(lambda: place.roles("pvc-1") == EVERYWHERE, "three attachments")
        gone = world.nodes[2]
        world.core.delete_node(gone)
        for place in (world, other):
            until(lambda: not place.find("azdrivernodes", gone), "its AzDriverNode goes")
            until(lambda: set(place.roles("pvc-1")) == {"a", "b"}, "and its replica")
            assert place.roles("pvc-1")["a"] == "Primary Attached"


def reasons(world: World) -> set[tuple[str, str]]:
    """Of Events about volumes in its namespace, with their volume."""
    return {(e.reason, e.involved_object.name) for e in world.core.list_namespaced_event(world.namespace).items
            if e.involved_object.kind == "AzVolume"}


@pytest.mark.parametrize("flags", [["--heartbeat-limit=2s"]])
def test_a_silent_plug_in_is_its_own_drivers_concern(world, other, first, flags):
    """The other's plug-in on that node is heard of, whatever kubelet says."""
    with Controller(other, "second", "--heartbeat-limit=1h") as second:
        publish(first, create(first, "mine", {}).volume_id, world.nodes[0])
        publish(second, create(second, "theirs", {}).volume_id, world.nodes[0])
        for place, name in ((world, "mine"), (other, "theirs")):
            until(lambda: place.roles(name) == {"a": "Primary Attached"}, "attached")
        other.beat(world.nodes[0])
        world.set_ready(world.nodes[0], False)
        until(lambda: ("PublishedOnUnreachableNode", "mine") in reasons(world), "it is told")
        assert not [reason for reason, _ in reasons(other) if "Unreachable" in reason]


def test_both_let_their_sidecars_work_in_one_network(first, second):
    """Two controllers of one driver would not (controller/node_lock.h)."""
    for controller in (first, second):
        until(lambda: controller.csi.call("Identity/Probe").ready.value, "it is ready")
        assert controller.csi.call("Identity/GetPluginInfo").name == controller.world.driver
