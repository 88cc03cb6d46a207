"""The custom resource definitions of the chart, read as what they declare: one Field for each member.

A path is written as one would say it: spec.volumeCapability[].access_type.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

TREE = Path(__file__).parents[2]
FOLDER = TREE / "charts/azuredisk-csi-driver/files/crds"
PARTS = ("spec", "status")  # what is ours in an object; metadata is Kubernetes'


class Field(NamedTuple):
    path: str
    type: str  # string, boolean, int32, int64, object, "list of T", "map of T"
    required: bool
    schema: dict

    @property
    def values(self) -> list | None:
        """The only ones that are allowed."""
        return self.schema.get("enum")


class Definition:
    def __init__(self, document: dict):
        spec = document["spec"]
        self.name = document["metadata"]["name"]
        self.group, self.scope, self.names = spec["group"], spec["scope"], spec["names"]
        self.kind, self.plural = self.names["kind"], self.names["plural"]
        [self.version] = spec["versions"]
        self.schema = self.version["schema"]["openAPIV3Schema"]
        self.columns = self.version["additionalPrinterColumns"]

    def fields(self) -> dict[str, Field]:
        found = {}
        for part in PARTS:
            schema = self.schema["properties"][part]
            found |= {field.path: field for field in _walk(part, schema, part in self.required())}
        return found

    def required(self) -> list[str]:
        return self.schema.get("required", [])


def _walk(path: str, schema: dict, required: bool) -> Iterator[Field]:
    yield Field(path, _type(schema), required, schema)
    if schema["type"] == "array":
        path, schema = f"{path}[]", schema["items"]
    for name, member in schema.get("properties", {}).items():
        yield from _walk(f"{path}.{name}", member, name in schema.get("required", []))


def _type(schema: dict) -> str:
    match schema["type"]:
        case "integer":
            return schema["format"]
        case "array":
            return f"list of {_type(schema['items'])}"
        case "object" if "additionalProperties" in schema:
            return f"map of {_type(schema['additionalProperties'])}"
        case simple:
            return simple


def read(path: Path) -> Definition:
    return Definition(yaml.safe_load(path.read_text()))


def definitions() -> list[Definition]:
    return [read(path) for path in sorted(FOLDER.glob("*.yaml"))]
