"""The custom resources are declared three times, for three readers: by the chart's YAML for the API
server, by azdisk.proto for the programs, by resources.c for their URLs. All say the same, and what the
Azure Disk CSI driver V2 says: its objects stay valid, its users' scripts find their columns.
"""

import re
import subprocess
from typing import NamedTuple

import pytest
import yaml
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorSet,
)

from .crd import FOLDER, PARTS, TREE, Definition, definitions, read

DEFINITIONS = definitions()
each_definition = pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.plural)


# ---- what the messages declare ----

SIMPLE = {
    FieldDescriptorProto.TYPE_STRING: "string",
    FieldDescriptorProto.TYPE_BOOL: "boolean",
    FieldDescriptorProto.TYPE_INT32: "int32",
    FieldDescriptorProto.TYPE_INT64: "int64",
    FieldDescriptorProto.TYPE_MESSAGE: "object",
}


def compiled(proto: str) -> dict[str, DescriptorProto | EnumDescriptorProto]:
    """The messages and enumerations of a file by name; nested ones as Outer.Inner."""
    output = subprocess.run(
        ["protoc", f"--proto_path={TREE}", "--proto_path=/usr/include",
         "--descriptor_set_out=/dev/stdout", proto],
        check=True, capture_output=True).stdout
    [file] = FileDescriptorSet.FromString(output).file
    found = {}

    def add(message: DescriptorProto, name: str) -> None:
        found[name] = message
        found.update({f"{name}.{enum.name}": enum for enum in message.enum_type})
        for nested in message.nested_type:
            add(nested, f"{name}.{nested.name}")

    for message in file.message_type:
        add(message, message.name)
    return found


MESSAGES = compiled("lib/api/azdisk.proto")


def json_name(name: str) -> str:
    """As lib/json/codec.h has it: volume_name is volumeName, volume__id is volume_id."""
    words = [re.sub("_(.)", lambda letter: letter[1].upper(), word) for word in name.split("__")]
    return "_".join(words)


def message_fields(type_name: str, path: str = "") -> dict[str, str]:
    """Types by path, as crd.py writes both."""
    found = {}
    for field in MESSAGES[type_name].field:
        here = f"{path}.{json_name(field.name)}".lstrip(".")
        inner = MESSAGES.get(field.type_name.removeprefix(".api."))
        kind = SIMPLE[field.type]
        repeated = field.label == FieldDescriptorProto.LABEL_REPEATED
        if inner and inner.options.map_entry:
            found[here] = f"map of {SIMPLE[inner.field[1].type]}"
            continue
        found[here] = f"list of {kind}" if repeated else kind
        if inner:
            found |= message_fields(field.type_name.removeprefix(".api."),
                                    f"{here}[]" if repeated else here)
    return {path: kind for path, kind in found.items() if path.split(".")[0] in PARTS}


# ---- the definitions and the messages ----

def differences(definition: Definition) -> list[str]:
    declared = {path: field.type for path, field in definition.fields().items()}
    decoded = message_fields(definition.kind)
    return sorted(
        f"{path}: {declared.get(path, 'absent')} in the definition, {decoded.get(path, 'absent')} in the message"
        for path in declared | decoded
        if declared.get(path) != decoded.get(path)
    )


@each_definition
def test_every_field_is_in_its_message(definition):
    assert not differences(definition)


# Each row changes one thing of a definition; the comparison must name it.
CHANGES = [
    ("volumeName:", "volume_name:", "spec.volumeName: absent in the definition"),
    ("volumeName:", "volume_name:", "spec.volume_name: string in the definition, absent"),
    ("int64", "int32", "spec.capacityRange.required_bytes: int32 in the definition, int64"),
    ("required_bytes:", "requiredBytes:", "spec.capacityRange.requiredBytes"),
    ("type: array, items: {type: string}", "type: string", "spec.volumeCapability[].mount_flags: string"),
    ("type: boolean", "type: string", "status.detail.node_expansion_required: string"),
    ('in it.", type: object, additionalProperties: {type: string}', 'in it.", type: object',
     "spec.accessibilityRequirements.requisite[].segments: object"),
]


@pytest.mark.parametrize("old, new, named", CHANGES)
def test_a_difference_is_seen(tmp_path, old, new, named):
    text = (FOLDER / "azvolumes.yaml").read_text()
    assert old in text
    changed = tmp_path / "azvolumes.yaml"
    changed.write_text(text.replace(old, new, 1))
    assert named in "\n".join(differences(read(changed)))


@each_definition
def test_the_programs_ask_for_it_by_the_same_names(definition):
    source = (TREE / "lib/api/resources.c").read_text()
    [group] = re.findall(r'#define AZDISK ("[^"]+", "[^"]+")', source)
    rows = re.findall(r'AZDISK, ("\w+", "\w+", \w+), &api__(\w+)__descriptor', source)
    namespaced = "true" if definition.scope == "Namespaced" else "false"
    message = re.sub("(?<!^)([A-Z])", r"_\1", definition.kind).lower()
    assert group == f'"{definition.group}", "{definition.version["name"]}"'
    assert (f'"{definition.plural}", "{definition.kind}", {namespaced}', message) in rows
    assert len(rows) == len(DEFINITIONS)


def test_numbers_are_those_of_csi():
    """Access modes are stored as CSI's numbers."""
    modes = [value.number for value in compiled("lib/api/csi.proto")["VolumeCapability.AccessMode.Mode"].value]
    [volumes] = [definition for definition in DEFINITIONS if definition.plural == "azvolumes"]
    schema = volumes.fields()["spec.volumeCapability[].access_mode"].schema
    assert list(range(schema["minimum"], schema["maximum"] + 1)) == sorted(modes)


@each_definition
def test_every_field_is_explained(definition):
    """docs/custom-resources.md is made from these."""
    silent = [path for path, field in definition.fields().items() if not field.schema.get("description")]
    assert not silent


@each_definition
def test_times_are_checked(definition):
    times = {path for path in definition.fields() if path.endswith("Time")}
    checked = {path for path, field in definition.fields().items() if field.schema.get("format") == "date-time"}
    assert times == checked


# ---- the definitions and the Azure Disk CSI driver V2 ----

class Upstream(NamedTuple):
    kind: str
    columns: list[tuple]  # name, type, path, priority
    fields: str  # those with * must be there; types as in crd.py, and string where there is none
    values: dict[str, str]  # of fields with a closed set of them


ERROR = "status.error:object status.error.code* status.error.message* status.error.parameters:map status.annotation:map"

UPSTREAM = {
    "azvolumes": Upstream(
        "AzVolume",
        [("State", "string", ".status.state", 0), ("Phase", "string", ".status.detail.phase", 0)],
        f"""
        spec:object* spec.volumeName* spec.maxMountReplicaCount:int32*
        spec.volumeCapability:list-of-object* spec.volumeCapability[].access_type:int32*
        spec.volumeCapability[].fs_type spec.volumeCapability[].mount_flags:list-of-string
        spec.volumeCapability[].access_mode:int32*
        spec.capacityRange:object spec.capacityRange.required_bytes:int64 spec.capacityRange.limit_bytes:int64
        spec.parameters:map spec.secrets:map
        spec.contentVolumeSource:object spec.contentVolumeSource.content_source:int32*
        spec.contentVolumeSource.content_source_id*
        spec.accessibilityRequirements:object
        spec.accessibilityRequirements.requisite:list-of-object
        spec.accessibilityRequirements.requisite[].segments:map
        spec.accessibilityRequirements.preferred:list-of-object
        spec.accessibilityRequirements.preferred[].segments:map
        spec.persistentVolume
        status:object status.detail:object status.detail.volume_id* status.detail.parameters:map
        status.detail.capacity_bytes:int64* status.detail.content_source:object
        status.detail.accessible_topology:list-of-object status.detail.accessible_topology[].segments:map
        status.detail.node_expansion_required:boolean* status.state*
        {ERROR}
        """,
        {
            "spec.volumeCapability[].access_type": "0 1",
            "spec.contentVolumeSource.content_source": "0 1",
            "status.state": "Pending Creating CreationFailed Created Updating UpdateFailed Updated Deleting "
                            "DeletionFailed Deleted",
        },
    ),
    "azvolumeattachments": Upstream(
        "AzVolumeAttachment",
        [("Age", "date", ".metadata.creationTimestamp", 0),
         ("NodeName", "string", ".spec.nodeName", 10),
         ("VolumeName", "string", ".spec.volumeName", 10),
         ("RequestedRole", "string", ".spec.role", 0),
         ("Role", "string", ".status.detail.role", 0),
         ("PreviousRole", "string", ".status.detail.previous_role", 10),
         ("State", "string", ".status.state", 0)],
        f"""
        spec:object* spec.volumeName* spec.volume_id* spec.nodeName* spec.volume_context:map* spec.role*
        status:object status.detail:object status.detail.role* status.detail.previous_role
        status.detail.publish_context:map status.state*
        {ERROR}
        """,
        {
            "spec.role": "Primary Replica",
            "status.detail.role": "Primary Replica",
            "status.detail.previous_role": "Primary Replica",
            "status.state": "Pending Attaching Attached AttachmentFailed Detaching Detached DetachmentFailed "
                            "ForceDetachPending",
        },
    ),
    "azdrivernodes": Upstream(
        "AzDriverNode",
        [("NodeName", "string", ".spec.nodeName", 0),
         ("ReadyForVolumeAllocation", "boolean", ".status.readyForVolumeAllocation", 0),
         ("LastHeartbeatTime", "date", ".status.lastHeartbeatTime", 0),
         ("StatusMessage", "string", ".status.statusMessage", 0)],
        """
        spec:object* spec.nodeName*
        status:object status.lastHeartbeatTime status.readyForVolumeAllocation:boolean status.statusMessage
        status.conditions:list-of-object status.conditions[].type* status.conditions[].status*
        status.conditions[].lastHeartbeatTime status.conditions[].lastTransitionTime
        status.conditions[].reason status.conditions[].message
        """,
        {"status.conditions[].status": "True False Unknown"},
    ),
}

LEFT_OUT = {
    "spec.secrets": "secrets do not belong in an object that everybody may read",
    "status.detail.content_source": "it is spec.contentVolumeSource once more",
}
ADDED = "status.slots"  # with all that is in it


def shared_fields(definition: Definition) -> dict:
    return {path: field for path, field in definition.fields().items() if not path.startswith(ADDED)}


def upstream_fields(plural: str) -> dict[str, tuple[str, bool]]:
    """Type and whether it must be there, by path."""
    found = {}
    for word in UPSTREAM[plural].fields.split():
        path, _, kind = word.rstrip("*").partition(":")
        kind = {"": "string", "map": "map of string"}.get(kind, kind.replace("-", " "))
        found[path] = (kind, word.endswith("*"))
    return found


def test_all_kinds_are_there():
    assert {d.plural: d.kind for d in DEFINITIONS} == {plural: u.kind for plural, u in UPSTREAM.items()}


@each_definition
def test_names_are_those_of_upstream(definition):
    kind = definition.kind
    assert definition.name == f"{definition.plural}.disk.csi.azure.com"
    assert (definition.group, definition.version["name"], definition.scope) == (
        "disk.csi.azure.com", "v1beta2", "Namespaced")
    assert (definition.names["singular"], definition.names["listKind"]) == (kind.lower(), f"{kind}List")
    assert definition.version["served"] and definition.version["storage"]
    assert definition.version["subresources"] == {"status": {}}


@each_definition
def test_columns_are_those_of_upstream(definition):
    columns = [(c["name"], c["type"], c["jsonPath"], c.get("priority", 0)) for c in definition.columns]
    assert columns == UPSTREAM[definition.plural].columns


@each_definition
def test_fields_are_those_of_upstream(definition):
    ours = {path: field.type for path, field in shared_fields(definition).items()}
    theirs = {path: kind for path, (kind, _) in upstream_fields(definition.plural).items() if path not in LEFT_OUT}
    assert ours == theirs


@each_definition
def test_no_more_is_required_than_upstream_does(definition):
    """Else objects that it wrote would be refused."""
    theirs = {path for path, (_, required) in upstream_fields(definition.plural).items() if required}
    ours = {path for path, field in shared_fields(definition).items() if field.required}
    assert ours <= theirs


@each_definition
def test_values_are_those_of_upstream(definition):
    """A state may also be empty, as it is before anything happened."""
    ours = {path: " ".join(str(value) for value in field.values if value != "")
            for path, field in shared_fields(definition).items() if field.values}
    assert ours == UPSTREAM[definition.plural].values
