"""What the rounds have found: for a person as a table, for a program as build/reports/fence.json."""

import json
from collections import Counter
from math import ceil
from pathlib import Path
from statistics import median

from .rounds import Outcome

REPORT = Path(__file__).parents[2] / "build" / "reports" / "fence.json"


class Totals:
    def __init__(self):
        self.outcomes: list[Outcome] = []
        self.kinds: Counter[str] = Counter()

    def add(self, outcome: Outcome, *kinds: str) -> None:
        self.outcomes.append(outcome)
        self.kinds.update(kinds)

    def content(self) -> dict[str, object]:
        gaps = [outcome.gap for outcome in self.outcomes if outcome.gap is not None]
        return {
            "rounds": len(self.outcomes),
            "late_writes": sum(len(outcome.late) for outcome in self.outcomes),
            "lost_records": sum(len(outcome.lost) for outcome in self.outcomes),
            "unclean_filesystems": sum(bool(outcome.unclean) for outcome in self.outcomes),
            "gap_seconds": {
                "p50": _rounded(median(gaps)) if gaps else None,
                "max": _rounded(max(gaps)) if gaps else None,
                "phases": {name: _rounded(median(times)) for name, times in self._phases().items()},
            },
        }

    def _phases(self) -> dict[str, list[float]]:
        measured = [outcome.phases for outcome in self.outcomes if outcome.phases]
        return {name: [phases[name] for phases in measured] for name in (measured[0] if measured else ())}

    def write(self) -> Path:
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        REPORT.write_text(json.dumps(self.content(), indent=2) + "\n")
        return REPORT

    def lines(self) -> list[str]:
        found, sums = self.content(), self._sums()
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(self.kinds.items()))
        gap = {"gap": [outcome.gap for outcome in self.outcomes if outcome.gap is not None]}
        return [
            f"{found['rounds']} rounds: {kinds}",
            f"{sums['acknowledged']} acknowledged records, {found['lost_records']} of them lost",
            f"{sums['refused']} writes of former primaries refused, {found['late_writes']} late",
            f"{found['unclean_filesystems']} unclean file systems",
            f"{sums['operations']} operations on registers; {sums['lost_mounts']} mounts by nodes that had lost the disk",
            f"{'seconds':<12} {'p50':>8} {'max':>8}",
            *(f"{name:<12} {median(times):8.3f} {max(times):8.3f}" for name, times in (gap | self._phases()).items() if times),
        ]

    def _sums(self) -> Counter[str]:
        names = ("acknowledged", "refused", "operations", "lost_mounts")
        return Counter({name: sum(getattr(outcome, name) for outcome in self.outcomes) for name in names})


def _rounded(seconds: float) -> float:
    return ceil(seconds * 1000) / 1000
