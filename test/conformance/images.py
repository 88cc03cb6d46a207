"""The images that the suite's pods run, made here under the suite's own names: the programs are the same or do the same."""

from pathlib import Path

from cluster import images
from image.archive import Image

# What the suite's pods want of an image: agnhost, or a shell and the usual commands.
SHELLS = ("e2e-test-images/busybox", "e2e-test-images/nginx")


def made(listed: list[str], agnhost: Path) -> list[Image]:
    """Of the names that `e2e.test --list-images` prints; those that pods of volumes run."""
    found = []
    for name in listed:
        if _path(name) == "e2e-test-images/agnhost":
            found.append(_agnhost(name, agnhost))
        elif _path(name) in SHELLS:
            found.append(images.busybox(name))
    return found


def _path(name: str) -> str:
    """Without its registry and tag."""
    return name.partition("/")[2].rpartition(":")[0]


def _agnhost(name: str, program: Path) -> Image:
    shell = images.busybox(name)
    files = shell.files | {"/agnhost": program}
    return Image(name, ["/agnhost"], files, shell.links)
