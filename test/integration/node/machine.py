"""A node's machine, as far as a plug-in sees it: network, mounts, and disks at LUNs.

The machine is a process with namespaces of its own; programs are started in it, and its files are
reached through /proc. It ends, with all its mounts, when that process does. Disks are loop devices
that outlive a machine, so that one can be taken to another.
"""

import ctypes
import fcntl
import hashlib
import os
import socket
import struct
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import HTTPServer
from pathlib import Path

from ..answering import Answering

MIB = 1024 * 1024
SMALLEST_EXT4, SMALLEST_XFS = 64 * MIB, 300 * MIB

LOOP_CTL_GET_FREE, LOOP_CONFIGURE = 0x4C82, 0x4C0A
LO_FLAGS_AUTOCLEAR = 4
LO_FLAGS_PARTSCAN = 8  # else partitions would outlive the disk
BLKROSET = 0x125D
BLKPG, BLKPG_ADD_PARTITION = 0x1269, 1

_libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000


class Disk:
    """A blank disk. It is there as long as it is open here, mounted or both."""

    def __init__(self, folder: Path, size: int):
        self.size = size
        self.image = os.open(folder, os.O_TMPFILE | os.O_RDWR)
        os.ftruncate(self.image, size)
        self.path, self.fd = self._attach()
        # A read-only mark of its last use would stay.
        fcntl.ioctl(self.fd, BLKROSET, struct.pack("i", 0))

    def _attach(self) -> tuple[str, int]:
        configuration = struct.pack("II52xI176x64x", self.image, 0, LO_FLAGS_AUTOCLEAR | LO_FLAGS_PARTSCAN)
        with open("/dev/loop-control", "rb") as control:
            while True:
                path = f"/dev/loop{fcntl.ioctl(control, LOOP_CTL_GET_FREE)}"
                fd = os.open(path, os.O_RDWR)
                try:
                    fcntl.ioctl(fd, LOOP_CONFIGURE, configuration)
                    return path, fd
                except OSError:  # somebody else was faster
                    os.close(fd)

    def add_partition(self, number: int, start: int, size: int) -> str:
        """As the kernel knows it: the disk has no table. The path of its device."""
        partition = struct.pack("qqi64x64x4x", start, size, number)
        data = ctypes.create_string_buffer(partition)
        change = struct.pack("iiiP", BLKPG_ADD_PARTITION, 0, len(partition), ctypes.addressof(data))
        fcntl.ioctl(self.fd, BLKPG, change)
        return f"{self.path}p{number}"

    def close(self) -> None:
        os.close(self.fd)
        os.close(self.image)

    def copy(self, origin: "Disk") -> None:
        """What is on that disk now, be it in use or not: as a snapshot."""
        at = 0
        while at < origin.size:
            try:
                at = os.lseek(origin.image, at, os.SEEK_DATA)
            except OSError:  # there is nothing more
                return
            end = os.lseek(origin.image, at, os.SEEK_HOLE)
            os.lseek(self.image, at, os.SEEK_SET)
            while at < end:
                at += os.sendfile(self.image, origin.image, at, end - at)

    def write(self, offset: int, data: bytes) -> None:
        os.pwrite(self.fd, data, offset)
        os.fsync(self.fd)

    def read(self, offset: int, length: int) -> bytes:
        """What is on the disk, not what is cached of it."""
        os.fsync(self.fd)
        return os.pread(self.image, length, offset)

    def checksum(self) -> str:
        """Of what is on the disk, not of what is cached of it."""
        os.fsync(self.fd)
        digest = hashlib.sha256()
        for offset in range(0, self.size, MIB):
            digest.update(os.pread(self.image, MIB, offset))
        return digest.hexdigest()

    def run(self, *command: str) -> str:
        """A program, with the device as its last argument."""
        return subprocess.run([*command, self.path], check=True, capture_output=True, text=True).stdout


class Machine:
    BOOT = """
        mount --make-rprivate / && mount -t tmpfs tmpfs /dev/disk/azure &&
        mkdir -p /dev/disk/azure/data/by-lun && ip link set lo up &&
        ip address add 169.254.169.254/32 dev lo && echo up && exec sleep infinity
    """

    def __init__(self):
        os.makedirs("/dev/disk/azure", exist_ok=True)
        tied = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--mount"]
        self.process = subprocess.Popen(
            [*tied, "sh", "-c", self.BOOT], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout.readline() == "up\n"
        self._servers: list[HTTPServer] = []
        self._sockets: list[socket.socket] = []

    def close(self) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()
        for listener in self._sockets:
            listener.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    # ---- inside ----

    def command(self, *words: str | Path) -> list[str]:
        """What starts a program inside."""
        entry = ["nsenter", f"--target={self.process.pid}", "--net", "--mount", "--wdns=/"]
        return [*entry, *map(str, words)]

    def run(self, *words: str) -> str:
        return subprocess.run(
            self.command(*words), check=True, capture_output=True, text=True
        ).stdout

    def path(self, path: str | Path) -> Path:
        """The same path, seen from outside."""
        return Path(f"/proc/{self.process.pid}/root{path}")

    def mounts(self, path: str | Path) -> int:
        """How many there are at a path."""
        table = Path(f"/proc/{self.process.pid}/mounts").read_text().splitlines()
        return sum(line.split()[1] == str(path) for line in table)

    def in_network(self, action: Callable):
        """What `action` returns, or raises, when sockets that it makes are the machine's."""

        def enter():
            with open(f"/proc/{self.process.pid}/ns/net") as namespace:
                assert _libc.setns(namespace.fileno(), CLONE_NEWNET) == 0
            return action()

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(enter).result()

    # ---- around it ----

    def attach(self, disk: Disk, lun: int) -> None:
        os.symlink(disk.path, self.path(f"/dev/disk/azure/data/by-lun/{lun}"))

    def detach(self, lun: int) -> None:
        os.unlink(self.path(f"/dev/disk/azure/data/by-lun/{lun}"))

    def reach(self, port: int, address: str = "127.0.0.1") -> None:
        """Makes a port of the host's loopback one of the machine's, too, at an address that it has."""
        listener = self.in_network(lambda: socket.create_server((address, port), backlog=64))
        self._sockets.append(listener)
        forward(listener, lambda: socket.create_connection(("127.0.0.1", port)))

    def serve_metadata(self, answer: Callable[[], tuple[int, bytes]]) -> None:
        """Azure's instance metadata service; it refuses who does not ask by its rules."""

        class Handler(Answering):
            def do_GET(self):  # noqa: N802
                wanted = "/metadata/instance?api-version=2021-10-01&format=json"
                asked = self.path == wanted and self.headers["Metadata"] == "true"
                self.answer(*answer() if asked else (400, b"{}"))

        server = self.in_network(lambda: HTTPServer(("169.254.169.254", 80), Handler))
        self._servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()


def forward(listener: socket.socket, connect: Callable[[], socket.socket]) -> None:
    """Joins whoever comes with a connection of his own, until the listener is closed."""
    threading.Thread(target=_forward, args=(listener, connect), daemon=True).start()


def _forward(listener: socket.socket, connect: Callable[[], socket.socket]) -> None:
    while True:
        try:
            inner, _ = listener.accept()
        except OSError:
            return
        try:
            outer = connect()
        except OSError:
            inner.close()
            continue
        for source, target in ((inner, outer), (outer, inner)):
            threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Until the source says no more, or the target goes away."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
