"""docs/findings.md, from the table of what the audit can find."""

from typing import NamedTuple

from .c_tables import initializer
from .markdown import code, page, table

FILE = "provisioner-lib/audit/finding.c"

HEAD = """\
What the controller's audit and `azdiskctl check` ([azdiskctl.md](azdiskctl.md)) can find when they compare the records
(custom resources) with Kubernetes, and with the models of VMs, the disks and the snapshots in Azure. The name of a finding is the label
`kind` of the metric `azuredisk_audit_findings` and the reason of the event. A finding is reported only after two
consecutive scans have confirmed it. A *note* is information and does not mean that anything is wrong; a *danger* concerns
data, or a pod that is running.
"""


class Kind(NamedTuple):
    name: str
    severity: str
    provable: str
    meaning: str
    loss: str
    advice: str


def kinds() -> list[Kind]:
    return [Kind(*row) for row in initializer(FILE, "const struct finding_kind_row FINDING_TABLE[FINDING_KINDS]")]


def _section(kind: Kind) -> str:
    severity = kind.severity.removeprefix("SEVERITY_").lower()
    repair = "the controller, unless `--repair=none`" if kind.provable == "true" else "an administrator"
    rows = [("severity", severity), ("actual or possible loss", kind.loss), ("what to do", kind.advice),
            ("who repairs it", repair)]
    return f"## {code(kind.name)}\n\n{kind.meaning}\n\n{table(['', ''], rows)}"


def text() -> str:
    return page("What the audit finds", HEAD, *map(_section, kinds()))
