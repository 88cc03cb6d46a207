"""VolumeAttributesClasses: a claim gets another one, and its disk becomes what that says."""

import pytest
from cluster.images import BUSYBOX_IMAGE
from cluster.waiting import PATIENCE, until
from deployment.ledger import DRIVER

from .every_volume import PATH, claim, storage_class

NAMES = ("modest", "fast", "slow-kind")


def attributes_class(name: str, **parameters: str) -> dict:
    return {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttributesClass", "metadata": {"name": name},
            "driverName": DRIVER, "parameters": parameters}


@pytest.fixture(scope="module")
def volume(cluster, azure) -> str:
    """The disk's name; a pod uses it."""
    cluster.apply(
        storage_class("flexible", skuName="PremiumV2_LRS", diskIOPSReadWrite="3100"),
        attributes_class("modest", diskIOPSReadWrite="3200"),
        attributes_class("fast", diskIOPSReadWrite="4000", diskMBpsReadWrite="200"),
        attributes_class("slow-kind", skuName="Standard_LRS"))
    wanted = claim("flexible", "flexible")
    wanted["spec"]["volumeAttributesClassName"] = "modest"
    wanted["spec"]["resources"]["requests"]["storage"] = "16Gi"
    cluster.apply(wanted, {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "flexible"}, "spec": {
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "c", "image": BUSYBOX_IMAGE, "imagePullPolicy": "Never",
                            "command": ["/bin/busybox", "sleep", "100000"],
                            "volumeMounts": [{"name": "v", "mountPath": PATH}]}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "flexible"}}]}})
    try:
        cluster.kubectl("wait", "pod/flexible", "--for=condition=Ready", PATIENCE)
        yield cluster.get("pvc", "flexible")["spec"]["volumeName"]
    finally:
        for what in ("pod/flexible", "pvc/flexible", "storageclass/flexible"):
            cluster.kubectl("delete", what, PATIENCE)
        cluster.kubectl("delete", "volumeattributesclass", *NAMES)
        until(azure.nothing_left, "nothing is left in Azure", interval=0.5)


def performance(azure, volume: str) -> tuple[int, int]:
    """IOPS and MBps of the disk."""
    return next((d["iops"], d["mbps"]) for d in azure.control("GET", "disks")["disks"] if d["name"] == volume)


def choose(cluster, name: str) -> None:
    patch = f'{{"spec": {{"volumeAttributesClassName": "{name}"}}}}'
    cluster.kubectl("patch", "pvc", "flexible", "--patch", patch)


def status(cluster) -> dict:
    return cluster.get("pvc", "flexible")["status"]


def test_a_volume_is_made_as_its_class_says(cluster, azure, volume):
    assert performance(azure, volume)[0] == 3200, "it takes precedence over the StorageClass"
    assert status(cluster)["currentVolumeAttributesClassName"] == "modest"


def test_a_disk_in_use_becomes_faster(cluster, azure, volume):
    before = azure.last_request()
    choose(cluster, "fast")
    until(lambda: performance(azure, volume) == (4000, 200), "the disk is faster", 60, interval=0.3)
    until(lambda: status(cluster)["currentVolumeAttributesClassName"] == "fast", "the claim says so", 60, interval=0.3)
    assert azure.accepted("virtualMachines.attachDetachDataDisks", before) == [], "it stayed where it was"


def test_what_can_never_be_is_said_to_the_claims_owner(cluster, azure, volume):
    choose(cluster, "slow-kind")
    which = "involvedObject.name=flexible,reason=VolumeModifyFailed"
    said = until(lambda: cluster.get("events", "--field-selector", which)["items"], "an event of the claim", 60,
                 interval=0.3)[0]["message"]
    assert "PremiumV2_LRS cannot become Standard_LRS" in said and "copying" in said
    assert until(lambda: status(cluster).get("modifyVolumeStatus"), "a status", 30)["status"] == "Infeasible"
    choose(cluster, "fast")
    until(lambda: not status(cluster).get("modifyVolumeStatus"), "the owner has taken it back", 60, interval=0.3)
    assert performance(azure, volume) == (4000, 200)
