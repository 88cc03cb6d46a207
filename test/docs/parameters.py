"""docs/parameters.md, from the table of parameters in provisioner-lib/parameters.c."""

import re
from typing import NamedTuple

from .c_tables import TREE, initializer
from .markdown import code, codes, page, table

FILE = "provisioner-lib/parameters.c"

HEAD = """\
Parameters of a StorageClass of this driver. Names and values are not case-sensitive, and an empty value says nothing. A
parameter that is not known, or has a value that is not allowed, is refused: the claim gets an event that says which one,
and what is allowed.

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
volumeBindingMode: WaitForFirstConsumer
```

A PersistentVolume for a disk that exists already takes the same names in `volumeAttributes`. Of those only what attaching
and mounting need is looked at: maxShares, maxMountReplicaCount, replicaNodeSelector, cachingMode and fsType. What else
decides how the disk is attached follows from the disk itself.
"""

ALLOWED = {"TEXT": "any text", "SELECTOR": "a label selector", "GROUP": "1 to 90 letters, digits, `_`, `-`, `.`, `(`, `)`; no dot at the end", "GUID": "a GUID", "TRUTH": "`true`, `false`", "TAGS": "key=value[,key=value...]", "IGNORED": "anything", "REFUSED": "nothing"}


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


def parameters() -> list[Parameter]:
    return [
        Parameter(name, kind, _list(allowed), _number(least), _number(most), None if default == "NULL" else default, help_)
        for name, kind, _, _, allowed, least, most, default, help_ in initializer(FILE, "static const struct row rows[]")
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
    idle = [p for p in found if p.type in ("FIXED", "IGNORED", "REFUSED")]
    return page(
        "StorageClass parameters", HEAD, _table([p for p in found if p not in idle]),
        "## Without effect\n",
        "Known, so that StorageClasses of the Azure Disk CSI driver go on working; refused where they would have had an\n"
        "effect there that they do not have here. In a PersistentVolume for a disk that exists already they are not\n"
        "looked at.\n",
        _table(idle),
    )
