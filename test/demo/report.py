"""The figures of a failover: for a person as a table, for a program as build/reports/demo.json."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from deployment.failover import Failover

TREE = Path(__file__).parents[2]


@dataclass
class Report:
    attach_latency: str
    failover: Failover
    automatic: Failover
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

        def rounded(failover: Failover) -> dict:
            return {name: round(time, 3) for name, time in failover.events.items()}

        content = {
            "failover": calls_and_seconds(self.failover) | {"phases": rounded(self.failover)},
            "automatic": calls_and_seconds(self.automatic) | {"phases": rounded(self.automatic)},
            "without_replicas": calls_and_seconds(self.without_replicas),
            "rss_mib": {part: round(mib, 1) for part, mib in self.rss_mib.items()},
            "records": {"acknowledged": self.acknowledged, "missing": self.missing},
        }
        path.write_text(json.dumps(content, indent=2) + "\n")
        return path

    def lines(self) -> list[str]:
        columns = (self.failover, self.without_replicas, self.automatic)

        def row(what: str, form: str, of: Callable[[Failover], float | None]) -> tuple[str, ...]:
            return (what, *("-  " if of(column) is None else format(of(column), form) for column in columns))

        rows = [row(event, "7.1f", lambda failover, event=event: failover.events.get(event)) for event in self.failover.events]
        table = [
            f"Failover, seconds after the power cut (attaching a disk takes {self.attach_latency} here)",
            "",
            *_table(("", *COLUMNS), rows),
            "",
            *_table(
                ("of which storage took", *COLUMNS),
                [
                    row("VolumeAttachment created to NodeStageVolume done, s", "7.2f", lambda f: f.storage_seconds),
                    row("the same without the wait for kubelet, s", "7.2f", lambda f: f.driver_seconds),
                    row("attach calls to Azure", "7d", lambda f: f.attach_calls),
                    row("detach calls to Azure", "7d", lambda f: f.detach_calls),
                ],
            ),
            "",
            "maxShares 3 and 1: an operator marks the node when it is NotReady. automatic: maxShares 3, and nobody marks it.",
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


COLUMNS = ("maxShares 3", "maxShares 1", "automatic")

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
