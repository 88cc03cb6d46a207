"""Microsoft's driver for Azure disks, version 1: its program and its chart, as it has published them."""

import json
from pathlib import Path

from cluster import images, tools
from cluster.cluster import Cluster
from deployment.azure import Azure
from image.archive import Image

SIDECAR = Path(__file__).parent / "sidecar"
REGISTRY, TAG = "images.test/microsoft", "v1"
VERSION = "1.33.0"
CHART = f"azuredisk-csi-driver-{VERSION}.tgz"
# What its node plug-in runs, with the configuration that mkfs.ext4 reads.
NODE_TOOLS = ("/bin/mount", "/bin/umount", "/bin/findmnt", "/sbin/blkid", "/sbin/blockdev", "/sbin/mkfs.ext4", "/sbin/fsck",
              "/sbin/fsck.ext4", "/sbin/resize2fs", "/sbin/dumpe2fs", "/etc/mke2fs.conf")
DEVICES = "/sys/bus/scsi/devices"


def load_images(cluster: Cluster, azure: Azure) -> None:
    """Of the driver and its sidecars; it trusts the authority of this Azure and no other."""
    tools.build(tools.VERSION_1)
    program = tools.folder(tools.VERSION_1) / "azurediskplugin"
    files = {"/azurediskplugin": program, "/etc/ssl/certs/ca-certificates.crt": Path(azure.ca)}
    cluster.load(Image(_name("azuredisk"), ["/azurediskplugin"], files | {name: Path(name) for name in NODE_TOOLS}))
    for sidecar in ("csi-provisioner", "csi-attacher", "csi-resizer", "csi-snapshotter", "snapshot-controller"):
        cluster.load(images.sidecar(cluster.tools, sidecar, _name(sidecar)))
    for sidecar in ("livenessprobe", "csi-node-driver-registrar"):
        cluster.load(Image(_name(sidecar), ["/sidecar"], {"/sidecar": tools.build_module(SIDECAR)}))


def _name(program: str) -> str:
    return f"{REGISTRY}/{program}:{TAG}"


def values() -> dict:
    """What somebody has set who has images in a registry of his own, and snapshots."""
    def image(name: str) -> dict:
        return {"repository": f"{REGISTRY}/{name}", "tag": TAG, "pullPolicy": "IfNotPresent"}

    return {
        "image": {
            "azuredisk": image("azuredisk"),
            "csiProvisioner": image("csi-provisioner"),
            "csiAttacher": image("csi-attacher"),
            "csiResizer": image("csi-resizer"),
            "livenessProbe": image("livenessprobe"),
            "nodeDriverRegistrar": image("csi-node-driver-registrar"),
        },
        "snapshot": {
            "enabled": True,
            "image": {"csiSnapshotter": image("csi-snapshotter"), "csiSnapshotController": image("snapshot-controller")},
            "snapshotController": {"replicas": 1},
            "VolumeSnapshotClass": {"enabled": True},
        },
        "controller": {"replicas": 1},
    }


def cloud_config(azure: Azure) -> str:
    """An azure.json that both drivers read. In that of AKS, too, the VMs' identity is used. Without the cloud's name, its
    endpoints are those that Resource Manager names, whatever the cloud is called there."""
    common = {name: value for name, value in json.loads(azure.cloud_config()).items()
              if name != "cloud" and not name.startswith("aad")}
    return json.dumps(common | {"vmType": "vmss", "useInstanceMetadata": True, "useManagedIdentityExtension": True})


def helm(program: Path) -> str:
    """A program that runs Helm, and has the chart's objects pass through `renderer`, which is beside it."""
    return ("#!/bin/sh\n"
            f'case "$*" in *{CHART}*) set -- "$@" --post-renderer "${{0%/*}}/render" ;; esac\n'
            f'exec {program} "$@"\n')


def renderer() -> str:
    """A program for objects of the chart. The node plug-in sees no SCSI disks of this machine: it would
    take one of the right number for its own, and format it. And this csi-provisioner is later than the chart."""
    commands = [f"/ path: {DEVICES.replace('/', '[/]')}/{{s,/sys,/run/no,;n;s/Directory/DirectoryOrCreate/}}",
                "s/,HonorPVReclaimPolicy=true//"]
    if not Path(DEVICES).exists():  # nor can it be made
        commands.append(f"s,mountPath: {DEVICES},mountPath: /run/no/bus/scsi/devices,")
    return "\n".join(["#!/bin/sed -f", *commands, ""])
