"""Pods with volumes on nodes that are objects only: the controller that makes them again, kubelet and the driver are a
thread; kube-scheduler, too, unless a real one runs."""

import threading
from contextlib import contextmanager

from kubernetes import client
from kubernetes.client.exceptions import ApiException

from .azdiskctl import Calls
from .placement import DRIVER, GROUP, OBJECTS, VERSION, Placement, disk_id

ZONE = f"topology.{DRIVER}/zone"


class Workload:
    """A StatefulSet of one pod, whose claim and volume have its name: `name`-0."""

    def __init__(self, objects: Placement, name: str, node: str, replicas: tuple[str, ...], scheduler: str = "none"):
        self.objects, self.core, self.apps = objects, objects.core, client.AppsV1Api(objects.api)
        self.name, self.pod_name, self.node = name, f"{name}-0", node
        self.scheduler, self.places, self.pauses = scheduler, [], False
        self.nodes = {node: "Primary", **{replica: "Replica" for replica in replicas}}
        self._make_volume()
        self.owner = self._make_owner()
        self.make_pod(node)

    # ---- what there is at first ----

    def _make_volume(self) -> None:
        self.objects.bound(self.name)
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "AzVolume", "metadata": {"name": self.name},
                "spec": {"volumeName": self.name, "maxMountReplicaCount": 2,
                         "volumeCapability": [{"access_type": 1, "access_mode": 1}],
                         "parameters": {"maxShares": "3"}}}
        place = (GROUP, VERSION, OBJECTS, "azvolumes")
        self.objects.custom.create_namespaced_custom_object(*place, body)
        status = {"state": "Created", "detail": {"volume_id": disk_id(self.name), "capacity_bytes": 1 << 30,
                                                 "node_expansion_required": False}}
        self.objects.custom.patch_namespaced_custom_object_status(*place, self.name, {"status": status})
        for node, role in self.nodes.items():
            self.attach(node, role)

    def attach(self, node: str, role: str, state: str = "Attached") -> None:
        place, name = (GROUP, VERSION, OBJECTS, "azvolumeattachments"), f"{self.name}-{node}-attachment"
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "AzVolumeAttachment",
                "metadata": {"name": name, "labels": {f"{DRIVER}/volume-name": self.name}},
                "spec": {"volumeName": self.name, "volume_id": disk_id(self.name), "nodeName": node, "role": role}}
        try:
            self.objects.custom.create_namespaced_custom_object(*place, body)
        except ApiException:
            self.objects.custom.patch_namespaced_custom_object(*place, name, {"spec": {"role": role}})
        status = {"state": state, "detail": {"role": role, "publish_context": {"LUN": "0"}}}
        self.objects.custom.patch_namespaced_custom_object_status(*place, name, {"status": status})

    def patch_volume(self, spec: dict) -> None:
        self.objects.custom.patch_namespaced_custom_object(
            GROUP, VERSION, OBJECTS, "azvolumes", self.name, {"spec": spec})

    def say_ready(self, node: str, note: str | None) -> None:
        """What the plug-in notes of its replica."""
        annotation = {"status": {"annotation": {f"{DRIVER}/replica-ready": note}}}
        self.objects.custom.patch_namespaced_custom_object_status(
            GROUP, VERSION, OBJECTS, "azvolumeattachments", f"{self.name}-{node}-attachment", annotation)

    def _make_owner(self) -> dict:
        labels = {"app": self.name}
        made = self.apps.create_namespaced_stateful_set("default", {
            "metadata": {"name": self.name},
            "spec": {"replicas": 1, "serviceName": self.name, "selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels},
                                  "spec": {"containers": [{"name": "main", "image": "main"}]}}}})
        return {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": self.name, "uid": made.metadata.uid,
                "controller": True}

    def make_pod(self, node: str | None = None, owner: dict | None = None) -> None:
        claim = {"name": "data", "persistentVolumeClaim": {"claimName": self.name}}
        spec = {"containers": [{"name": "main", "image": "main"}], "volumes": [claim],
                "schedulerName": self.scheduler, "nodeName": node}
        metadata = {"name": self.pod_name, "labels": {"app": self.name}, "ownerReferences": [owner or self.owner]}
        self.core.create_namespaced_pod("default", {"metadata": metadata, "spec": spec})

    # ---- what happens then ----

    def pod(self):
        try:
            return self.core.read_namespaced_pod(self.pod_name, "default")
        except ApiException as failure:
            if failure.status != 404:
                raise
            return None

    def act(self) -> None:
        """One look at the pod."""
        pod = self.pod()
        if not pod:
            if not self.pauses:
                self.make_pod()
        elif pod.metadata.deletion_timestamp:
            self.core.delete_namespaced_pod(self.pod_name, "default", grace_period_seconds=0)
        elif not pod.spec.node_name:
            if self.places:
                target = client.V1ObjectReference(kind="Node", name=self.places.pop(0))
                body = client.V1Binding(metadata=client.V1ObjectMeta(name=self.pod_name), target=target)
                self.core.create_namespaced_pod_binding(self.pod_name, "default", body, _preload_content=False)
        elif pod.status.phase != "Running":
            self._run(pod.spec.node_name)

    def _run(self, node: str) -> None:
        self.node = node
        for holder in {*self.nodes, node}:
            self.nodes[holder] = "Primary" if holder == node else "Replica"
            self.attach(holder, self.nodes[holder])
        ready = {"type": "Ready", "status": "True"}
        self.core.patch_namespaced_pod_status(self.pod_name, "default", {"status": {"phase": "Running",
                                                                                    "conditions": [ready]}})

    def annotations(self) -> dict:
        claim = self.core.read_namespaced_persistent_volume_claim(self.name, "default")
        return claim.metadata.annotations or {}

    def budget(self, allowed: int, name: str = "") -> None:
        """A PodDisruptionBudget of the pod, in the words of the controller that counts it."""
        policy = client.PolicyV1Api(self.objects.api)
        body = {"metadata": {"name": name or self.name},
                "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": self.name}}}}
        try:
            policy.create_namespaced_pod_disruption_budget("default", body)
        except ApiException:
            pass
        status = {"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1,
                  "expectedPods": 1}
        policy.patch_namespaced_pod_disruption_budget_status(name or self.name, "default", {"status": status})

    def lift_budget(self, name: str) -> None:
        client.PolicyV1Api(self.objects.api).delete_namespaced_pod_disruption_budget(name, "default")

    def close(self) -> None:
        gone = {"grace_period_seconds": 0}
        for remove in (lambda: self.core.delete_namespaced_pod(self.pod_name, "default", **gone),
                       lambda: self.apps.delete_namespaced_stateful_set(self.name, "default"),
                       lambda: client.PolicyV1Api(self.objects.api).delete_namespaced_pod_disruption_budget(
                           self.name, "default"),
                       lambda: self.objects.custom.delete_namespaced_custom_object(
                           GROUP, VERSION, OBJECTS, "azvolumes", self.name)):
            try:
                remove()
            except ApiException:
                pass


@contextmanager
def living(*workloads: Workload):
    """The thread that plays all but the API server."""
    ends, failures = threading.Event(), []

    def play() -> None:
        while not ends.wait(0.05):
            for workload in workloads:
                try:
                    workload.act()
                except ApiException as failure:
                    if failure.status not in (404, 409):
                        failures.append(failure)
                        return

    thread = threading.Thread(target=play)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()
        assert not failures, failures


class Ctl(Calls):
    """azdiskctl as a person runs it, sanitized, against these objects."""

    def __init__(self, kubeconfig):
        super().__init__(kubeconfig, OBJECTS)

    def run(self, *words: str, status: int = 0) -> str:
        """Both outputs."""
        return "".join(self.outputs(*words, status=status))
