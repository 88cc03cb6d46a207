"""Compressed archives whose bytes depend on their content alone."""

import gzip
import io
import tarfile
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Entry:
    content: bytes = b""
    executable: bool = False
    link: str = ""  # what it points at, of a symbolic link


def write_tarball(archive: Path, entries: dict[str, Entry]) -> None:
    """Times are 0 and owners root, as TarInfo has them."""
    with (open(archive, "wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as packed,
          tarfile.open(fileobj=packed, mode="w") as tar):
        for name, entry in sorted(entries.items()):
            head = tarfile.TarInfo(name)
            head.mode = 0o755 if entry.executable else 0o644
            head.size = len(entry.content)
            if entry.link:
                head.type, head.linkname, head.mode = tarfile.SYMTYPE, entry.link, 0o777
            tar.addfile(head, io.BytesIO(entry.content))
