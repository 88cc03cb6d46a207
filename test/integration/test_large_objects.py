"""Objects that are larger than usual: a page of them is more than a program takes at once. And what does not wait
for Pods, of which there may be many."""


import pytest
from cluster.waiting import until
from kubernetes import client

from .calls import create, publish
from .driver_world import GROUP, Controller, World
from .extender import Extender
from .kubernetes_side import NO_FINALIZERS

PODS, BYTES_OF_POD = 55, 1_300_000  # more than the 64 MiB that a page may have; etcd takes no larger object
CLAIMS, BYTES_OF_CLAIM = 300, 240_000  # annotations have 256 KiB at most


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, attach="100ms", detach="100ms") as world:
        yield world


def fill_with_pods(world: World) -> None:
    for i in range(PODS):
        environment = [{"name": "X", "value": "x" * BYTES_OF_POD}]
        world.core.create_namespaced_pod(world.namespace, {
            "metadata": {"name": f"large-{i}"},
            "spec": {"containers": [{"name": "c", "image": "x", "env": environment}],
                     "automountServiceAccountToken": False}})


def replicated(controller, world: World) -> str:
    """A volume that is published and has a replica, which is placed when Pods are known."""
    parameters = {"skuName": "Premium_LRS", "maxShares": "2", "maxMountReplicaCount": "1"}
    volume = create(controller, "pvc-1", parameters).volume_id
    publish(controller, volume, world.nodes[0])
    until(lambda: world.roles("pvc-1").get("a") == "Primary Attached", "the primary is attached")
    return volume


def has_replica(world: World) -> bool:
    return sorted(world.roles("pvc-1").values()) == ["Primary Attached", "Replica Attached"]


def test_pods_with_large_environments(world):
    fill_with_pods(world)
    try:
        with Controller(world) as controller:
            replicated(controller, world)
            until(lambda: has_replica(world), "Pods have been read, and the replica is placed")
            assert "watch of pods" not in controller.said()
    finally:
        world.core.delete_collection_namespaced_pod(world.namespace, grace_period_seconds=0)


def test_claims_with_large_annotations(world, tmp_path):
    for i in range(CLAIMS):
        world.core.create_namespaced_persistent_volume_claim(world.namespace, {
            "metadata": {"name": f"large-{i}", "annotations": {"x": "x" * BYTES_OF_CLAIM}},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
    try:
        flags = f"--object-namespace={world.namespace}"
        with Extender(tmp_path / "extender.log", flags, kubeconfig=world.apiserver.kubeconfig) as extender:
            extender.until_ready()
            assert "watch of persistentvolumeclaims" not in extender.log.read_text()
    finally:
        world.core.delete_collection_namespaced_persistent_volume_claim(world.namespace)
        for i in range(CLAIMS):  # the API server protects them, and no controller ends that here
            world.core.patch_namespaced_persistent_volume_claim(f"large-{i}", world.namespace, NO_FINALIZERS)


class Account:
    """May do what the controller needs, but for reading Pods."""

    RULES = [
        {"apiGroups": [GROUP, "storage.k8s.io", "coordination.k8s.io", "events.k8s.io"], "resources": ["*"],
         "verbs": ["*"]},
        {"apiGroups": [""], "resources": ["nodes", "persistentvolumes", "namespaces", "secrets"], "verbs": ["*"]},
    ]

    def __init__(self, world: World):
        self.name = world.namespace
        self.rbac = client.RbacAuthorizationV1Api(world.client)
        self.rbac.create_cluster_role({"metadata": {"name": self.name}, "rules": self.RULES})
        self.rbac.create_cluster_role_binding({
            "metadata": {"name": self.name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": self.name},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": self.name}]})
        self.kubeconfig = world.apiserver.authority.kubeconfig(self.name, f"/CN={self.name}")

    def let_read_pods(self) -> None:
        pods = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}
        self.rbac.patch_cluster_role(self.name, {"rules": [*self.RULES, pods]})

    def close(self) -> None:
        self.rbac.delete_cluster_role_binding(self.name)
        self.rbac.delete_cluster_role(self.name)


def test_volumes_are_published_before_pods_are_read(world):
    account = Account(world)
    try:
        with Controller(world, "one", f"--kubeconfig={account.kubeconfig}") as controller:
            replicated(controller, world)
            assert "watch of pods" in controller.said()
            assert list(world.roles("pvc-1")) == ["a"]
            account.let_read_pods()
            until(lambda: has_replica(world), "the replica is placed")
    finally:
        account.close()
