"""docs/parameters.md and docs/snapshot-parameters.md, from the tables of parameters in provisioner-lib."""

import re
from typing import NamedTuple

from .c_tables import TREE, initializer
from .markdown import code, codes, page, table

FILE = "provisioner-lib/parameters.c"
SNAPSHOT_FILE = "provisioner-lib/snapshot_parameters.c"

HEAD = """\
Parameters of a StorageClass of this driver. Names and values are not case-sensitive, and an empty value has no effect. A
StorageClass with an unknown parameter, or with a value that is not allowed, is refused: the claim gets an event that names
the parameter and the allowed values.

```yaml
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: premium-with-replicas
provisioner: disk.csi.azure.com
parameters:
  skuName: Premium_LRS
  maxShares: "3"
reclaimPolicy: Delete
allowVolumeExpansion: true
volumeBindingMode: WaitForFirstConsumer
```

With `WaitForFirstConsumer` a disk is made in the zone of its first pod. With `Immediate` it is made before there is a pod, in
any zone, and kube-scheduler can miss that a claim was bound: then it retries the pod only after five minutes
(kubernetes/kubernetes#73216).

A PersistentVolume for an existing disk accepts the same names in `volumeAttributes`. The driver uses only those that
concern attaching and mounting: maxShares, maxMountReplicaCount, replicaNodeSelector, cachingMode, writeAcceleratorEnabled,
fsType, perfProfile and device-setting/. All other properties are those of the disk itself. One name is for these
PersistentVolumes alone: `disk.csi.azure.com/accept-filesystem`, for a disk that is a
[copy of another one](disk-safety.md#copies-of-disks).
"""

SNAPSHOT_HEAD = """\
Parameters of a VolumeSnapshotClass of this driver. Names and values are not case-sensitive, and an empty value has no
effect. A VolumeSnapshotClass with an unknown parameter, or with a value that is not allowed, is refused: the VolumeSnapshot
gets an event that names the parameter and the allowed values. [snapshots.md](snapshots.md) describes snapshots.

```yaml
apiVersion: snapshot.storage.k8s.io/v1
kind: VolumeSnapshotClass
metadata:
  name: azuredisk
driver: disk.csi.azure.com
deletionPolicy: Delete
parameters:
  resourceGroup: backups
```
"""

ALLOWED = {"TEXT": "any text", "SELECTOR": "a label selector", "GROUP": "1 to 90 letters, digits, `_`, `-`, `.`, `(`, `)`; no dot at the end", "GUID": "a GUID", "TRUTH": "`true`, `false`", "TAGS": "key=value[,key=value...]", "NAME": "up to 80 letters, digits, `_`, `.`, `-`", "IGNORED": "anything", "SETTING": "what the kernel takes"}


class Parameter(NamedTuple):
    name: str
    type: str
    allowed: list[str] | None
    least: str
    most: str
    default: str | None
    help: str


def _number(expression: str) -> str:
    """Such as MAX_SHARES_LIMIT - 1."""
    header = (TREE / "provisioner-lib/parameters.h").read_text()
    constants = dict(re.findall(r"\b([A-Z_]+) = (\d+)", header))
    first, *rest = expression.split(" - ")
    return str(int(constants.get(first, first)) - sum(map(int, rest)))


def _list(value: list | str) -> list[str] | None:
    if value == "DISK_SKU_NAMES":
        value = initializer("provisioner-lib/disk_sku.c", "const char *const DISK_SKU_NAMES[]")
        return value[:-1]
    return None if value == "NULL" else value


def parameters(file: str = FILE) -> list[Parameter]:
    return [
        Parameter(name, kind, _list(allowed), _number(least), _number(most), None if default == "NULL" else default, help_)
        for name, kind, _, _, allowed, least, most, default, help_ in initializer(file, "static const struct parameter_row rows[]")
    ]


def _allowed(parameter: Parameter) -> str:
    if parameter.allowed:
        return codes(parameter.allowed)
    if parameter.type in ("INTEGER", "COUNT"):
        return f"{parameter.least} to {parameter.most}"
    return ALLOWED[parameter.type]


def _table(found: list[Parameter]) -> str:
    rows = [(code(p.name), _allowed(p), code(p.default) if p.default else "", p.help) for p in found]
    return table(["parameter", "allowed", "default", "meaning"], rows)


def text() -> str:
    found = parameters()
    idle = [p for p in found if p.type in ("FIXED", "IGNORED")]
    return page(
        "StorageClass parameters", HEAD, _table([p for p in found if p not in idle]),
        "## Without effect\n",
        "These parameters are accepted so that StorageClasses of the Azure Disk CSI driver continue to work. A value that\n"
        "would have an effect in that driver, but not in this one, is refused. In a PersistentVolume for an existing disk,\n"
        "these parameters are ignored.\n",
        _table(idle),
    )


def snapshot_text() -> str:
    found = parameters(SNAPSHOT_FILE)
    idle = [p for p in found if p.type == "IGNORED"]
    return page(
        "VolumeSnapshotClass parameters", SNAPSHOT_HEAD, _table([p for p in found if p not in idle]),
        "## Without effect\n",
        "These parameters are accepted so that VolumeSnapshotClasses of the Azure Disk CSI driver continue to work.\n",
        _table(idle),
    )
