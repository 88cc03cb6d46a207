"""The messages of lib/api/azdisk.proto, as protoc reads them, with their comments."""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

from .crd import TREE

MAP_OF_STRINGS = {"type": "object", "additionalProperties": {"type": "string"}}
MESSAGE, FIELD = 4, 2  # numbers of file.message_type and message.field, in the paths of comments


@dataclass(frozen=True)
class Message:
    descriptor: DescriptorProto
    comment: str
    comments: dict[str, str]  # by field

    def is_map(self, field: FieldDescriptorProto) -> bool:
        name = field.type_name.rpartition(".")[2]
        return any(nested.name == name and nested.options.map_entry for nested in self.descriptor.nested_type)


def json_name(name: str) -> str:
    """As lib/json/codec.h has it: volume_name is volumeName, volume__id is volume_id."""
    words = [re.sub("_(.)", lambda letter: letter[1].upper(), word) for word in name.split("__")]
    return "_".join(words)


def compiled(proto: str, root: Path = TREE) -> FileDescriptorProto:
    """What protoc makes of a file. It gets a file to write: /dev/stdout need not be what this process reads."""
    with tempfile.NamedTemporaryFile() as made:
        subprocess.run(
            ["protoc", f"--proto_path={root}", "--proto_path=/usr/include", "--include_source_info",
             f"--descriptor_set_out={made.name}", proto],
            check=True, capture_output=True)
        [file] = FileDescriptorSet.FromString(Path(made.name).read_bytes()).file
    return file


def _messages(file: FileDescriptorProto) -> dict[str, Message]:
    comments = {tuple(place.path): place.leading_comments for place in file.source_code_info.location}
    return {
        message.name: Message(
            message,
            comments.get((MESSAGE, number), ""),
            {field.name: comments.get((MESSAGE, number, FIELD, n), "") for n, field in enumerate(message.field)},
        )
        for number, message in enumerate(file.message_type)
    }


MESSAGES = _messages(compiled("lib/api/azdisk.proto"))
