"""What the chart's alerts and dashboards ask of Prometheus."""

import re

from .chart import of_kind, render

PREFIX = "azuredisk_"


def alerts(values: dict | None = None) -> list[dict]:
    """The groups of rules."""
    [rule] = of_kind(render({"metrics.rules.enabled": True} | (values or {})), "PrometheusRule")
    return rule["spec"]["groups"]


def metrics_of(expression: str) -> set[str]:
    """The series of this driver in it."""
    return set(re.findall(rf"\b{PREFIX}\w+", expression))


def metrics() -> set[str]:
    return {name for group in alerts() for rule in group["rules"] for name in metrics_of(rule["expr"])}
