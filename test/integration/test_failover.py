"""Nodes of which nothing is heard are given up when their disks refuse their writes, and not before (docs/failover.md)."""

import re
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from cluster.waiting import until
from kubernetes import client

from .azdiskctl import Azdiskctl
from .calls import SHARED, create, publish, unpublish
from .driver_world import GROUP, Controller, World
from .kubernetes_side import persistent_volume, unpublished, volume_attachment
from .silent_node import ANSWER, FENCE, KUBELET, MOVED, SilentNode, now
from .test_unreachable_node import notes

AUTOMATIC = SHARED | {"automaticFailover": "true"}
ASKED_FOR = f"{GROUP}/automatic-failover"
GRACE = "--node-grace-period=4s"
KEY = "0x1234567890abcdef"


@pytest.fixture
def controller(world):
    with Controller(world, "one", GRACE) as controller:
        yield controller


@pytest.fixture
def used(world):
    """Publishes a volume to node a and makes what Kubernetes has of it: call it with a controller."""
    node = SilentNode(world, "a")
    node.boot()
    with ExitStack() as stack:
        def use(controller: Controller, name: str = "pvc-1", parameters: dict = AUTOMATIC) -> SilentNode:
            volume = create(controller, name=name, parameters=parameters).volume_id
            publish(controller, volume, world.nodes[0])
            until(lambda: world.roles(name).get("a") == "Primary Attached", "the primary")
            until(lambda: len(world.roles(name)) == int(parameters.get("maxShares", 1)), "the replicas")
            until(lambda: all(role.endswith("Attached") for role in world.roles(name).values()), "they are attached")
            pv = stack.enter_context(persistent_volume(world, volume, {}))
            stack.enter_context(volume_attachment(world, pv, world.nodes[0]))
            node.fences(name, KEY)
            return node

        yield use


def pod(world: World, name: str, node: str, claim: str | None, labels: dict[str, str] | None = None) -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}] if claim else []
    world.core.create_namespaced_pod(world.namespace, {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}], "volumes": volumes,
                 "terminationGracePeriodSeconds": 3600}})


def pods(world: World) -> list[str]:
    return [item.metadata.name for item in world.core.list_namespaced_pod(world.namespace).items]


def others(world: World) -> list[SilentNode]:
    return [SilentNode(world, "b"), SilentNode(world, "c")]


def asked(nodes: list[SilentNode], volume: str = "pvc-1") -> list[SilentNode]:
    return [node for node in nodes if node.request(volume)]


def renew_together(nodes: list[SilentNode]) -> bool:
    """Within a renewal (0.7 s), as nodes have that are cut off at the same time."""
    began = time.monotonic()
    for node in nodes:
        node.renews()
    return time.monotonic() - began < 0.7


def silent(controller: Controller) -> int:
    """Nodes, by the controller's metrics."""
    with urllib.request.urlopen(f"http://127.0.0.1:{controller.metrics}/metrics", timeout=30) as answer:
        [line] = [line for line in answer.read().decode().splitlines() if line.startswith("azuredisk_silent_nodes ")]
    return int(line.split()[1])


def held_back(world: World, *words: str) -> Callable[[], bool]:
    return lambda: any(all(word in text for word in words)
                       for text in notes(world, "Node", world.nodes[0], "FailoverHeldBack"))


# ---- the whole ----

def test_a_silent_node_is_given_up_and_comes_back(world, controller, used):
    node = used(controller)
    pod(world, "with-volume", node.name, "claim")
    pod(world, "without", node.name, None)
    before = world.last_call()
    renewed, neighbours = node.renews(), others(world)
    until(lambda: asked(neighbours), "a replica is asked")
    [replica] = asked(neighbours)
    assert replica.request("pvc-1") == f"{KEY} {renewed}"
    assert node.taint() is None and "with-volume" in pods(world)

    replica.answers("pvc-1")
    assert until(node.taint, "it is given up") == f"azuredisk-{node.boot_id}"
    until(lambda: "with-volume" not in pods(world), "its pods are released")
    assert "without" in pods(world)
    assert notes(world, "Node", node.name, "FailedOver")
    [volume] = until(lambda: notes(world, "AzVolume", "pvc-1", "FailedOver"), "its volume has the story")
    assert f"of node {node.name} since {renewed} . Whether it still writes was asked from" in volume
    story = {moment["reason"]: moment["text"] for moment in Azdiskctl(world).ask("timeline", "pvc-1")}
    assert story["FailedOver"] == volume
    gap = re.fullmatch(rf"from node {node.name}: ([\d.]+) s \(detect ([\d.]+) s, fence ([\d.]+) s, taint ([\d.]+) s; "
                       "the rest is not on record\\)", story["Failover"])
    total, detect, fence, taint = map(float, gap.groups())
    assert detect >= 4 and abs(total - detect - fence - taint) < 0.25
    assert world.attached("pvc-1", before) == []
    until(lambda: silent(controller) == 0, "it counts no more")

    node.renews()  # it was only cut off
    world.core.patch_node(node.name, {"metadata": {"labels": {"seen": "again"}}})
    world.set_ready(node.name, False)
    world.set_ready(node.name, True)
    assert node.taint()
    node.boot()
    until(lambda: node.taint() is None, "it was started anew")


def test_the_extender_is_not_asked_where_it_is_silent_itself(world, used):
    """It is deleted when the failover begins; on other nodes, and of other names, it stays."""
    def extender(name: str, node: str, app: str) -> None:
        pod(world, name, node, None)
        world.core.patch_namespaced_pod(name, world.namespace, {"metadata": {"labels": {"app": app}}})

    with Controller(world, "one", GRACE, f"--scheduler-extender={world.namespace}/extender") as controller:
        node, neighbours = used(controller), others(world)
        extender("there", node.name, "extender")
        extender("elsewhere", neighbours[0].name, "extender")
        extender("another", node.name, "extender-of-others")
        node.renews()
        until(lambda: asked(neighbours), "a replica is asked")
        until(lambda: "there" not in pods(world), "it is deleted")
        assert node.taint() is None and {"elsewhere", "another"} <= set(pods(world))


# ---- who asks for it ----

def test_pods_ask_for_it_by_a_label(world, controller, used):
    """Of a class that does not: all of them that use the volume, and as long as they do."""
    def is_noted() -> bool:
        return ASKED_FOR in (node.attachment("pvc-1")["status"].get("annotation") or {})

    node, neighbours = used(controller, parameters=SHARED), others(world)
    pod(world, "asks", node.name, "claim", {ASKED_FOR: "true"})
    until(is_noted, "the node's plug-in is told")
    pod(world, "asks-not", node.name, "claim")
    until(lambda: not is_noted(), "one of two does not want it")
    world.core.patch_namespaced_pod("asks-not", world.namespace, {"metadata": {"labels": {ASKED_FOR: "true"}}})
    until(is_noted, "both do")
    node.renews()
    until(lambda: asked(neighbours), "a replica is asked")[0].answers("pvc-1")
    until(node.taint, "it is given up")
    until(lambda: not pods(world), "its pods are released")
    assert is_noted()


def test_who_does_not_ask_is_told_how(world, controller, used):
    node = used(controller, parameters=SHARED)
    pod(world, "asks-not", node.name, "claim", {ASKED_FOR: "false"})
    node.renews()
    until(held_back(world, "volume pvc-1", "automaticFailover", ASKED_FOR), "it is held back")
    assert node.taint() is None and not asked(others(world))


# ---- who is silent ----

def test_a_node_whose_kubelet_is_heard_is_not_silent(world, controller, used):
    node = used(controller)
    node.renews()
    node.kubelet_renews(now(seconds=5))
    until(lambda: silent(controller) == 1, "the plug-in is silent")
    neighbours = others(world)
    assert not asked(neighbours)
    node.kubelet_renews(now(seconds=-60))
    until(lambda: asked(neighbours), "kubelet's Lease was all that held it")


def test_a_node_whose_kubelet_has_no_lease_is_not_silent(world, controller, used):
    node, neighbours = used(controller), others(world)
    node.leases.delete_namespaced_lease(node.name, KUBELET)
    node.renews()
    until(lambda: silent(controller) == 1, "the plug-in is silent")
    assert not asked(neighbours)
    node.kubelet_renews(now(seconds=-60))
    until(lambda: asked(neighbours), "now it is known")


def test_a_node_that_was_started_anew_is_not_silent(world, controller, used):
    """Its plug-in has no primary yet, and renews nothing."""
    node, neighbours = used(controller), others(world)
    node.renews()
    until(lambda: asked(neighbours), "a replica is asked")[0].answers("pvc-1")
    until(node.taint, "it is given up")
    boot_id = node.boot()
    until(lambda: node.taint() is None, "it is taken back")
    world.beat(node.name)
    until(lambda: silent(controller) == 1, "by its Lease it counts as silent")
    assert node.taint() is None and node.boot_id == boot_id


def test_a_node_is_not_given_up_for_its_former_boot(world, controller, used):
    """Neither its kubelet's Lease nor its plug-in's has been renewed yet, and whoever was asked before has answered."""
    node, neighbours = used(controller), others(world)
    node.renews()
    until(lambda: asked(neighbours), "a replica is asked")[0].answers("pvc-1")
    until(node.taint, "it is given up")
    former = node.boot_id
    node.reports_its_boot()
    until(lambda: node.taint() is None, "it is taken back")
    until(held_back(world, f"last heard of in boot {former}", "started anew"), "it says why it is not given up")
    assert node.taint() is None


def test_a_node_that_is_heard_of_again_keeps_its_volumes(world, controller, used):
    node, neighbours = used(controller), others(world)
    node.renews()
    until(lambda: asked(neighbours), "a replica is asked")
    node.renews()
    until(lambda: not asked(neighbours), "the requests are withdrawn")
    for _ in range(3):
        node.renews()
    assert node.taint() is None


def test_a_lease_that_was_given_up_is_not_waited_for(world, controller, used):
    node, neighbours = used(controller), others(world)
    node.gives_up_its_lease()
    other = SilentNode(world, "b")
    other.renews()
    until(lambda: silent(controller) == 1, "the other one is silent")
    assert not asked(neighbours)


# ---- the proof ----

def test_an_old_answer_proves_nothing(world, controller, used):
    """The node has renewed its Lease since, and may have its key again."""
    node, neighbours = used(controller), others(world)
    node.renews()
    first = until(lambda: asked(neighbours), "a replica is asked")[0]
    old = first.request("pvc-1")
    node.renews()
    until(lambda: not asked(neighbours), "the requests are withdrawn")
    first.note("pvc-1", ANSWER, old)
    until(lambda: asked(neighbours), "it is silent again, and a replica is asked again")
    assert node.taint() is None
    asked(neighbours)[0].answers("pvc-1")
    until(node.taint, "it is given up")


def test_a_replica_that_does_not_answer_is_not_waited_for(world, controller, used):
    node, neighbours = used(controller), others(world)
    node.renews()
    [first] = until(lambda: asked(neighbours), "a replica is asked")
    until(lambda: len(asked(neighbours)) == 2, "the other one is asked, too")
    until(held_back(world, "volume pvc-1", "have been asked to preempt"), "that none answers is told")
    [second] = [other for other in neighbours if other is not first]
    second.answers("pvc-1")
    until(node.taint, "it is given up")
    assert first.request("pvc-1") is None


def test_every_volume_has_to_be_proven(world, controller, used):
    node, neighbours = used(controller), others(world)
    used(controller, "pvc-2")
    node.renews()
    for volume in ("pvc-1", "pvc-2"):
        assert node.taint() is None
        until(lambda volume=volume: asked(neighbours, volume), f"a replica of {volume} is asked")[0].answers(volume)
    until(node.taint, "it is given up")


def test_the_next_leader_goes_on(world, used):
    with Controller(world, "one", GRACE) as one:
        node, neighbours = used(one), others(world)
        node.renews()
        first = until(lambda: asked(neighbours), "a replica is asked")[0]
        one.kill()
        world.free_lease()
        first.answers("pvc-1")
        with Controller(world, "two", GRACE):
            until(node.taint, "the next one gives it up")
        one.start()


# ---- held back ----

def test_what_nobody_can_prove_holds_it_back(world, controller, used):
    """One after another: what is not fenced, what does not want it, what is not ours, and nobody to ask."""
    node, neighbours = used(controller), others(world)
    storage, other = client.StorageV1Api(world.client), f"{world.namespace}-other"
    storage.create_volume_attachment({"metadata": {"name": other},
                                      "spec": {"attacher": "other.example.com", "nodeName": node.name,
                                               "source": {"persistentVolumeName": "other"}}})
    node.note("pvc-1", FENCE, "unsupported")
    for neighbour in neighbours:
        world.set_ready(neighbour.name, False)
    node.renews()

    until(held_back(world, other, "another driver's"), "a volume of another driver")
    storage.delete_volume_attachment(other)
    pod(world, "with-other", node.name, "of-another-driver")
    until(held_back(world, "of-another-driver"), "a claim of another driver")
    world.core.delete_namespaced_pod("with-other", world.namespace, grace_period_seconds=0)
    until(held_back(world, "volume pvc-1", "has no fence"), "a volume without a fence")
    node.fences("pvc-1", KEY)
    until(held_back(world, "volume pvc-1", "has no replica"), "a volume without a replica that is heard of")
    assert not asked(neighbours)
    used(controller, "plain", {"skuName": "Premium_LRS"})
    world.set_ready(neighbours[1].name, True)
    until(held_back(world, "volume plain", "does not ask for automatic failover"), "a volume that does not want it")
    assert asked(neighbours) and node.taint() is None  # what does want it may move on its own


def test_many_silent_nodes_are_the_network(world, controller, used):
    """Three of three, where two may be."""
    node, neighbours = used(controller), others(world)
    until(lambda: renew_together([node, *neighbours]), "they are cut off together")
    until(held_back(world, "3 nodes are silent at once", "at most 2"), "that is told")
    assert node.taint() is None and not asked(neighbours)
    neighbours[0].renews()
    until(lambda: asked(neighbours), "two are few enough")


def test_nodes_that_died_long_ago_are_not_the_network(world, controller, used):
    """Nobody has removed them; a leader that has just begun hears as little of them as of the one that dies now."""
    node, neighbours = used(controller), others(world)
    for neighbour in neighbours:
        neighbour.renews(-3600)
    node.renews()
    until(held_back(world, "no replica that is attached to another node"), "it is alone, but nobody is there to take over")
    assert not held_back(world, "silent at once")()
    neighbours[0].renews()
    until(lambda: asked(neighbours), "one is back")


# ---- pods that move although the node is held back ----

SHARE = "file.csi.azure.com^share"


def handle(world: World, volume: str = "pvc-1") -> str:
    return f"{world.driver}^{world.find('azvolumes', volume)['status']['detail']['volume_id']}"


def test_a_pod_moves_from_a_node_with_another_drivers_volume(world, controller, used):
    """Kubernetes hears that its volume is not in use, and detaches it when the pod is gone; what is not proven stays."""
    node, neighbours = used(controller), others(world)
    node.has_in_use(SHARE, handle(world))
    pod(world, "ours", node.name, "claim")
    pod(world, "theirs", node.name, "of-another-driver")
    before = world.last_call()
    node.renews()
    [replica] = until(lambda: asked(neighbours), "a replica is asked")
    assert "ours" in pods(world) and node.taint(MOVED) is None
    replica.answers("pvc-1")
    until(lambda: "ours" not in pods(world), "its pod is moved")
    assert node.taint(MOVED) == node.boot_id and node.in_use() == [SHARE]
    assert "theirs" in pods(world) and node.taint() is None
    until(lambda: any("are moved" in text for text in notes(world, "Node", node.name, "FailedOver")), "an event says so")
    assert until(lambda: notes(world, "AzVolume", "pvc-1", "FailedOver"), "its volume has the story")
    until(held_back(world, "its other pods stay", "another driver"), "and another one what stays")

    the_attacher_unpublishes(world, controller, node)
    until(lambda: "a" not in world.roles("pvc-1"), "its disk is detached")
    publish(controller, world.find("azvolumes", "pvc-1")["status"]["detail"]["volume_id"], replica.name)
    assert world.roles("pvc-1")[replica.name.removeprefix(world.prefix)] == "Primary Attached"
    assert world.attached("pvc-1", before) == []
    node.renews()  # it was only cut off
    assert node.taint(MOVED)
    node.boot()
    until(lambda: node.taint(MOVED) is None, "it was started anew")


def test_a_pod_that_uses_another_drivers_volume_stays_with_all_that_it_uses(world, controller, used):
    """So does whoever shares a volume with it."""
    node, neighbours = used(controller), others(world)
    node.has_in_use(SHARE, handle(world))
    pod(world, "ours", node.name, "claim")
    world.core.create_namespaced_pod(world.namespace, {
        "metadata": {"name": "both"},
        "spec": {"nodeName": node.name, "containers": [{"name": "c", "image": "i"}],
                 "volumes": [{"name": claim, "persistentVolumeClaim": {"claimName": claim}}
                             for claim in ("claim", "of-another-driver")]}})
    node.renews()
    until(held_back(world, "its pods stay", "another driver"), "it is held back")
    assert not asked(neighbours)
    assert {"ours", "both"} <= set(pods(world)) and node.taint(MOVED) is None and len(node.in_use()) == 2

    world.core.delete_namespaced_pod("both", world.namespace, grace_period_seconds=0)
    until(lambda: asked(neighbours), "a replica is asked")[0].answers("pvc-1")
    until(lambda: "ours" not in pods(world), "the other one is moved")


def test_the_next_leader_moves_the_rest(world, used):
    """The taint is there, and the pod has been deleted: kubelet has the volume in use still."""
    with Controller(world, "one", GRACE) as one:
        node, neighbours = used(one), others(world)
        node.has_in_use(SHARE, handle(world))
        node.renews()
        first = until(lambda: asked(neighbours), "a replica is asked")[0]
        one.kill()
        world.free_lease()
        world.core.patch_node(node.name, {"spec": {"taints": [
            {"key": MOVED, "value": node.boot_id, "effect": "NoSchedule"}]}})
        first.answers("pvc-1")
        with Controller(world, "two", GRACE):
            until(lambda: node.in_use() == [SHARE], "the next one goes on")
        one.start()


# ---- its Node is deleted ----

def stands_in(node: SilentNode) -> Callable[[], bool]:
    return lambda: node.taint() == f"azuredisk-deleted-{node.boot_id}"


def the_attacher_unpublishes(world: World, controller: Controller, node: SilentNode, volume: str = "pvc-1") -> None:
    """As Kubernetes has it do when the Node has the taint."""
    unpublish(controller, world.find("azvolumes", volume)["status"]["detail"]["volume_id"], node.name)
    unpublished(world, f"{world.namespace}-{volume}-{node.name}")


def test_a_deleted_node_gives_its_volumes_away_although_it_lives(world, controller, used):
    """Its plug-in is heard of all the time, and notices what is done to its disks."""
    node, neighbours = used(controller), others(world)
    pod(world, "with-volume", node.name, "claim")
    pod(world, "without", node.name, None)
    before, uid = world.last_call(), world.core.read_node(node.name).metadata.uid
    node.renews()
    world.core.delete_node(node.name)
    [replica] = until(lambda: asked(neighbours), "a replica is asked")
    assert replica.request("pvc-1") == f"{KEY} {uid}"
    node.renews()
    assert not node.is_there() and "with-volume" in pods(world)

    node.note("pvc-1", FENCE, f"lost {KEY}")
    replica.answers("pvc-1")
    until(stands_in(node), "another Node stands in for it")
    until(lambda: "with-volume" not in pods(world), "its pods are released")
    assert "without" in pods(world)
    assert any("was deleted" in text for text in notes(world, "Node", node.name, "FailedOver"))
    begins = f"The Node of node {node.name} was deleted at "
    until(lambda: any(note.startswith(begins) for note in notes(world, "AzVolume", "pvc-1", "FailedOver")),
          "its volume has the story")
    gaps = [moment["text"] for moment in Azdiskctl(world).ask("timeline", "pvc-1") if moment["reason"] == "Failover"]
    assert re.match(rf"from node {node.name}: [\d.]+ s \(detect 0\.0 s, fence [\d.]+ s, taint [\d.]+ s", gaps[-1])
    the_attacher_unpublishes(world, controller, node)
    publish(controller, world.find("azvolumes", "pvc-1")["status"]["detail"]["volume_id"], replica.name)
    until(lambda: world.roles("pvc-1")[replica.name.removeprefix(world.prefix)] == "Primary Attached", "it is promoted")
    until(lambda: not node.is_there(), "nothing needs the Node any more")
    until(lambda: "a" not in world.roles("pvc-1"), "the disk is detached from it")
    assert "with-volume" not in pods(world) and world.attached("pvc-1", before) == []


def test_a_silent_node_that_is_deleted_is_proven_anew(world, controller, used):
    """What was answered while it was silent is no answer to its deletion."""
    node, neighbours = used(controller), others(world)
    node.renews()
    [replica] = until(lambda: asked(neighbours), "a replica is asked")
    old = replica.request("pvc-1")
    world.core.delete_node(node.name)
    until(lambda: replica.request("pvc-1") != old, "it is asked for another reason")
    replica.note("pvc-1", ANSWER, old)
    replica.fences("pvc-1", "0x1234567800000000")
    until(lambda: len(asked(neighbours)) == 2, "it is not content")
    assert not node.is_there()
    replica.answers("pvc-1")
    until(stands_in(node), "another Node stands in for it")


def test_every_volume_of_a_deleted_node_has_to_be_proven(world, controller, used):
    node, neighbours = used(controller), others(world)
    used(controller, "pvc-2")
    world.core.delete_node(node.name)
    for volume in ("pvc-1", "pvc-2"):
        assert not node.is_there()
        until(lambda volume=volume: asked(neighbours, volume), f"a replica of {volume} is asked")[0].answers(volume)
    until(node.taint, "another Node stands in for it")
    the_attacher_unpublishes(world, controller, node)
    until(lambda: not world.roles("pvc-1").get("a", "").startswith("Primary"), "the first is unpublished")
    assert node.is_there()
    the_attacher_unpublishes(world, controller, node, "pvc-2")
    until(lambda: not node.is_there(), "nothing needs the Node any more")


def test_a_deleted_node_that_took_its_fence_back_is_proven_anew(world, controller, used):
    """Its kubelet has staged the volume again, by the key that it had before, while another volume is waited for."""
    node, neighbours = used(controller), others(world)
    used(controller, "pvc-2")
    node.note("pvc-1", FENCE, f"held {KEY} generation 4")
    uid = world.core.read_node(node.name).metadata.uid
    world.core.delete_node(node.name)
    [replica] = until(lambda: asked(neighbours, "pvc-1"), "a replica is asked")
    assert replica.request("pvc-1") == f"{KEY} {uid} generation 4"
    replica.answers("pvc-1")
    node.note("pvc-1", FENCE, f"held {KEY} from 0x1234567800000000 generation 8")
    until(lambda: asked(neighbours, "pvc-2"), "a replica of the other is asked")[0].answers("pvc-2")
    until(lambda: replica.request("pvc-1") == f"{KEY} {uid} generation 8", "it is asked once more")
    assert not node.is_there()
    replica.answers("pvc-1")
    until(node.taint, "another Node stands in for it")


def test_what_was_mounted_on_a_deleted_node_is_remembered(world, controller, used):
    """A volume of another driver, of which only the Node has told."""
    node, neighbours = used(controller), others(world)
    in_use = "kubernetes.io/csi/other.example.com^x"
    world.core.patch_node_status(node.name, {"status": {"volumesInUse": [in_use]}})
    world.core.delete_node(node.name)
    until(held_back(world, "was deleted", in_use, "another driver's"), "that is told")
    assert not asked(neighbours) and not node.is_there()


def test_a_standby_remembers_a_deleted_node(world, used):
    with Controller(world, "one", GRACE) as one, Controller(world, "two", GRACE) as two:
        until(one.leads, "it leads")
        node, neighbours = used(one), others(world)
        world.core.delete_node(node.name)
        [first] = until(lambda: asked(neighbours), "a replica is asked")
        one.kill()
        world.free_lease()
        until(two.leads, "the other one leads")
        first.answers("pvc-1")
        until(stands_in(node), "another Node stands in for it")
        one.start()


def test_a_node_that_was_deleted_before_anybody_looked_is_left_to_kubernetes(world, used):
    """Nobody knows what it had mounted."""
    with Controller(world, "one", GRACE) as one:
        node, neighbours = used(one), others(world)
        one.kill()
        world.core.delete_node(node.name)
        one.start()
        until(lambda: not world.find("azdrivernodes", node.name), "the deletion is seen")
        assert not asked(neighbours) and not node.is_there()


def test_a_deleted_node_that_is_back_keeps_its_volumes(world, controller, used):
    node, neighbours = used(controller), others(world)
    world.core.delete_node(node.name)
    until(lambda: asked(neighbours), "a replica is asked")
    world.core.create_node({"metadata": {"name": node.name}})
    until(lambda: not asked(neighbours), "the requests are withdrawn")
    assert node.taint() is None


def test_a_kubelet_that_registers_meanwhile_keeps_the_node(world, controller, used):
    """It would make no other. As of any node that was given up, only another boot takes the taint away."""
    node, neighbours = used(controller), others(world)
    world.core.patch_node(node.name, {"metadata": {"labels": {"pool": "databases"}}})
    world.core.delete_node(node.name)
    until(lambda: asked(neighbours), "a replica is asked")[0].answers("pvc-1")
    until(node.taint, "another Node stands in for it")
    assert world.core.read_node(node.name).metadata.labels["pool"] == "databases"
    node.restarts_its_kubelet()
    world.set_ready(node.name, True)
    the_attacher_unpublishes(world, controller, node)
    until(lambda: "a" not in world.roles("pvc-1"), "the disk is detached from it")
    assert node.taint() == f"azuredisk-deleted-{node.boot_id}"
    node.boot()
    until(lambda: node.is_there() and node.taint() is None, "it was started anew")


def test_a_stand_in_that_somebody_deletes_is_made_again(world, controller, used):
    """As the cloud's node controller does where the VM is gone; and only until the volumes are unpublished."""
    node, neighbours = used(controller), others(world)
    world.core.delete_node(node.name)
    until(lambda: asked(neighbours), "a replica is asked")[0].answers("pvc-1")
    until(stands_in(node), "another Node stands in for it")
    first = world.core.read_node(node.name).metadata.uid
    world.core.delete_node(node.name)
    until(stands_in(node), "and another one")
    assert world.core.read_node(node.name).metadata.uid != first
    the_attacher_unpublishes(world, controller, node)
    until(lambda: not node.is_there(), "nothing needs the Node any more")
