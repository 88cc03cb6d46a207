"""A CSI caller: calls by name, with the messages of lib/api/csi.proto.

    csi = Csi(socket)
    answer = csi.call("Controller/CreateVolume", name="pvc-1", volume_capabilities=[mounted()])

A status other than OK raises grpc.RpcError, with code() and details().
"""

import subprocess
import tempfile
from pathlib import Path

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

TREE = Path(__file__).parents[2]

SINGLE_NODE_WRITER = 1
MULTI_NODE_MULTI_WRITER = 5


def _pool(proto: str) -> descriptor_pool.DescriptorPool:
    with tempfile.NamedTemporaryFile() as compiled:
        subprocess.run(
            ["protoc", f"--proto_path={TREE}", "--proto_path=/usr/include", "--include_imports",
             f"--descriptor_set_out={compiled.name}", proto],
            check=True,
        )
        files = descriptor_pb2.FileDescriptorSet.FromString(Path(compiled.name).read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return pool


class Caller:
    """A client of the services of one .proto file on a unix socket."""

    def __init__(self, socket: Path, proto: str, package: str):
        self._pool = _pool(proto)
        self._package = package
        self._channel = grpc.insecure_channel(f"unix://{socket}")
        self._types: dict[str, tuple[type, type]] = {}

    def call(self, method: str, timeout: float = 30, **fields):
        """`method` is "Service/Method"; messages are given as dictionaries."""
        return self.begin(method, timeout, **fields).result()

    def begin(self, method: str, timeout: float = 30, **fields) -> grpc.Future:
        """The same without waiting for the answer."""
        request, answer = self._types_of(method)
        stub = self._channel.unary_unary(
            f"/{self._package}.{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=answer.FromString,
        )
        return stub.future(request(**fields), timeout=timeout, wait_for_ready=True)

    def _types_of(self, method: str) -> tuple[type, type]:
        """Classes of its request and its answer. They are kept: the library makes one anew where nobody has it any
        more, and has crashed in one that another thread let go at that moment."""
        if method not in self._types:
            service, name = method.split("/")
            descriptor = self._pool.FindServiceByName(f"{self._package}.{service}").FindMethodByName(name)
            self._types[method] = tuple(
                message_factory.GetMessageClass(kind) for kind in (descriptor.input_type, descriptor.output_type))
        return self._types[method]

    def close(self) -> None:
        self._channel.close()


class Csi(Caller):
    def __init__(self, socket: Path):
        super().__init__(socket, "lib/api/csi.proto", "csi.v1")


def mounted(mode: int = SINGLE_NODE_WRITER, fs_type: str = "") -> dict:
    """A capability: a file system."""
    return {"mount": {"fs_type": fs_type}, "access_mode": {"mode": mode}}


def block(mode: int = SINGLE_NODE_WRITER) -> dict:
    """A capability: the device itself."""
    return {"block": {}, "access_mode": {"mode": mode}}
