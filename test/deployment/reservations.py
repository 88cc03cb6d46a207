"""Persistent reservations for the disks of a test cluster (reservations.c)."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from cluster.cluster import Cluster
from cluster.command import run
from image.archive import Image

LIBRARY, PRELOADED, FOLDER_FILE = "/lib/reservations.so", "/etc/ld.so.preload", "/etc/reservations-folder"


@contextmanager
def reservations(cluster: Cluster) -> Iterator["Reservations"]:
    found = Reservations(cluster)
    found.folder.mkdir()
    try:
        yield found
    finally:
        shutil.rmtree(found.folder)


class Reservations:
    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        self.folder = Path(f"/dev/azuredisk-{cluster.state.id}")  # /dev is the same on all machines, and in the plug-in

    def given_to(self, image: Image) -> Image:
        """The image, whose programs have them."""
        files = {LIBRARY: self._build(), PRELOADED: self._text("ld.so.preload", LIBRARY),
                 FOLDER_FILE: self._text("reservations-folder", str(self.folder))}
        return replace(image, files=image.files | files)

    def _build(self) -> Path:
        library = self.cluster.directory / "reservations.so"
        source = Path(__file__).parent / "reservations.c"
        run("gcc", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", "-s", "-o", library, source)
        return library

    def _text(self, name: str, content: str) -> Path:
        path = self.cluster.directory / name
        path.write_text(f"{content}\n")
        return path
