"""What a run of the simulation has seen of disks that were changed, for build/reports/grow.json.

python3 -m sim.disk_changes SUMS REPORT: SUMS is what azdisk-sim --report has written.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

# Sums of the coverage, and names of invariants (invariant_check.h), whose violations are counted.
COUNTED = {
    "grown_online": ("growth alone attached",),
    "grown_offline": ("growth alone unattached", "growth alone and unattached unattached", "growth shared unattached"),
    "modified_online": ("modification alone attached",),
    "modified_offline": ("modification alone unattached", "modification alone and unattached unattached",
                         "modification shared unattached"),
}
VIOLATED = {"lost_growths": ("I18", "L1", "L2"), "proofs_refused_wrongly": ("I19",)}


def _violations(sums: dict, invariants: Iterable[str]) -> int:
    return sum(any(one["invariant"].split()[0] == name for name in invariants) for one in sums["violated"])


def report(sums: dict) -> dict:
    found = {name: sum(sums["coverage"].get(row, 0) for row in rows) for name, rows in COUNTED.items()}
    found |= {name: _violations(sums, invariants) for name, invariants in VIOLATED.items()}
    return found | {"violations": sums["violations"], "seeds": sums["seeds"]}


def write(sums: dict, path: Path) -> dict:
    found = report(sums)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=2) + "\n")
    return found


if __name__ == "__main__":
    print("disks that were changed: " + ", ".join(
        f"{name.replace('_', ' ')} {value}"
        for name, value in write(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])).items()))
