"""docs/findings.md, from the table of what the audit can find."""

from typing import NamedTuple

from .c_tables import initializer
from .markdown import code, page, table

FILE = "provisioner-lib/audit/finding.c"

HEAD = """\
What the controller's audit and `azdiskctl check` ([azdiskctl.md](azdiskctl.md)) can find: the records (custom resources)
against Kubernetes, the models of VMs and the disks in Azure. The name is the `kind` of the metric
`azuredisk_audit_differences` and the reason of the event. Only what two scans in a row have shown is one. A *note* is worth
knowing, and nothing is wrong; a *danger* is about data, or about a pod that runs.
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
    repair = "the controller, from Azure's own word, unless `--repair=none`" if kind.provable == "true" else "people"
    rows = [("severity", severity), ("what a user loses, or could", kind.loss), ("what to do", kind.advice),
            ("who puts it right", repair)]
    return f"## {code(kind.name)}\n\n{kind.meaning}\n\n{table(['', ''], rows)}"


def text() -> str:
    return page("What the audit finds", HEAD, *map(_section, kinds()))
