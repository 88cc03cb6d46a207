"""Volumes whose disks somebody else has made: one that is there only after its pod, and one of the in-tree driver,
which Kubernetes hands to this one."""

import pytest
from azsim import simulator
from azure.mgmt.compute import ComputeManagementClient
from cluster.cluster import Cluster
from cluster.images import BUSYBOX_IMAGE
from cluster.waiting import until
from deployment.azure import Azure
from deployment.driver import OBJECTS
from deployment.ledger import DRIVER
from kubernetes import client, config

PATH = "/volume"
SECONDS = 120


@pytest.fixture(scope="module")
def core(cluster) -> client.CoreV1Api:
    return client.CoreV1Api(config.new_client_from_config(str(cluster.authority.path("admin.conf"))))


def make_disk(cluster: Cluster, compute: ComputeManagementClient, name: str) -> None:
    disk = {"location": simulator.LOCATION, "zones": ["1"], "sku": {"name": "Premium_LRS"},
            "properties": {"diskSizeGB": 4, "creationData": {"createOption": "Empty"}}}
    with cluster.inside("cp"):
        compute.disks.begin_create_or_update(simulator.GROUP, name, disk, polling_interval=0.2).result()


def delete_disk(cluster: Cluster, compute: ComputeManagementClient, name: str) -> None:
    with cluster.inside("cp"):
        compute.disks.begin_delete(simulator.GROUP, name, polling_interval=0.2).result()


def volume(name: str, policy: str, source: dict) -> list[dict]:
    """A PersistentVolume, and the claim that it is for."""
    size = {"storage": "4Gi"}
    common = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    return [
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
         "spec": {**common, "capacity": size, "persistentVolumeReclaimPolicy": policy,
                  "claimRef": {"namespace": "default", "name": name}, **source}},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
         "spec": {**common, "resources": {"requests": size}, "volumeName": name}},
    ]


def use(cluster: Cluster, claim: str, node: str) -> None:
    """By a pod. Kubernetes looks only now and then at the volumes of one whose claim was not bound at first."""
    cluster.kubectl("wait", f"pvc/{claim}", "--for=jsonpath={.status.phase}=Bound", f"--timeout={SECONDS}s")
    container = {"name": "c", "image": BUSYBOX_IMAGE, "imagePullPolicy": "Never",
                 "command": ["/bin/busybox", "sleep", "100000"], "volumeMounts": [{"name": "v", "mountPath": PATH}]}
    cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"uses-{claim}"},
                   "spec": {"nodeName": node, "terminationGracePeriodSeconds": 0, "containers": [container],
                            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]}})


def run(cluster: Cluster, claim: str, script: str) -> str:
    """In the pod, once it is ready."""
    cluster.kubectl("wait", f"pod/uses-{claim}", "--for=condition=Ready", f"--timeout={SECONDS}s")
    return cluster.kubectl("exec", f"uses-{claim}", "--", "/bin/busybox", "sh", "-ec", script).strip()


def remove(cluster: Cluster, claim: str) -> None:
    """The pod; back when the volume is unpublished: before, a deletion is refused and tried again much later."""
    cluster.kubectl("delete", "pod", f"uses-{claim}", f"--timeout={SECONDS}s")
    until(lambda: not cluster.get("volumeattachments")["items"], "the volume is unpublished", SECONDS, interval=0.2)


# ---- a disk that comes later ----

def complaints(cluster: Cluster, core: client.CoreV1Api, name: str) -> list[str]:
    with cluster.inside("cp"):
        events = core.list_namespaced_event("default", field_selector=f"involvedObject.name={name}")
    return [each.message for each in events.items if each.reason == "FailedAttachVolume"]


def test_a_pod_waits_for_a_disk_that_somebody_makes_later(cluster, azure, compute, core):
    handle = simulator.disk_id("later")
    cluster.apply(*volume("later", "Retain", {"csi": {"driver": DRIVER, "volumeHandle": handle, "fsType": "ext4"}}))
    use(cluster, "later", "node-b")
    message = until(lambda: complaints(cluster, core, "uses-later"), "the pod's user is told", SECONDS, interval=0.2)[0]
    assert handle in message and "not found" in message
    make_disk(cluster, compute, "later")
    run(cluster, "later", f"echo kept >{PATH}/file")
    remove(cluster, "later")
    cluster.kubectl("delete", "pvc/later", "pv/later", f"--timeout={SECONDS}s")
    until(lambda: not cluster.get("azvolumes", "-n", OBJECTS)["items"], "its record ends with it", SECONDS)
    assert [disk["name"] for disk in azure.control("GET", "disks")["disks"]] == ["later"], "who made it deletes it"
    delete_disk(cluster, compute, "later")


# ---- a volume of the in-tree driver ----

IN_TREE = "kubernetes.io/azure-disk"


@pytest.fixture
def in_tree(cluster, compute) -> str:
    """Such a volume, as that driver had provisioned it; its name."""
    name = "in-tree"
    make_disk(cluster, compute, name)
    source = {"diskName": name, "diskURI": simulator.disk_id(name), "kind": "Managed", "fsType": "ext4",
              "cachingMode": "ReadOnly"}
    [pv, pvc] = volume(name, "Delete", {"azureDisk": source})
    pv["metadata"]["annotations"] = {"pv.kubernetes.io/provisioned-by": IN_TREE}
    cluster.apply(pv, pvc)
    return name


def test_a_volume_of_the_in_tree_driver_is_used_and_deleted(cluster, azure, in_tree):
    use(cluster, in_tree, "node-c")
    run(cluster, in_tree, f"echo kept >{PATH}/file; sync")
    [disk] = azure.control("GET", "disks")["disks"]
    assert [owner["vm"] for owner in disk["attachedTo"]] == ["node-c"]
    remove(cluster, in_tree)
    cluster.kubectl("delete", "pvc", in_tree, f"--timeout={SECONDS}s")
    until(lambda: not cluster.get("pv")["items"], "no PersistentVolume is left", SECONDS, interval=0.5)
    until(azure.nothing_left, "the disk is deleted with its claim", SECONDS, interval=0.5)


# ---- a PersistentVolume that is read-only ----

def csi(name: str, **more) -> dict:
    return {"csi": {"driver": DRIVER, "volumeHandle": simulator.disk_id(name), "fsType": "ext4", **more}}


def forget(cluster: Cluster, name: str) -> None:
    cluster.kubectl("delete", "pvc", name, f"--timeout={SECONDS}s")
    cluster.kubectl("delete", "pv", name, f"--timeout={SECONDS}s")


def attachment(cluster: Cluster, disk: str) -> dict:
    found = cluster.get("azvolumeattachments", "-n", OBJECTS)["items"]
    return next(item["spec"] for item in found if item["spec"]["volume_id"].endswith(f"/{disk}"))


def test_a_persistent_volume_that_is_read_only(cluster, azure, compute):
    """csi-attacher asks for it, and kubelet has no part in it: to its pods, the volume is like any other."""
    make_disk(cluster, compute, "kept")
    cluster.apply(*volume("kept", "Retain", csi("kept")))
    use(cluster, "kept", "node-a")
    run(cluster, "kept", f"echo kept >{PATH}/file; sync")
    assert not attachment(cluster, "kept").get("readOnly")
    remove(cluster, "kept")
    forget(cluster, "kept")

    cluster.apply(*volume("kept", "Retain", csi("kept", readOnly=True)))
    use(cluster, "kept", "node-b")
    assert run(cluster, "kept", f"cat {PATH}/file") == "kept"
    with pytest.raises(RuntimeError, match="Read-only file system"):
        run(cluster, "kept", f"echo x >{PATH}/file")
    assert attachment(cluster, "kept")["readOnly"] is True
    remove(cluster, "kept")
    forget(cluster, "kept")
    delete_disk(cluster, compute, "kept")
