"""An NVMe controller for remote disks that says of its namespaces what Azure's recent firmware says, over TCP. Run inside the
guest:

    azure_nvme.py PORT NAMESPACES

NAMESPACES is a file of JSON, read anew at each command: {"3": {"file": PATH, "says": "type=data,lun=1,name=data"}}. The
kernel's own target has no place for such words. What is not needed to find, read and write a disk, it does not have: no
events (so the host has to be told to rescan), one queue beside the admin queue.

NVM Express Base Specification 2.0, and NVMe over TCP Transport Specification 1.0.
"""

import json
import os
import socket
import struct
import sys
import threading
import uuid
from pathlib import Path

MODEL = b"MSFT NVMe Accelerator v1.0"
IC_REQUEST, IC_RESPONSE, COMMAND, RESPONSE, FROM_HOST, TO_HOST, READY = 0, 1, 4, 5, 6, 7, 9
LAST = 0x04
FABRICS, CONNECT, PROPERTY_GET, PROPERTY_SET = 0x7F, 0x01, 0x04, 0x00
IDENTIFY, ASYNC_EVENT, GET_LOG_PAGE = 0x06, 0x0C, 0x02
FLUSH, WRITE, READ = 0x00, 0x01, 0x02
CAPABILITIES, VERSION, CONFIGURATION, STATUS = 0x00, 0x08, 0x14, 0x1C
INVALID_FIELD, INVALID_NAMESPACE = 0x4002, 0x400B  # and it is of no use to try again
BLOCK = 512
PAGE = 4096
VENDORS_PART = 384
MOST_DATA = 128 * 1024


def namespaces() -> dict[int, dict]:
    return {int(nsid): said for nsid, said in json.loads(Path(sys.argv[2]).read_text()).items()}


# ---- what Identify answers ----


def of_controller() -> bytes:
    page = bytearray(PAGE)
    struct.pack_into("<HH20s40s8s", page, 0, 0x1414, 0x1414, b"1".ljust(20), MODEL.ljust(40), b"1".ljust(8))
    page[77] = 5  # the most data of a command: 2^5 pages
    struct.pack_into("<HI", page, 78, 1, 0x10300)
    page[111] = 1  # for input and output
    struct.pack_into("<H", page, 320, 10)  # its clock of keep-alives
    struct.pack_into("<BBHI", page, 512, 0x66, 0x44, 128, 1024)
    struct.pack_into("<I", page, 536, 1)  # scatter-gather lists
    struct.pack_into("<256s", page, 768, b"nqn.2026-01.test:azure")
    struct.pack_into("<IIHBB", page, 1792, 4, 1, 0, 0, 1)  # no data in an I/O command
    return bytes(page)


def of_namespace(said: dict | None) -> bytes:
    page = bytearray(PAGE)
    if said:
        blocks = os.stat(said["file"]).st_size // BLOCK
        struct.pack_into("<QQQ", page, 0, blocks, blocks, blocks)
        page[130] = BLOCK.bit_length() - 1
        page[VENDORS_PART : VENDORS_PART + len(said["says"])] = said["says"].encode()
    return bytes(page)


def names_of(nsid: int) -> bytes:
    return struct.pack("<BBH16s", 3, 16, 0, uuid.UUID(int=nsid).bytes).ljust(PAGE, b"\0")


def identify(what: int, nsid: int) -> bytes | None:
    known = namespaces()
    if what == 0:
        return of_namespace(known.get(nsid))
    if what == 1:
        return of_controller()
    if what == 2:
        return b"".join(struct.pack("<I", number) for number in sorted(known) if number > nsid).ljust(PAGE, b"\0")
    if what == 3 and nsid in known:
        return names_of(nsid)
    return None


# ---- a queue ----


def extent(command: bytes) -> tuple[int, int]:
    """Of what is read or written: where it begins, and its length, in bytes."""
    first, count = struct.unpack_from("<QH", command, 40)
    return first * BLOCK, (count + 1) * BLOCK


class Queue:
    """A connection of the host's: that of the admin queue, which is the first one, or of another."""

    configuration = 0  # of the controller

    def __init__(self, connection: socket.socket):
        self.connection, self.number = connection, 0
        self.writes: dict[int, tuple[bytes, bytearray]] = {}  # by the command's id: what has come of it

    def serve(self) -> None:
        while header := self._receive(8):
            kind, _, _, offset, length = struct.unpack("<BBBBI", header)
            rest = self._receive(length - 8)
            if kind == IC_REQUEST:
                self._send(IC_RESPONSE, struct.pack("<HBBI", 0, 0, 0, MOST_DATA).ljust(120, b"\0"))
            elif kind == COMMAND:
                self._command(rest[:64])  # the data of a Connect does not matter
            elif kind == FROM_HOST:
                self._data(rest, rest[offset - 8 :])

    def _receive(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            more = self.connection.recv(length - len(data))
            if not more:
                return b""
            data += more
        return data

    def _send(self, kind: int, header: bytes, data: bytes = b"", flags: int = 0) -> None:
        length = 8 + len(header)
        self.connection.sendall(
            struct.pack("<BBBBI", kind, flags, length, length if data else 0, length + len(data)) + header + data)

    def _answer(self, command: bytes, result: int = 0, status: int = 0) -> None:
        [number] = struct.unpack_from("<H", command, 2)
        self._send(RESPONSE, struct.pack("<QHHHH", result, 0, self.number, number, status << 1))

    def _give(self, command: bytes, data: bytes) -> None:
        [number] = struct.unpack_from("<H", command, 2)
        self._send(TO_HOST, struct.pack("<HHIII", number, 0, 0, len(data), 0), data, LAST)
        self._answer(command)

    # ---- commands ----

    def _command(self, command: bytes) -> None:
        if command[0] == FABRICS:
            self._fabrics(command)
        elif self.number == 0:
            self._admin(command)
        else:
            self._io(command)

    def _fabrics(self, command: bytes) -> None:
        if command[4] == CONNECT:
            [self.number] = struct.unpack_from("<H", command, 42)
            self._answer(command, 1)
        elif command[4] == PROPERTY_SET:
            if struct.unpack_from("<I", command, 44)[0] == CONFIGURATION:
                [Queue.configuration] = struct.unpack_from("<Q", command, 48)
            self._answer(command)
        else:
            ended = 0x8 if Queue.configuration & 0xC000 else 0
            registers = {CAPABILITIES: 127 | 1 << 16 | 30 << 24 | 1 << 37, VERSION: 0x10300,
                         CONFIGURATION: Queue.configuration, STATUS: Queue.configuration & 1 | ended}
            self._answer(command, registers.get(struct.unpack_from("<I", command, 44)[0], 0))

    def _admin(self, command: bytes) -> None:
        nsid, word = struct.unpack_from("<I", command, 4)[0], struct.unpack_from("<I", command, 40)[0]
        if command[0] == IDENTIFY:
            found = identify(word & 0xFF, nsid)
            self._give(command, found) if found else self._answer(command, status=INVALID_FIELD)
        elif command[0] == GET_LOG_PAGE:
            self._give(command, bytes(((word >> 16) + 1) * 4))
        elif command[0] != ASYNC_EVENT:  # of which there is none
            self._answer(command)  # one queue is what is there, whatever is asked for

    def _io(self, command: bytes) -> None:
        number, nsid = struct.unpack_from("<HI", command, 2)
        said, (place, length) = namespaces().get(nsid), extent(command)
        if not said:
            self._answer(command, status=INVALID_NAMESPACE)
        elif command[0] == READ:
            with open(said["file"], "rb") as file:
                self._give(command, os.pread(file.fileno(), length, place))
        elif command[0] == WRITE:
            self.writes[number] = (command, bytearray())
            self._send(READY, struct.pack("<HHIII", number, number, 0, length, 0))
        else:
            self._answer(command, status=0 if command[0] == FLUSH else INVALID_FIELD)

    def _data(self, header: bytes, data: bytes) -> None:
        [number] = struct.unpack_from("<H", header, 0)
        command, come = self.writes[number]
        come += data
        [nsid] = struct.unpack_from("<I", command, 4)
        place, length = extent(command)
        if len(come) < length:
            return
        del self.writes[number]
        with open(namespaces()[nsid]["file"], "r+b") as file:
            os.pwrite(file.fileno(), come, place)
        self._answer(command)


def main(port: str) -> None:
    listener = socket.create_server(("127.0.0.1", int(port)), backlog=16)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=Queue(connection).serve, daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1])
