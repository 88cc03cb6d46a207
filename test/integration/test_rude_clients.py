"""Clients that are slow, huge, endless, half-closed or make no sense, against the servers of the shipped programs: such a
client is refused or cut off, others are answered meanwhile, and the program's memory stays bounded."""

import random
import select
import socket
import struct
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from cluster.waiting import until

from .driver_world import TREE, Controller, World
from .extender import SHIPPED, Extender
from .placement import Placement

MIB = 1 << 20
MOST = 64 * MIB  # bytes that one client sends if nobody stops it
AT_ONCE = 8  # clients of one kind
CUT_OFF = 0  # instead of a status
PATIENCE = 30  # seconds without a byte from the server

HEAD = b"POST / HTTP/1.1\r\nHost: h\r\n"
BLOCK = b"x" * 65536


def send_until_refused(connection: socket.socket, piece: bytes) -> None:
    """Until there is an answer, or the connection is cut off."""
    try:
        for _ in range(MOST // len(piece)):
            if select.select([connection], [], [], 0)[0]:
                return
            connection.sendall(piece)
    except OSError:
        pass


def answer(connection: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    received = b""
    try:
        while piece := connection.recv(65536):
            received += piece
    except ConnectionError:
        pass
    return received


def request(path: str, last: bool = False) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: h\r\n{'Connection: close' if last else 'X: y'}\r\n\r\n".encode()


def status(connection: socket.socket) -> int:
    line = answer(connection).split(b"\r\n")[0]
    return int(line.split()[1]) if line.startswith(b"HTTP/1.") else CUT_OFF


# ---- HTTP ----


def polite(connection: socket.socket, path: str) -> int:
    connection.sendall(request(path, last=True))
    return status(connection)


def one_byte_at_a_time(connection: socket.socket, path: str) -> int:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in request(path, last=True):
        connection.sendall(bytes([byte]))
    return status(connection)


def huge_head(connection: socket.socket, path: str) -> int:
    connection.sendall(HEAD)
    send_until_refused(connection, b"X-A: " + BLOCK + b"\r\n")
    return status(connection)


def huge_line(connection: socket.socket, path: str) -> int:
    connection.sendall(b"GET /")
    send_until_refused(connection, BLOCK)
    return status(connection)


def huge_body(connection: socket.socket, path: str) -> int:
    connection.sendall(HEAD + b"Content-Length: 1099511627776\r\n\r\n")
    send_until_refused(connection, BLOCK)
    return status(connection)


def endless_body(connection: socket.socket, path: str) -> int:
    connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    send_until_refused(connection, b"10000\r\n" + BLOCK + b"\r\n")
    return status(connection)


def half_closed(connection: socket.socket, path: str) -> int:
    connection.sendall(HEAD + b"Content-Length: 10\r\n\r\nx")
    connection.shutdown(socket.SHUT_WR)
    return status(connection)


def half_closed_behind_a_request(connection: socket.socket, path: str) -> int:
    connection.sendall(request(path))
    connection.shutdown(socket.SHUT_WR)
    return status(connection)


def garbage(connection: socket.socket, path: str) -> int:
    connection.sendall(random.Random(1).randbytes(65536))
    connection.shutdown(socket.SHUT_WR)
    return status(connection)


def many_requests_at_once(connection: socket.socket, path: str) -> int:
    n = 500
    connection.sendall(request(path) * (n - 1) + request(path, last=True))
    return 200 if answer(connection).count(b"HTTP/1.1 200 ") == n else CUT_OFF


# What each may get. Where there are few connections, as for metrics, who is slow gives way to others.
HTTP = {
    one_byte_at_a_time: {200, CUT_OFF},
    huge_head: {431, CUT_OFF},
    huge_line: {414, 431, CUT_OFF},
    huge_body: {404, 413, CUT_OFF},
    endless_body: {404, 413, CUT_OFF},
    half_closed: {CUT_OFF},
    half_closed_behind_a_request: {200, CUT_OFF},
    garbage: {400, CUT_OFF},
    many_requests_at_once: {200, CUT_OFF},
}

# ---- gRPC, which is HTTP/2 ----

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, CONTINUATION = 0, 1, 4, 6, 9
# A POST to CSI's Probe, in HPACK's literal form without an index.
PROBE_HEADERS = b"".join(
    b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value
    for name, value in (
        (b":method", b"POST"), (b":scheme", b"http"), (b":path", b"/csi.v1.Identity/Probe"),
        (b":authority", b"h"), (b"content-type", b"application/grpc"), (b"te", b"trailers"))
)


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


GREETING = PREFACE + frame(SETTINGS, 0, 0)


def grpc_garbage(connection: socket.socket) -> None:
    connection.sendall(random.Random(2).randbytes(65536))


def grpc_other_protocol(connection: socket.socket) -> None:
    connection.sendall(request("/"))


def grpc_one_byte_at_a_time(connection: socket.socket) -> None:
    for byte in GREETING:
        connection.sendall(bytes([byte]))


def grpc_endless_head(connection: socket.socket) -> None:
    connection.sendall(GREETING + frame(HEADERS, 0, 1, PROBE_HEADERS))
    header = b"\0\x03x-a\x7f\x81\x7d" + b"y" * 16256  # HPACK's way of a long text
    send_until_refused(connection, frame(CONTINUATION, 0, 1, header[:16384]))


def grpc_huge_message(connection: socket.socket) -> None:
    connection.sendall(GREETING + frame(HEADERS, 4, 1, PROBE_HEADERS))
    connection.sendall(frame(DATA, 0, 1, struct.pack(">BI", 0, 1 << 30)))
    send_until_refused(connection, frame(DATA, 0, 1, b"x" * 16384))


def grpc_pings(connection: socket.socket) -> None:
    """gRPC allows two without a call."""
    connection.sendall(GREETING + frame(PING, 0, 0, b"12345678") * 1000)
    assert b"too_many_pings" in answer(connection)


def grpc_calls_without_an_end(connection: socket.socket) -> None:
    calls = (frame(HEADERS, 4, 2 * i + 1, PROBE_HEADERS) for i in range(250))
    try:
        connection.sendall(GREETING + b"".join(calls))
    except ConnectionError:
        pass


GRPC = [grpc_garbage, grpc_other_protocol, grpc_one_byte_at_a_time, grpc_endless_head, grpc_huge_message, grpc_pings,
        grpc_calls_without_an_end]


# ---- the servers ----


def peak_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def among(rude: Callable[[], object], ask: Callable[[], None]) -> list:
    """What rude clients got, while others, one after the other, are answered."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        clients: list[Future] = [pool.submit(rude) for _ in range(AT_ONCE)]
        ask()
        while not all(client.done() for client in clients):
            ask()
        return [client.result() for client in clients]


def at(port: str, path: str) -> list[tuple]:
    """Who is half-closed in a request is cut off when its time is up; that takes long, and is tried once for each."""
    return [(behave, port, path) for behave in HTTP if "metrics" not in port or behave is not half_closed]


def check_http(behave: Callable[[socket.socket, str], int], port: int, path: str, pid: int) -> None:
    def client(one: Callable[[socket.socket, str], int], address: str = "127.0.0.1") -> int:
        try:
            with socket.create_connection(("127.0.0.1", port), PATIENCE, (address, 0)) as connection:
                return one(connection, path)
        except TimeoutError:
            raise
        except OSError:
            return CUT_OFF

    def ask() -> None:
        assert client(polite, "127.0.0.2") == 200  # who shares an address shares its connections

    ask()
    before = peak_mib(pid)
    assert set(among(lambda: client(behave), ask)) <= HTTP[behave]
    assert peak_mib(pid) - before < 40


@pytest.fixture(scope="module")
def extender(tmp_path_factory, apiserver):
    Placement(apiserver.client()).install()
    log = tmp_path_factory.mktemp("rude") / "log"
    with Extender(log, kubeconfig=apiserver.kubeconfig, program=SHIPPED) as extender:
        yield extender.until_ready()


@pytest.mark.parametrize("behave,port,path", [*at("port", "/ping"), *at("metrics_port", "/healthz")])
def test_the_extender(extender, behave, port, path):
    check_http(behave, getattr(extender, port), path, extender.process.pid)


class Shipped(Controller):
    PROGRAM = TREE / "build/bin/azdisk-controller"


@pytest.fixture(scope="module")
def controller(tmp_path_factory, apiserver):
    with World(tmp_path_factory.mktemp("rude"), apiserver) as world, Shipped(world) as controller:
        until(controller.leads, "the lease")
        yield controller


@pytest.mark.parametrize("behave,port,path", [*at("health", "/healthz"), *at("metrics", "/metrics")])
def test_health_and_metrics(controller, behave, port, path):
    check_http(behave, getattr(controller, port), path, controller.process.pid)


@pytest.mark.parametrize("behave", GRPC)
def test_csi(controller, behave):
    before = peak_mib(controller.process.pid)

    def rude() -> None:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(str(controller.socket))
            behave(connection)

    among(rude, lambda: controller.csi.call("Identity/Probe", timeout=PATIENCE))
    assert peak_mib(controller.process.pid) - before < 100
