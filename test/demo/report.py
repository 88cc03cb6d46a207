"""The figures of a failover: for a person as a table, for a program as build/reports/demo.json."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from deployment.failover import Failover

TREE = Path(__file__).parents[2]


@dataclass
class Report:
    attach_latency: str
    failover: Failover
    without_replicas: Failover
    acknowledged: int
    missing: int
    rss_mib: dict[str, float] = field(default_factory=dict)

    def write(self) -> Path:
        path = TREE / "build" / "reports" / "demo.json"
        path.parent.mkdir(parents=True, exist_ok=True)

        def calls_and_seconds(failover: Failover) -> dict:
            return {
                "attach_calls": failover.attach_calls,
                "storage_seconds": round(failover.storage_seconds, 3),
                "driver_seconds": round(failover.driver_seconds, 3),
            }

        phases = {name: round(time, 3) for name, time in self.failover.events.items()}
        content = {
            "failover": calls_and_seconds(self.failover) | {"phases": phases},
            "without_replicas": calls_and_seconds(self.without_replicas),
            "rss_mib": {part: round(mib, 1) for part, mib in self.rss_mib.items()},
            "records": {"acknowledged": self.acknowledged, "missing": self.missing},
        }
        path.write_text(json.dumps(content, indent=2) + "\n")
        return path

    def lines(self) -> list[str]:
        with_, without = self.failover, self.without_replicas
        rows = [
            (event, f"{with_.events[event]:7.1f} s", f"{without.events[event]:7.1f} s")
            for event in with_.events
        ]
        table = [
            f"Failover, seconds after the power cut (attaching a disk takes {self.attach_latency} here)",
            "",
            *_table(("", "maxShares 3", "maxShares 1"), rows),
            "",
            *_table(
                ("of which storage took", "maxShares 3", "maxShares 1"),
                [
                    ("VolumeAttachment created to NodeStageVolume done",
                     f"{with_.storage_seconds:7.2f} s", f"{without.storage_seconds:7.2f} s"),
                    ("the same without the wait for kubelet",
                     f"{with_.driver_seconds:7.2f} s", f"{without.driver_seconds:7.2f} s"),
                    ("attach calls to Azure", f"{with_.attach_calls:7d}  ", f"{without.attach_calls:7d}  "),
                    ("detach calls to Azure", f"{with_.detach_calls:7d}  ", f"{without.detach_calls:7d}  "),
                ],
            ),
            "",
            *_table(
                ("resident memory", "MiB", "limit"),
                [(f"azdisk-{name}", f"{self.rss_mib[part]:.1f}", str(limit)) for part, name, limit in PROGRAMS],
            ),
            "",
            f"{self.acknowledged} records were acknowledged before the power cut; missing afterwards: "
            f"{self.missing}.",
        ]
        return table


PROGRAMS = (
    ("controller", "controller", 40),
    ("node", "node", 20),
    ("extender", "scheduler-extender", 20),
)


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """First column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]

    def line(cells: tuple[str, ...], fill: str = " ") -> str:
        first = cells[0].ljust(widths[0], fill)
        return "  ".join([first, *(c.rjust(w, fill) for c, w in zip(cells[1:], widths[1:]))]).rstrip()

    return [line(head), line(("",) * len(head), "-"), *(line(row) for row in rows)]
