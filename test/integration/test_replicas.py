"""Replicas are where their pods could run: a pod's constraints, the other volumes of the pod, and what becomes of it
all when nodes change."""

from contextlib import contextmanager

import pytest
from cluster.waiting import until
from kubernetes import client

from .calls import create, publish, unpublish
from .driver_world import GROUP, Controller, World

NODES = 5


@contextmanager
def no_volumes_left(world: World):
    """PersistentVolumes belong to no namespace."""
    yield
    for volume in world.core.list_persistent_volume().items:
        if volume.metadata.name.startswith(f"{world.namespace}-"):
            world.core.patch_persistent_volume(volume.metadata.name, {"metadata": {"finalizers": None}})
            world.core.delete_persistent_volume(volume.metadata.name)


@contextmanager
def priority_classes(world: World, values: dict[str, int]):
    """Nor do PriorityClasses."""
    scheduling = client.SchedulingV1Api(world.client)
    for name, value in values.items():
        scheduling.create_priority_class({"metadata": {"name": f"{world.namespace}-{name}"}, "value": value})
    yield
    for name in values:
        scheduling.delete_priority_class(f"{world.namespace}-{name}")


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, nodes=NODES, attach="100ms", detach="100ms") as world, no_volumes_left(world):
        yield world


def one_replica(controller, name: str = "pvc-1", **parameters: str) -> str:
    shared = {"skuName": "Premium_LRS", "maxShares": "3", "maxMountReplicaCount": "1"}
    return create(controller, name=name, parameters=shared | parameters).volume_id


def bind(world: World, name: str, volume_id: str) -> None:
    """A PersistentVolume and its claim, as Kubernetes' own controllers would bind them."""
    reference = {"namespace": world.namespace, "name": name}
    world.core.create_persistent_volume({
        "metadata": {"name": f"{world.namespace}-{name}"},
        "spec": {"capacity": {"storage": "4Gi"}, "accessModes": ["ReadWriteOnce"], "claimRef": reference,
                 "persistentVolumeReclaimPolicy": "Retain",
                 "csi": {"driver": GROUP, "volumeHandle": volume_id}}})


def run(world: World, claims: list[str], node: str, name: str = "pod", **spec) -> None:
    volumes = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    containers = [{"name": "c", "image": "x"}]
    world.core.create_namespaced_pod(world.namespace, {
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"containers": containers, "volumes": volumes, "nodeName": node,
                 "automountServiceAccountToken": False, **spec}})


def label(world: World, node: int, **labels: str) -> None:
    world.core.patch_node(world.nodes[node], {"metadata": {"labels": labels}})


def cordon(world: World, node: int, yes: bool = True) -> None:
    world.core.patch_node(world.nodes[node], {"spec": {"unschedulable": yes}})


def replicas(world: World, volume: str = "pvc-1") -> str:
    """The nodes of the attached replicas; those on the way in parentheses."""
    roles = sorted(world.roles(volume).items())
    return "".join(node if role == "Replica Attached" else f"({node})"
                   for node, role in roles if not role.startswith("Primary"))


def until_replicas(world: World, nodes: str, *volumes: str) -> None:
    for volume in volumes or ("pvc-1",):
        until(lambda: replicas(world, volume) == nodes, f"the replicas of {volume} on {nodes}")


def complaints(world: World, volume: str = "pvc-1") -> list[str]:
    events = world.core.list_namespaced_event(world.namespace).items
    return [e.message for e in events
            if e.reason == "ReplicaNotPlaced" and e.involved_object.name == volume]


def test_a_replica_honours_a_node_selector_and_leaves_a_cordoned_node(world, controller):
    for node in (0, 3, 4):
        label(world, node, disk="fast")
    volume = one_replica(controller)
    bind(world, "pvc-1", volume)
    run(world, ["pvc-1"], world.nodes[0], nodeSelector={"disk": "fast"})
    publish(controller, volume, world.nodes[0])
    until_replicas(world, "d")

    before = world.last_call()
    cordon(world, 3)
    until_replicas(world, "e")
    assert world.attached("pvc-1", before) == ["e"]

    cordon(world, 4)  # now there is no place for it; it stays, and the volume's owner is told
    until(lambda: complaints(world), "an event")
    assert complaints(world) == [
        "1 of 1 replicas of volume pvc-1 cannot be placed: 0/5 nodes are available: 1 already used by this volume, "
        "2 cordoned, 2 not matching the pod's node selector or affinity. The controller tries again when a node changes "
        "or a disk slot becomes free."]
    assert replicas(world) == "e"
    label(world, 1, disk="fast")
    until_replicas(world, "b")


def test_a_replica_is_where_its_class_allows_and_follows_a_change_of_that(world, controller):
    def select(selector: str) -> None:
        world.patch("azvolumes", "pvc-1", {"spec": {"parameters": {"replicaNodeSelector": selector}}})

    label(world, 2, pool="spare")
    label(world, 3, pool="other")
    volume = one_replica(controller, replicaNodeSelector="pool in (spare,more)")
    publish(controller, volume, world.nodes[0])
    until_replicas(world, "c")
    select("pool, pool!=spare")
    until_replicas(world, "d")
    select("pool in other")  # what cannot be read moves nothing, and is told
    until(lambda: complaints(world), "an event")
    assert complaints(world) == [
        "1 of 1 replicas of volume pvc-1 cannot be placed: 0/5 nodes are available: 1 already used by this volume, "
        "4 not matching replicaNodeSelector; replicaNodeSelector: \"pool in other\" is not a label selector: \"(\" is "
        "missing at \"other\". The controller tries again when a node changes or a disk slot becomes free."]
    assert replicas(world) == "d"
    select("!pool")
    until_replicas(world, "b")


def test_a_replica_follows_what_the_pod_is_changed_to(world, controller):
    volume = one_replica(controller)
    bind(world, "pvc-1", volume)
    run(world, ["pvc-1"], world.nodes[0])
    publish(controller, volume, world.nodes[0])
    until_replicas(world, "b")
    label(world, 4, disk="fast")
    world.core.delete_namespaced_pod("pod", world.namespace, grace_period_seconds=0)
    run(world, ["pvc-1"], world.nodes[0], name="next", nodeSelector={"disk": "fast"})
    until_replicas(world, "e")


def test_a_replica_is_not_with_those_that_the_pod_must_not_be_with(world, controller):
    for node in range(NODES):
        label(world, node, **{"kubernetes.io/hostname": world.nodes[node]})
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    apart = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    volume = one_replica(controller)
    bind(world, "pvc-1", volume)
    run(world, [], world.nodes[1], name="other", **apart)
    run(world, ["pvc-1"], world.nodes[0], **apart)
    publish(controller, volume, world.nodes[0])
    until_replicas(world, "c")
    run(world, [], world.nodes[2], name="third", **apart)
    until_replicas(world, "d")


def test_all_volumes_of_a_pod_have_their_replicas_on_the_same_nodes(world, controller):
    names = ["pvc-1", "pvc-2", "pvc-3"]
    volumes = {name: one_replica(controller, name) for name in names}
    for name, node in zip(names, "bcd"):  # where the fewest are
        publish(controller, volumes[name], world.nodes[0])
        until_replicas(world, node, name)
    for name in names:
        bind(world, name, volumes[name])
    run(world, names, world.nodes[0])
    until_replicas(world, "b", *names)
    cordon(world, 1)
    until(lambda: len({replicas(world, name) for name in names}) == 1 and replicas(world) in "cde",
          "all together elsewhere")


def test_switched_off_replicas_go_and_the_primary_stays(world, controller):
    volume = one_replica(controller)
    publish(controller, volume, world.nodes[0])
    until_replicas(world, "b")
    world.patch("azvolumes", "pvc-1", {"spec": {"maxMountReplicaCount": 0}})
    until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "only the primary is left")
    unpublish(controller, volume, world.nodes[0])
    until(lambda: world.roles("pvc-1") == {}, "that one is detached, for nothing is kept")


def test_replicas_of_the_least_important_pods_give_way_first(tmp_path, apiserver):
    """A node with four places, all taken by replicas: primaries that come take them in the order of the pods'
    priority."""
    importance = {"pvc-0": 300, "pvc-1": 100, "pvc-2": 400, "pvc-3": 200}
    with World(tmp_path, apiserver, nodes=0, attach="100ms", detach="50ms", create="50ms") as world, \
            Controller(world) as controller:
        world.add_small_nodes("a", "b")
        shared = {"skuName": "Premium_LRS", "maxShares": "2"}
        with priority_classes(world, importance), no_volumes_left(world):
            for name in importance:
                volume = create(controller, name, shared).volume_id
                bind(world, name, volume)
                run(world, [name], world.nodes[0], name, priorityClassName=f"{world.namespace}-{name}")
                publish(controller, volume, world.nodes[0])
            until(lambda: all(replicas(world, name) == "b" for name in importance), "every place is taken", 90)
            gone = []
            for number in range(4):
                publish(controller, create(controller, f"new-{number}", shared).volume_id, world.nodes[1])
                until(lambda: world.roles(f"new-{number}").get("b") == "Primary Attached", "it has a place", 90)
                gone += until(lambda: [name for name in importance if name not in gone and not replicas(world, name)],
                              "a replica is gone", 90)
            assert gone == sorted(importance, key=importance.get)
