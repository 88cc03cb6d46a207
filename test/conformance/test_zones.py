"""Disks and their zones, with kube-scheduler and csi-provisioner: two zones of two nodes each."""

import pytest
from azsim import simulator
from cluster.waiting import until
from deployment.driver import OBJECTS
from e2e.every_volume import claim, container, storage_class

from .conftest import ZONES
from .definitions import DRIVER

SECONDS = 120
KEY = f"topology.{DRIVER}/zone"
ONE, TWO = f"{simulator.LOCATION}-1", f"{simulator.LOCATION}-2"
HERE, ELSEWHERE = "node-a", "node-c"
CLAIMS = 4


def late(name: str, *allowed: str, **parameters: str) -> dict:
    """A class whose disks are made where the pod is to run."""
    found = storage_class(name, **parameters) | {"volumeBindingMode": "WaitForFirstConsumer"}
    if allowed:
        found["allowedTopologies"] = [{"matchLabelExpressions": [{"key": KEY, "values": list(allowed)}]}]
    return found


def pod(name: str, claim_name: str, node: str | None = None) -> dict:
    spec = {"containers": [container("c", volumeMounts=[{"name": "v", "mountPath": "/volume"}])],
            "terminationGracePeriodSeconds": 0,
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim_name}}]}
    if node:
        spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


class Zones:
    """What is made here goes at the end."""

    def __init__(self, installation):
        self.cluster, self.driver = installation.cluster, installation.driver
        self.made: list[tuple[str, str]] = []

    def apply(self, *objects: dict) -> None:
        self.cluster.apply(*objects)
        self.made += [(found["kind"], found["metadata"]["name"]) for found in objects]

    def ready(self, *pods: str) -> None:
        names = [f"pod/{name}" for name in pods]
        self.cluster.kubectl("wait", *names, "--for=condition=Ready", f"--timeout={SECONDS}s")

    def bound(self, *claims: str) -> None:
        names = [f"pvc/{name}" for name in claims]
        self.cluster.kubectl("wait", *names, "--for=jsonpath={.status.phase}=Bound", f"--timeout={SECONDS}s")

    def of(self, claim_name: str) -> set[str]:
        """The zones in which a pod may use the claim's volume."""
        name = self.cluster.get("pvc", claim_name)["spec"]["volumeName"]
        affinity = self.cluster.get("pv", name)["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
        return {value for term in affinity for rule in term["matchExpressions"] if rule["key"] == KEY
                for value in rule["values"]} - {""}

    def events(self, kind: str, name: str) -> str:
        found = self.cluster.get("events", "--field-selector", f"involvedObject.kind={kind},involvedObject.name={name}")
        return "\n".join(event["message"] for event in found["items"])

    def close(self) -> None:
        for kind in ("Pod", "PersistentVolumeClaim", "StorageClass"):
            names = [name for made, name in self.made if made == kind]
            if names:
                self.cluster.kubectl("delete", kind, *names, "--ignore-not-found", f"--timeout={SECONDS}s")
        self.driver.until_nothing_is_left(SECONDS)


@pytest.fixture(scope="module")
def zones(installation):
    zones = Zones(installation)
    yield zones
    zones.close()


def test_where_the_pod_runs(zones):
    zones.apply(late("late"), claim("here", "late"), claim("there", "late"),
                pod("here", "here", HERE), pod("there", "there", ELSEWHERE))
    zones.ready("here", "there")
    assert (zones.of("here"), zones.of("there")) == ({ONE}, {TWO})


def test_a_zone_that_the_class_does_not_allow(zones):
    zones.apply(late("second", TWO), claim("strict", "second"),
                pod("strict", "strict", HERE), claim("allowed", "second"), pod("allowed", "allowed"))
    zones.ready("allowed")
    assert zones.of("allowed") == {TWO}
    until(lambda: "didn't find available persistent volumes" in zones.events("Pod", "strict"),
          "the scheduler's reason", SECONDS, interval=0.5)
    assert zones.cluster.get("pvc", "strict")["status"]["phase"] == "Pending"


def test_claims_without_pods_are_spread(zones):
    """As those of a StatefulSet, whose names end with a number."""
    names = [f"data-web-{i}" for i in range(CLAIMS)]
    zones.apply(storage_class("early"), *(claim(name, "early") for name in names))
    zones.bound(*names)
    found = [zones.of(name) for name in names]
    assert found.count({ONE}) == found.count({TWO}) == CLAIMS // 2


def test_a_disk_of_all_zones(zones):
    """A pod that moves from one zone to the other finds its data there."""
    write = "echo word >/volume/file; sync"
    zones.apply(late("all", skuName="Premium_ZRS"), claim("wide", "all"),
                pod("first", "wide", HERE))
    zones.ready("first")
    assert zones.of("wide") >= {ONE, TWO}
    zones.cluster.kubectl("exec", "first", "--", "/bin/busybox", "sh", "-ec", write)
    zones.cluster.kubectl("delete", "pod", "first", f"--timeout={SECONDS}s")
    zones.apply(pod("second", "wide", ELSEWHERE))
    zones.ready("second")
    assert zones.cluster.kubectl("exec", "second", "--", "/bin/busybox", "cat", "/volume/file").strip() == "word"


def test_replicas_are_where_the_disk_can_be(zones):
    """Of a disk of one zone in that zone, of one of all zones in any."""
    shared = {"maxShares": "3", "maxMountReplicaCount": "2"}
    zones.apply(late("narrow", **shared),
                late("broad", skuName="Premium_ZRS", **shared),
                claim("narrow", "narrow"), claim("broad", "broad"), pod("narrow", "narrow"), pod("broad", "broad"))
    zones.ready("narrow", "broad")

    def nodes(claim_name: str) -> set[str]:
        volume = zones.cluster.get("pvc", claim_name)["spec"]["volumeName"]
        attachments = zones.cluster.get("azvolumeattachments", "-n", OBJECTS)["items"]
        return {found["spec"]["nodeName"] for found in attachments
                if found["spec"]["volumeName"] == volume and found["status"].get("state") == "Attached"}

    until(lambda: len(nodes("broad")) == 3, "two replicas of the disk of all zones", SECONDS, interval=0.5)
    [zone] = zones.of("narrow")
    inside = {node for node, number in ZONES.items() if zone.endswith(number)}
    until(lambda: nodes("narrow") == inside, "one replica, in the only zone", SECONDS, interval=0.5)
    assert {ZONES[node] for node in nodes("broad")} == {"1", "2"}


def test_a_clone_for_another_zone(zones):
    """Azure copies a disk within its zone; the event says what to do instead."""
    zones.apply(late("copied"), claim("origin", "copied"), pod("origin", "origin", HERE))
    zones.ready("origin")
    clone = claim("clone", "copied")
    clone["spec"]["dataSource"] = {"kind": "PersistentVolumeClaim", "name": "origin"}
    zones.apply(clone, pod("clone", "clone", ELSEWHERE))
    until(lambda: "zone" in zones.events("PersistentVolumeClaim", "clone") and "snapshot" in
          zones.events("PersistentVolumeClaim", "clone"), "the way out", SECONDS, interval=0.5)
