"""What becomes of the values of the other two drivers' charts: files/other-drivers.yaml."""

from collections import Counter
from typing import NamedTuple

import yaml

from .chart import CHART, SCHEMA, of_another_driver

CHARTS = {"v2": 209, "v1": 190}  # values with a default, in the chart of each
CLASSES = ("honoured", "mapped", "ignored", "refused")


class Row(NamedTuple):
    path: str
    decision: str  # of CLASSES
    why: str
    defaults: dict[str, object]  # by CHARTS
    to: str | None  # what it is called here

    @property
    def changed(self):
        """Something that is the default in no chart."""
        return _changed(next(iter(self.defaults.values()), None), self.defaults.values())


def _changed(default, taken):
    if isinstance(default, bool):
        return next((other for other in (not default,) if other not in taken), "neither")
    if isinstance(default, (int, float)):
        return max(value for value in taken if value is not None) + 1
    if isinstance(default, dict):
        return {"other": "object"} | default
    return [{"other": "item"}] if isinstance(default, list) else f"{default or ''}-other"


def _rows() -> list[Row]:
    groups = yaml.safe_load((CHART / "files/other-drivers.yaml").read_text())
    return [Row(path, group["class"], group["why"],
                {chart: row.get(chart, row.get("both")) for chart in CHARTS if chart in row or "both" in row}, row.get("to"))
            for group in groups for path, row in group["values"].items()]


ROWS = _rows()


def of_class(decision: str) -> list[Row]:
    return [row for row in ROWS if row.decision == decision]


def whole(chart: str) -> dict[str, object]:
    """All values of this chart, as they are there by default."""
    return {row.path: row.defaults[chart] for row in ROWS if chart in row.defaults}


def leaves(value: object) -> int:
    """As many values as a chart counts in this one."""
    return sum(map(leaves, value.values())) if isinstance(value, dict) and value else 1


def decided(chart: str) -> dict[str, int]:
    """How many values of this chart there are of each class."""
    found = Counter({decision: 0 for decision in CLASSES})
    for row in ROWS:
        if chart in row.defaults:
            found[row.decision] += leaves(row.defaults[chart])
    return dict(found)


def in_the_schema(schema: dict = SCHEMA, path: str = "") -> set[str]:
    """Values that this chart accepts by names that are not its own."""
    if of_another_driver(schema):
        return {path}
    members = schema.get("properties", {}).items() if "allOf" not in schema else ()
    return {found for name, member in members for found in in_the_schema(member, f"{path}.{name}".lstrip("."))}
