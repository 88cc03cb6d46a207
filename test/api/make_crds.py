"""The custom resource definitions, from lib/api/azdisk.proto: make crds.

A comment above a field is its description; lines of it that begin with + are markers, those of
controller-gen that are used here. What they say of a message is about the resource: its names, its
columns.
"""

import re
from collections.abc import Iterator

import yaml
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from .crd import FOLDER, TREE
from .proto import MAP_OF_STRINGS, MESSAGES, Message, json_name

COPIES = (TREE / "crds", FOLDER)  # for kubectl, and in the chart
GROUP, VERSION = "disk.csi.azure.com", "v1beta2"
HEAD = "# Made from lib/api/azdisk.proto by `make crds`.\n"

TYPES = {
    FieldDescriptorProto.TYPE_STRING: {"type": "string"},
    FieldDescriptorProto.TYPE_BOOL: {"type": "boolean"},
    FieldDescriptorProto.TYPE_INT32: {"type": "integer", "format": "int32"},
    FieldDescriptorProto.TYPE_INT64: {"type": "integer", "format": "int64"},
}
RESOURCE, COLUMN, RULE = "kubebuilder:resource:", "kubebuilder:printcolumn:", "kubebuilder:validation:"
NUMBERS = ("minLength", "minimum", "maximum")


def _split(comment: str) -> tuple[str, list[str]]:
    """The text, in one line, and the markers."""
    lines = [line.strip() for line in comment.splitlines()]
    markers = [line.removeprefix("+") for line in lines if line.startswith("+")]
    return " ".join(line for line in lines if line and not line.startswith("+")), markers


def _arguments(marker: str) -> dict[str, str]:
    """Of "a=b,c="d, e"". """
    return {name: value.strip('"') for name, value in re.findall(r'(\w+)=("[^"]*"|[^,]*)', marker)}


def _rules(markers: list[str], numeric: bool) -> Iterator[tuple[str, object]]:
    for marker in markers:
        if not marker.startswith(RULE):
            continue
        name, value = marker.removeprefix(RULE).split("=", 1)
        name = name[0].lower() + name[1:]
        if name == "enum":
            words = [word.strip('"') for word in value.split(";")]
            yield name, [int(word) for word in words] if numeric else words
        else:
            yield name, int(value) if name in NUMBERS else value


def _value(field: FieldDescriptorProto) -> dict:
    if field.type != FieldDescriptorProto.TYPE_MESSAGE:
        return dict(TYPES[field.type])
    name = field.type_name.removeprefix(".api.")
    return _object(MESSAGES[name]) if name in MESSAGES else {"type": "object"}


def _field(message: Message, field: FieldDescriptorProto) -> tuple[dict, bool]:
    text, markers = _split(message.comments[field.name])
    value = _value(field)
    if message.is_map(field):
        value = dict(MAP_OF_STRINGS)
    elif field.label == FieldDescriptorProto.LABEL_REPEATED:
        value = {"type": "array", "items": value}
    schema = {"description": text} if text else {}
    schema |= value | dict(_rules(markers, value["type"] == "integer"))
    return schema, "required" in markers


def _object(message: Message) -> dict:
    properties, required = {}, []
    for field in message.descriptor.field:
        name = json_name(field.name)
        properties[name], needed = _field(message, field)
        required += [name] if needed else []
    return {"type": "object"} | ({"required": required} if required else {}) | {"properties": properties}


def _column(marker: str) -> dict:
    said = _arguments(marker.removeprefix(COLUMN))
    column = {"name": said["name"], "type": said["type"]}
    if "description" in said:
        column["description"] = said["description"]
    column["jsonPath"] = said["JSONPath"]
    return column | ({"priority": int(said["priority"])} if "priority" in said else {})


def _definition(message: Message, description: str, markers: list[str]) -> dict:
    [resource] = [_arguments(m.removeprefix(RESOURCE)) for m in markers if m.startswith(RESOURCE)]
    kind = message.descriptor.name
    whole = _object(message)
    typed = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}
    schema = {"description": description} | whole | {"properties": typed | whole["properties"]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{resource['path']}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": resource["path"],
                "singular": resource["singular"],
                "shortNames": [resource["shortName"]],
                "categories": [resource["categories"]],
            },
            "versions": [{
                "name": VERSION,
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "additionalPrinterColumns": [_column(m) for m in markers if m.startswith(COLUMN)],
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    }


def texts() -> dict[str, str]:
    """By the name of the file."""
    found = {}
    for message in MESSAGES.values():
        description, markers = _split(message.comment)
        if any(marker.startswith(RESOURCE) for marker in markers):
            document = _definition(message, description, markers)
            text = yaml.safe_dump(document, sort_keys=False, width=120)
            found[document["spec"]["names"]["plural"] + ".yaml"] = HEAD + text
    return found


if __name__ == "__main__":
    for folder in COPIES:
        folder.mkdir(exist_ok=True)
        for name, text in texts().items():
            (folder / name).write_text(text)
