"""What Grafana would show: the panels of a dashboard, with what Prometheus answers to each."""

import re
from dataclasses import dataclass

from chart import queries

from .prometheus import INTERVAL, Prometheus

RATE_INTERVAL = 4 * INTERVAL  # seconds; Grafana's choice for steps that are as long as the interval


@dataclass(frozen=True)
class Series:
    legend: str
    points: list[tuple[float, float]]  # time, value


@dataclass(frozen=True)
class Panel:
    title: str
    kind: str  # of Grafana: stat, timeseries
    unit: str
    place: dict[str, int]  # x, y, w, h, in Grafana's units: 24 are the width of the page
    red: dict[str, float]  # "above" or "below" which a value is red
    decimals: int | None
    names: bool  # legends are shown instead of values
    series: list[Series]


@dataclass(frozen=True)
class Dashboard:
    name: str
    title: str
    panels: list[Panel]


def read(prometheus: Prometheus, begin: float, end: float) -> list[Dashboard]:
    return [Dashboard(found["uid"].removeprefix("azuredisk-"), found["title"],
                      [_panel(panel, prometheus, begin, end) for panel in found["panels"]])
            for found in queries.dashboards(queries.RULES)]


def _panel(panel: dict, prometheus: Prometheus, begin: float, end: float) -> Panel:
    defaults = panel["fieldConfig"]["defaults"]
    series = [Series(_renamed(_legend(target["legendFormat"], labels), panel), points)
              for target in panel["targets"]
              for labels, points in prometheus.series(_asked(target["expr"]), begin, end, INTERVAL)]
    return Panel(panel["title"], panel["type"], defaults["unit"], panel["gridPos"], _red(defaults["thresholds"]["steps"]),
                 defaults.get("decimals"), panel.get("options", {}).get("textMode") == "name", series)


def _asked(expression: str) -> str:
    """With all values of the dashboard's variables."""
    expression = expression.replace("$__rate_interval", f"{RATE_INTERVAL}s")
    return re.sub(r"\$\w+", ".*", expression)


def _legend(form: str, labels: dict[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda name: labels.get(name[1], ""), form).strip()


def _renamed(legend: str, panel: dict) -> str:
    for change in panel.get("transformations", []):
        assert change["id"] == "renameByRegex", change
        legend = re.sub(f"^{change['options']['regex']}$", change["options"]["renamePattern"].replace("$", "\\"), legend)
    return legend


def _red(steps: list[dict]) -> dict[str, float]:
    first, *others = steps
    if first["color"] == "red":
        return {"below": others[0]["value"]}
    return {"above": step["value"] for step in others}
