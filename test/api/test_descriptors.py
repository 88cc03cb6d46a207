"""lib/api's csi.proto and pluginregistration.proto say the same as the official descriptors.

A file is described as a set of lines, one for each thing that callers can see on the wire or by
name: the package, messages, fields, oneofs, enumerations, services. Two files are the same if they
have the same lines; what differs is printed. Options are not described, except that a map is one.
The official descriptors come from a small Go program (official.go) that is built once.
"""

import base64
import json
import subprocess
from pathlib import Path

import pytest
from cluster import tools
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from .proto import compiled

HERE = Path(__file__).parent
API = HERE.parents[1] / "lib" / "api"


@pytest.fixture(scope="session")
def official() -> dict:
    return json.loads(subprocess.run([tools.build_module(HERE)], check=True, capture_output=True).stdout)


def described(file: FileDescriptorProto) -> set[str]:
    lines = {f"package {file.package}", f"syntax {file.syntax}"}
    for message in file.message_type:
        lines |= described_message(message, f"{file.package}.{message.name}")
    for enum in file.enum_type:
        lines |= described_enum(enum, f"{file.package}.{enum.name}")
    for service in file.service:
        lines.add(f"service {file.package}.{service.name}")
        for method in service.method:
            stream = {False: "", True: "stream "}
            lines.add(f"rpc {file.package}.{service.name}/{method.name}"
                      f"({stream[method.client_streaming]}{method.input_type})"
                      f" returns ({stream[method.server_streaming]}{method.output_type})")
    return lines


def described_message(message: DescriptorProto, name: str) -> set[str]:
    lines = {f"message {name}{' (of a map)' if message.options.map_entry else ''}"}
    for field in message.field:
        lines.add(f"field {name}.{field.name} = {field.number}: {described_type(field)}"
                  + (f" in oneof {message.oneof_decl[field.oneof_index].name}"
                     if field.HasField("oneof_index") else ""))
    for nested in message.nested_type:
        lines |= described_message(nested, f"{name}.{nested.name}")
    for enum in message.enum_type:
        lines |= described_enum(enum, f"{name}.{enum.name}")
    return lines


def described_type(field: FieldDescriptorProto) -> str:
    label = FieldDescriptorProto.Label.Name(field.label).removeprefix("LABEL_").lower()
    kind = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    presence = " with presence" if field.proto3_optional else ""
    return f"{label} {kind} {field.type_name}".rstrip() + presence


def described_enum(enum: EnumDescriptorProto, name: str) -> set[str]:
    return {f"enum {name}"} | {f"value {name}.{v.name} = {v.number}" for v in enum.value}


def differences(ours: FileDescriptorProto, theirs: FileDescriptorProto) -> list[str]:
    """One line each, sorted by the thing's name: - is only official, + is only ours."""
    a, b = described(theirs), described(ours)
    lines = [f"- {line}" for line in a - b] + [f"+ {line}" for line in b - a]
    return sorted(lines, key=lambda line: (line.split()[2], line))


def theirs(official: dict, name: str) -> FileDescriptorProto:
    return FileDescriptorProto.FromString(base64.b64decode(official["files"][name]))


@pytest.mark.parametrize("name", ["csi.proto", "pluginregistration.proto"])
def test_ours_is_the_official_one(official, name):
    found = differences(compiled(f"lib/api/{name}"), theirs(official, name))
    assert not found, f"{name} differs from the official descriptor:\n" + "\n".join(found)


# Each row changes one thing of csi.proto; the comparison must name it.
CHANGES = [
    ("package csi.v1;", "package csi.v2;", "package csi.v2"),
    ("string vendor_version = 2;", "", "csi.v1.GetPluginInfoResponse.vendor_version"),
    ("string vendor_version = 2;", "string version = 2;", "csi.v1.GetPluginInfoResponse.version"),
    ("string vendor_version = 2;", "string vendor_version = 4;", "vendor_version = 4"),
    ("string vendor_version = 2;", "bytes vendor_version = 2;", "optional bytes"),
    ("string vendor_version = 2;", "repeated string vendor_version = 2;", "repeated string"),
    ("string vendor_version = 2;", "optional string vendor_version = 2;", "with presence"),
    ("map<string, string> manifest", "map<string, bytes> manifest", "ManifestEntry.value"),
    ("google.protobuf.BoolValue ready", "google.protobuf.StringValue ready", "StringValue"),
    ("ONLINE = 1;", "ONLINE = 3;", "csi.v1.PluginCapability.VolumeExpansion.Type.ONLINE = 3"),
    ("oneof access_type {", "oneof kind {", "in oneof kind"),
    ("message ProbeRequest {}", "message ProbeRequest {}\nmessage Other {}", "message csi.v1.Other"),
    ("rpc Probe(ProbeRequest)", "rpc Prove(ProbeRequest)", "rpc csi.v1.Identity/Prove"),
    ("(stream GetMetadataDeltaResponse)", "(GetMetadataDeltaResponse)", "GetMetadataDelta("),
]


@pytest.mark.parametrize("old, new, named", CHANGES)
def test_a_difference_is_seen(official, tmp_path, old, new, named):
    text = (API / "csi.proto").read_text()
    assert old in text
    (tmp_path / "csi.proto").write_text(text.replace(old, new, 1))
    assert named in "\n".join(differences(compiled("csi.proto", tmp_path), theirs(official, "csi.proto")))
