"""Records that can be told from everything else on a disk: who wrote them, what for, and which one it is.

A record is as long as the smallest block of a file system, so it is found in the raw disk, too. Only the
standard library: guests read and write them as well.
"""

import hashlib
import mmap
import os
import struct
import zlib
from pathlib import Path
from typing import NamedTuple

SIZE = 1024
MAGIC = b"\xf5round\r\n"
LOG, REGISTER, RAW = "log", "register", "raw"  # the files, and what is written past all of them
HEAD = struct.Struct("<8s16s16sQI")  # magic, owner, file, number, checksum of the whole with 0 in its place


class Record(NamedTuple):
    owner: str
    file: str
    number: int


def _filler(record: Record) -> bytes:
    digest = hashlib.blake2b(repr(record).encode()).digest()
    return (digest * (SIZE // len(digest) + 1))[: SIZE - HEAD.size]


def _packed(record: Record, checksum: int) -> bytes:
    return HEAD.pack(MAGIC, record.owner.encode(), record.file.encode(), record.number, checksum)


def block(record: Record) -> bytes:
    filler = _filler(record)
    return _packed(record, zlib.crc32(_packed(record, 0) + filler)) + filler


def parse(data: bytes) -> Record | None:
    """None if it is none, or not a whole one."""
    if len(data) != SIZE or not data.startswith(MAGIC):
        return None
    _, owner, file, number, checksum = HEAD.unpack(data[: HEAD.size])
    record = Record(*(text.rstrip(b"\0").decode(errors="replace") for text in (owner, file)), number)
    return record if checksum == zlib.crc32(_packed(record, 0) + data[HEAD.size :]) else None


def in_image(image: Path, owner: str) -> set[Record]:
    """Those of an owner that are on a raw disk, wherever."""
    found, wanted = set(), MAGIC + owner.encode().ljust(16, b"\0")
    with open(image, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        end = 0
        while (begin := _seek(file.fileno(), end, os.SEEK_DATA)) is not None:
            end = _seek(file.fileno(), begin, os.SEEK_HOLE)
            at = data.find(wanted, begin, end)
            while at >= 0:
                record = parse(data[at : at + SIZE])
                found |= {record} if record else set()
                at = data.find(wanted, at + 1, end)
    return found


def _seek(fd: int, at: int, whence: int) -> int | None:
    try:
        return os.lseek(fd, at, whence)
    except OSError:  # there is nothing more
        return None
