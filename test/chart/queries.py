"""What the chart's alerts and dashboards ask of Prometheus."""

import json
import re
from collections.abc import Iterator

from .chart import of_kind, render

PREFIX = "azuredisk_"


RULES = {"metrics.rules.enabled": True}


def alerts(values: dict | None = None) -> list[dict]:
    """The groups of their rules."""
    return _groups("alert", values)


def recordings(values: dict | None = None) -> list[dict]:
    """The groups of rules that record series."""
    return _groups("record", values)


def _groups(kind: str, values: dict | None) -> list[dict]:
    [rule] = of_kind(render(RULES | (values or {})), "PrometheusRule")
    return [group for group in rule["spec"]["groups"] if kind in group["rules"][0]]


def dashboards(values: dict | None = None) -> list[dict]:
    """As Grafana reads them."""
    maps = of_kind(render({"metrics.dashboards.enabled": True} | (values or {})), "ConfigMap")
    return [json.loads(text) for found in maps for name, text in found["data"].items() if name.endswith(".json")]


def targets(values: dict | None = None) -> Iterator[tuple[dict, dict]]:
    """Each query of a panel, with the panel. Without rules, what they record is written out."""
    for dashboard in dashboards(values):
        for panel in dashboard["panels"]:
            yield from ((panel, target) for target in panel["targets"])


def variables() -> dict[str, str]:
    """What Grafana asks for the values of the dashboards' variables."""
    return {variable["name"]: variable["query"] for dashboard in dashboards()
            for variable in dashboard["templating"]["list"] if variable["type"] == "query"}


def metrics_of(expression: str) -> set[str]:
    """The series of this driver in it."""
    return set(re.findall(rf"\b{PREFIX}\w+", expression))


def metrics() -> set[str]:
    asked = [rule["expr"] for group in alerts() + recordings() for rule in group["rules"]]
    asked += [target["expr"] for _, target in targets()] + list(variables().values())
    return {name for expression in asked for name in metrics_of(expression)}
