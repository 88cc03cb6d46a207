"""A day of a user with snapshots: one of a database in use, a claim that is restored from it and one that is cloned,
all three mounted on one node, each a file system of its own; and the restored disk as a static volume elsewhere."""

import pytest
from cluster.images import BUSYBOX_IMAGE
from cluster.waiting import PATIENCE, until
from deployment.driver import OBJECTS
from deployment.ledger import DRIVER

from .every_volume import claim, storage_class
from .test_growth import GROWABLE
from .test_static import delete_disk

NODE = "node-a"
PATH = "/volume"
SECONDS = 120
CLASS = "csi-azuredisk-vsc"  # the chart's
SNAPSHOT = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "evening"}


def api(kind: str, name: str, **more) -> dict:
    return {"apiVersion": "snapshot.storage.k8s.io/v1", "kind": kind, "metadata": {"name": name}, **more}


def copy(name: str, source: dict, size: str = "1Gi") -> dict:
    wanted = claim(name, "copied")
    wanted["spec"] |= {"dataSource": source, "resources": {"requests": {"storage": size}}}
    return wanted


def pod(name: str, claim_name: str, namespace: str = "default") -> dict:
    container = {"name": "c", "image": BUSYBOX_IMAGE, "imagePullPolicy": "Never",
                 "command": ["/bin/busybox", "sleep", "100000"], "volumeMounts": [{"name": "v", "mountPath": PATH}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
            "spec": {"nodeSelector": {"kubernetes.io/hostname": NODE}, "terminationGracePeriodSeconds": 0,
                     "containers": [container],
                     "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim_name}}]}}


def run(cluster, name: str, script: str, namespace: str = "default") -> str:
    cluster.kubectl("wait", "-n", namespace, f"pod/{name}", "--for=condition=Ready", PATIENCE)
    return cluster.kubectl("exec", "-n", namespace, name, "--", "/bin/busybox", "sh", "-ec", script).strip()


def volume_of(cluster, claim_name: str) -> dict:
    name = cluster.get("pvc", claim_name)["spec"]["volumeName"]
    return cluster.get("azvolumes", name, "-n", OBJECTS)


def filesystem_of(cluster, claim_name: str) -> str | None:
    return volume_of(cluster, claim_name)["status"]["annotation"].get("disk.csi.azure.com/filesystem")


def snapshots_in_azure(cluster, compute) -> list[str]:
    with cluster.inside("cp"):
        return [snapshot.id.lower() for snapshot in compute.snapshots.list()]


@pytest.mark.parametrize("filesystem", ["ext4", "xfs"])
def test_a_day(cluster, driver, compute, filesystem):
    cluster.apply(storage_class("copied", fsType=filesystem))
    cluster.apply(claim("data", "copied"), pod("database", "data"))
    run(cluster, "database", f"echo before >{PATH}/log; sync")
    cluster.apply(api("VolumeSnapshot", "evening", spec={"volumeSnapshotClassName": CLASS, "source": {
        "persistentVolumeClaimName": "data"}}))
    cluster.kubectl("wait", "volumesnapshot/evening", "--for=jsonpath={.status.readyToUse}=true", f"--timeout={SECONDS}s")
    [record] = cluster.get("azsnapshots", "-n", OBJECTS)["items"]
    assert record["status"]["readyToUse"]
    assert snapshots_in_azure(cluster, compute) == [record["status"]["snapshotId"].lower()]
    assert record["status"]["filesystem"] == filesystem_of(cluster, "data")
    run(cluster, "database", f"echo after >>{PATH}/log; sync")

    cluster.apply(copy("restored", SNAPSHOT, "2Gi"), pod("restored", "restored"),
                  copy("cloned", {"kind": "PersistentVolumeClaim", "name": "data"}), pod("cloned", "cloned"))
    assert run(cluster, "restored", f"cat {PATH}/log") == "before"
    assert run(cluster, "cloned", f"cat {PATH}/log") == "before\nafter"
    for name in ("restored", "cloned"):
        run(cluster, name, f"echo {name} >>{PATH}/log; sync")
    assert run(cluster, "database", f"cat {PATH}/log") == "before\nafter", "nobody writes to another's disk"
    if filesystem in GROWABLE:
        megabytes = int(run(cluster, "restored", f"df -m {PATH} | tail -n 1 | awk '{{print $2}}'"))
        assert megabytes > 1500, "the file system has grown with its disk"
    until(lambda: len({filesystem_of(cluster, name) for name in ("data", "restored", "cloned")} - {None}) == 3,
          "each has a file system of its own on record", SECONDS, interval=0.5)

    name = given_to_another_namespace(cluster)
    delete_disk(cluster, compute, name)
    cluster.kubectl("delete", "azvolume", "-n", OBJECTS, name, f"--timeout={SECONDS}s")
    cluster.kubectl("delete", "volumesnapshot", "evening", f"--timeout={SECONDS}s")
    until(lambda: not cluster.get("volumesnapshotcontents")["items"], "csi-snapshotter has deleted it", SECONDS, interval=0.5)
    assert snapshots_in_azure(cluster, compute) == []
    assert cluster.get("azsnapshots", "-n", OBJECTS)["items"] == []
    cluster.kubectl("delete", "pod", "database", "cloned", f"--timeout={SECONDS}s")
    cluster.kubectl("delete", "pvc", "data", "cloned", f"--timeout={SECONDS}s")
    cluster.kubectl("delete", "storageclass", "copied")
    driver.until_nothing_is_left(SECONDS)


def given_to_another_namespace(cluster) -> str:
    """The restored disk, by hand; its name, which is that of its record: the claim's end leaves both, as it should."""
    record = volume_of(cluster, "restored")
    old = record["spec"]["persistentVolume"]
    disk = record["status"]["detail"]["volume_id"]
    found = record["status"]["annotation"]["disk.csi.azure.com/filesystem"]
    cluster.kubectl("patch", "pv", old, "-p", '{"spec": {"persistentVolumeReclaimPolicy": "Retain"}}')
    cluster.kubectl("delete", "pod", "restored", f"--timeout={SECONDS}s")
    cluster.kubectl("delete", "pvc", "restored", f"--timeout={SECONDS}s")
    cluster.kubectl("delete", "pv", old, f"--timeout={SECONDS}s")
    size = {"storage": "2Gi"}
    common = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    kind, _, uuid = found.partition(" ")
    cluster.apply(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "second"}},
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {
            "name": "by-hand", "annotations": {"disk.csi.azure.com/accept-filesystem": uuid}},
         "spec": {**common, "capacity": size, "persistentVolumeReclaimPolicy": "Retain",
                  "claimRef": {"namespace": "second", "name": "given"},
                  "csi": {"driver": DRIVER, "volumeHandle": disk, "fsType": kind}}},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "given", "namespace": "second"},
         "spec": {**common, "resources": {"requests": size}, "volumeName": "by-hand"}},
        pod("user", "given", "second"))
    assert run(cluster, "user", f"cat {PATH}/log", "second") == "before\nrestored"
    cluster.kubectl("delete", "pod", "-n", "second", "user", f"--timeout={SECONDS}s")
    cluster.kubectl("delete", "pvc", "-n", "second", "given", f"--timeout={SECONDS}s")
    cluster.kubectl("delete", "pv", "by-hand", f"--timeout={SECONDS}s")
    cluster.kubectl("delete", "namespace", "second", f"--timeout={SECONDS}s")
    name = record["metadata"]["name"]
    until(lambda: name not in {a["spec"]["volumeName"] for a in cluster.get("azvolumeattachments", "-n", OBJECTS)["items"]},
          "it is detached", SECONDS, interval=0.5)
    return name
