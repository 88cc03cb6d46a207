"""docs/values.md, from the chart's values and their schema."""

import json

from chart.chart import SCHEMA, VALUES, Value

from .markdown import code, page, table

HEAD = """\
Values of the Helm chart `charts/azuredisk-csi-driver`. Helm checks them against the chart's `values.schema.json`, and
refuses an unknown or invalid value with an error that names it.

    helm install azuredisk charts/azuredisk-csi-driver --namespace kube-system --set controller.replicas=3

An empty name of an object is the one in its description. If `driver.name` is not `disk.csi.azure.com`, it is followed by
`-` and the driver's name with dashes instead of dots, so that two drivers can share a cluster
([install.md](install.md#two-drivers-in-one-cluster)).
"""


def _default(value: Value) -> str:
    default = json.dumps(value.default)
    return code(default) if default not in ('""', "{}", "[]") else ""


def _section(name: str, members: list[Value]) -> list[str]:
    about = SCHEMA["properties"][name]["description"]
    rows = [(code(value.path), _default(value), value.schema["description"] + _allowed(value)) for value in members]
    return [f"## {name}\n", f"{about}\n", table(["value", "default", "meaning"], rows)]


def _allowed(value: Value) -> str:
    schema = value.schema
    if "enum" in schema:
        return f" One of {', '.join(code(word) for word in schema['enum'])}."
    return f" {schema['minimum']} to {schema['maximum']}." if "maximum" in schema else ""


def text() -> str:
    sections = {}
    for value in VALUES:
        sections.setdefault(value.path.split(".")[0], []).append(value)
    return page("Values of the chart", HEAD, *(part for item in sections.items() for part in _section(*item)))
