"""azdiskctl failover to a node without a replica, with a real controller: it attaches one there, for which another one
gives way if all shares are taken, before the pod leaves; or takes it away again where the pod could not run."""

import json

import pytest
from cluster.waiting import until
from kubernetes import client

from .azdiskctl import Azdiskctl
from .calls import SHARED, create, publish
from .driver_world import Controller, World
from .kubernetes_side import NO_FINALIZERS, persistent_volume

EVERYWHERE = {"a": "Primary Attached", "b": "Replica Attached", "c": "Replica Attached"}


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, nodes=4, attach="100ms", detach="50ms", create="50ms", get="0s") as world:
        yield world


@pytest.fixture
def db(world):
    """A StatefulSet's pod on node a, with its volume; replicas on b and c take the other two shares."""
    apps, labels = client.AppsV1Api(world.client), {"app": "db"}
    owner = apps.create_namespaced_stateful_set(world.namespace, {
        "metadata": {"name": "db"},
        "spec": {"replicas": 1, "serviceName": "db", "selector": {"matchLabels": labels},
                 "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}})

    def pod(node: str, **spec) -> None:
        reference = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": owner.metadata.uid,
                     "controller": True}
        claim = {"name": "data", "persistentVolumeClaim": {"claimName": "claim"}}
        world.core.create_namespaced_pod(world.namespace, {
            "metadata": {"name": "db-0", "labels": labels, "ownerReferences": [reference]},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}], "volumes": [claim], **spec}})

    with Controller(world) as controller:
        volume = create(controller, parameters=SHARED)
        publish(controller, volume.volume_id, world.nodes[0])
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "three attachments")
        with persistent_volume(world, volume.volume_id, {}) as pv:
            world.core.create_namespaced_persistent_volume_claim(world.namespace, {
                "metadata": {"name": "claim"},
                "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": pv, "storageClassName": "",
                         "resources": {"requests": {"storage": "1Gi"}}}})
            yield pod
    world.core.delete_namespaced_pod("db-0", world.namespace, grace_period_seconds=0)
    world.core.delete_namespaced_persistent_volume_claim("claim", world.namespace)
    world.core.patch_namespaced_persistent_volume_claim("claim", world.namespace, NO_FINALIZERS)


def failover(world, *words: str):
    return Azdiskctl(world).start("failover", "claim", "-n", world.namespace, "-o", "json", *words)


def uid(world) -> str | None:
    try:
        pod = world.core.read_namespaced_pod("db-0", world.namespace)
    except client.ApiException:
        return None
    return None if pod.metadata.deletion_timestamp else pod.metadata.uid


def test_a_replica_comes_before_the_pod_leaves(world, db):
    target = world.nodes[3]
    db(world.nodes[0])
    process = failover(world, "--to", target)
    until(lambda: not uid(world), "the pod is evicted")
    roles = world.roles("pvc-1")
    assert roles.pop("d") == "Replica Attached" and roles.pop("a") == "Primary Attached"
    assert list(roles.values()) == ["Replica Attached"], "one of the other two gave way"
    world.core.delete_namespaced_pod("db-0", world.namespace, grace_period_seconds=0)
    db(target)
    ready = {"type": "Ready", "status": "True"}
    world.core.patch_namespaced_pod_status("db-0", world.namespace, {"status": {"phase": "Running",
                                                                                "conditions": [ready]}})
    output, steps = process.communicate(timeout=60)
    assert process.returncode == 0, steps
    assert json.loads(output)["move"]["node"] == target
    assert f"asked for a replica of volume pvc-1 on node {target}\n" in steps


def test_a_dry_run_asks_for_none(world, db):
    db(world.nodes[0])
    process = failover(world, "--dry-run", "--to", world.nodes[3])
    _, steps = process.communicate(timeout=60)
    assert process.returncode == 0, steps
    assert f"replicas would have to become ready first: volume pvc-1 has no replica on node {world.nodes[3]}" in steps
    assert world.roles("pvc-1") == EVERYWHERE


def test_where_the_pod_could_not_run_there_is_none(world, db):
    """By a rule that only the controller knows."""
    world.patch("azvolumes", "pvc-1", {"spec": {"parameters": {"replicaNodeSelector": "kubernetes.io/nobody!=d"}}})
    world.core.patch_node(world.nodes[3], {"metadata": {"labels": {"kubernetes.io/nobody": "d"}}})
    db(world.nodes[0])
    before = uid(world)
    process = failover(world, "--to", world.nodes[3])
    _, steps = process.communicate(timeout=60)
    assert process.returncode == 2, steps
    assert "the controller has taken a replica away again that was asked for" in steps
    assert uid(world) == before
    until(lambda: world.roles("pvc-1") == EVERYWHERE, "all is as before")
