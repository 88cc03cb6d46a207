"""Compressed archives whose bytes depend on their content alone."""

import gzip
import tarfile
from dataclasses import dataclass
from pathlib import Path

from image.archive import add_file, add_link


@dataclass
class Entry:
    content: bytes = b""
    executable: bool = False
    link: str = ""  # what it points at, of a symbolic link


def write_tarball(archive: Path, entries: dict[str, Entry]) -> None:
    with (open(archive, "wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as packed,
          tarfile.open(fileobj=packed, mode="w") as tar):
        for name, entry in sorted(entries.items()):
            if entry.link:
                add_link(tar, name, entry.link)
            else:
                add_file(tar, name, entry.content, entry.executable)
