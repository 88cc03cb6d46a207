"""A claim of every kind of volume, and a pod that has them all."""

import re

from cluster.cluster import Cluster
from cluster.images import BUSYBOX_IMAGE
from cluster.waiting import PATIENCE
from deployment.ledger import DRIVER

FILE_SYSTEMS = ("ext4", "xfs")
KINDS = (*FILE_SYSTEMS, "block")
PATH = "/volume"  # in every container
GIB = 1024**3
USER, GROUP = 1000, 2000  # of the pod's processes, of the files on its volumes


def storage_class(name: str, **parameters: str) -> dict:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": DRIVER,
        "parameters": {"skuName": "Premium_LRS", **parameters},
        "allowVolumeExpansion": True,
    }


def claim(name: str, class_name: str, mode: str = "Filesystem") -> dict:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": class_name,
            "volumeMode": mode,
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


def container(kind: str, **others) -> dict:
    return {
        "name": kind,
        "image": BUSYBOX_IMAGE,
        "imagePullPolicy": "Never",
        "command": ["/bin/busybox", "sleep", "100000"],
        **others,
    }


def user(name: str, node: str, read_only: bool = False) -> dict:
    """A pod that has all the volumes, each in the container of its name. Whoever has a file system is
    not root; a device's owner is, as the container runtime leaves it."""
    nobody = {"runAsUser": USER, "runAsGroup": USER}
    containers = [
        container(kind, volumeMounts=[{"name": kind, "mountPath": PATH}], securityContext=nobody)
        for kind in FILE_SYSTEMS
    ]
    containers.append(container("block", volumeDevices=[{"name": "block", "devicePath": PATH}]))
    claims = {kind: {"claimName": kind, "readOnly": read_only and kind in FILE_SYSTEMS} for kind in KINDS}
    volumes = [{"name": kind, "persistentVolumeClaim": claims[kind]} for kind in KINDS]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "nodeName": node,
            "terminationGracePeriodSeconds": 0,
            "securityContext": {"fsGroup": GROUP},
            "containers": containers,
            "volumes": volumes,
        },
    }


class Pod:
    """Ready within the with block, and gone after it."""

    def __init__(self, cluster: Cluster, manifest: dict):
        self.cluster, self.manifest = cluster, manifest
        self.name = manifest["metadata"]["name"]

    def __enter__(self) -> "Pod":
        self.cluster.apply(self.manifest)
        self.cluster.kubectl("wait", f"pod/{self.name}", "--for=condition=Ready", PATIENCE)
        return self

    def __exit__(self, *_) -> None:
        self.cluster.kubectl("delete", "pod", self.name, PATIENCE)

    def run(self, kind: str, script: str) -> str:
        """In the container that has this kind of volume."""
        shell = ("/bin/busybox", "sh", "-ec", script)
        return self.cluster.kubectl("exec", self.name, "-c", kind, "--", *shell).strip()


def shown_capacities(cluster: Cluster, node: str) -> dict[str, float]:
    """By claim, in bytes, as kubelet has them in its metrics."""
    text = cluster.kubectl("get", "--raw", f"/api/v1/nodes/{node}/proxy/metrics")
    found = re.findall(r'^kubelet_volume_stats_capacity_bytes{.*claim="(\w+)".*} (\S+)', text, re.MULTILINE)
    return {claim: float(bytes_) for claim, bytes_ in found}
