"""The figures of a scenario, what they must not exceed, and how they are written down."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

TREE = Path(__file__).parents[2]
REPORT = TREE / "build" / "reports" / "bench.json"


@dataclass
class Figures:
    title: str
    calls: dict[str, int]
    refused: int
    seconds: float
    bound_seconds: float
    controller_rss_mib: float
    controller_cpu_seconds: float
    updates: int = 0  # of VMs
    disks: int = 0  # in all updates together
    own_seconds: dict[str, float] = field(default_factory=dict)  # that are not Azure's, by cause (causes.py)
    wrong: list[str] = field(default_factory=list)  # what must not be, and was
    draws: list[float] = field(default_factory=list)  # time over bound of all runs, of which this is the median

    @property
    def time_over_bound(self) -> float:
        return self.seconds / self.bound_seconds

    def as_json(self) -> dict:
        return {
            "updates": self.updates,
            "calls": self.calls,
            "refused": self.refused,
            "seconds": round(self.seconds, 1),
            "bound_seconds": round(self.bound_seconds, 1),
            "time_over_bound": round(self.time_over_bound, 2),
            "controller_rss_mib": round(self.controller_rss_mib, 1),
            "controller_cpu_seconds": round(self.controller_cpu_seconds, 2),
            "own_seconds": {cause: round(seconds, 1) for cause, seconds in self.own_seconds.items()},
            "wrong": self.wrong,
            "draws": [round(draw, 2) for draw in self.draws],
        }


def median(draws: list[Figures]) -> Figures:
    ranked = sorted(draws, key=lambda figures: figures.time_over_bound)
    middle = ranked[len(ranked) // 2]
    middle.draws = [figures.time_over_bound for figures in draws]
    middle.wrong = [line for figures in draws for line in figures.wrong]
    return middle


@dataclass
class AttacherFigures(Figures):
    """Through csi-attacher; `seconds` are until the replicas are attached."""

    told_s: float = 0
    primaries_s: float = 0

    def as_json(self) -> dict:
        return super().as_json() | {
            "disks_per_update": round(self.disks / self.updates, 1),
            "told_s": round(self.told_s, 1),
            "primaries_s": round(self.primaries_s, 1),
            "replicas_s": round(self.seconds, 1),
            "over_bound": round(self.time_over_bound, 2),
        }


@dataclass(frozen=True)
class Limit:
    scenario: str
    figure: str
    most: float


LIMITS = (
    Limit("a", "updates", 3),
    Limit("b", "time_over_bound", 1.3),
    Limit("b", "refused", 0),
    Limit("b", "controller_rss_mib", 64),
    Limit("c", "time_over_bound", 1.3),
    Limit("c", "refused", 0),
    Limit("p", "refused", 0),
    Limit("e", "refused", 0),
    Limit("f", "refused", 0),
    Limit("g", "time_over_bound", 1.3),
    Limit("h", "time_over_bound", 1.3),
)
# Of scenarios that a report names otherwise than by their letters.
NAMES = {"p": "provisioner", "e": "attacher", "f": "attacher_move", "g": "b_even", "h": "c_even"}


def exceeded(found: dict[str, Figures]) -> list[str]:
    """A line for everything that is not as it must be."""
    lines = []
    for limit in LIMITS:
        value = getattr(found[limit.scenario], limit.figure) if limit.scenario in found else 0
        if value > limit.most:
            lines.append(
                f"({limit.scenario}) {limit.figure} is {value:.4g}; it must be {limit.most:g} at most")
    return lines + [f"({name}) {line}" for name, figures in found.items() for line in figures.wrong]


def calls_by_kind(journal: list[dict]) -> dict[str, int]:
    """All that were made, refused ones included."""
    counts = Counter(entry.get("kind", "unknown") for entry in journal)
    return dict(sorted(counts.items()))


# ---- for a person ----

COLUMNS = (
    ("", lambda f: f.title),
    ("VM updates", lambda f: str(f.updates)),
    ("refused", lambda f: str(f.refused)),
    ("time", lambda f: f"{f.seconds:.1f} s"),
    ("bound", lambda f: f"{f.bound_seconds:.1f} s"),
    ("time/bound", lambda f: f"{f.time_over_bound:.2f}"),
    ("memory", lambda f: f"{f.controller_rss_mib:.1f} MiB"),
    ("CPU", lambda f: f"{f.controller_cpu_seconds:.2f} s"),
)


def table(found: dict[str, Figures]) -> list[str]:
    rows = [[head for head, _ in COLUMNS]]
    rows += [[f"({name}) " * (i == 0) + cell(figures) for i, (_, cell) in enumerate(COLUMNS)]
             for name, figures in found.items()]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])])
             for row in rows]
    for name, figures in found.items():
        calls = ", ".join(f"{kind} {number}" for kind, number in figures.calls.items())
        own = ", ".join(f"{cause} {seconds:.1f} s" for cause, seconds in figures.own_seconds.items() if seconds >= 0.05)
        lines += [f"({name}) calls: {calls}"] + [f"({name}) beyond Azure's time: {own}"] * bool(own)
    return lines


# ---- for a program ----

def write(found: dict[str, Figures]) -> Path:
    """What was not run keeps the figures of the last time."""
    content = json.loads(REPORT.read_text()) if REPORT.exists() else {}
    content |= {NAMES.get(letter, letter): figures.as_json() for letter, figures in found.items()}
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n")
    return REPORT
