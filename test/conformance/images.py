"""The images that the suite's pods run, made here under the suite's own names: the programs are the same or do the same."""

from pathlib import Path

from cluster import images
from image.archive import Image

SHELLS = ("busybox", "nginx")  # of which pods want a shell and the usual commands
DEBIAN = "jessie-dnsutils"  # of which they want Debian's dd, which can do more than busybox's


def made(listed: list[str], agnhost: Path) -> list[Image]:
    """Those that pods with volumes run, of the names that `e2e.test --list-images` prints."""
    found = []
    for name in listed:
        folder, _, program = name.partition("/")[2].rpartition(":")[0].rpartition("/")
        if folder != "e2e-test-images":
            continue
        if program in SHELLS:
            found.append(images.busybox(name))
        elif program == DEBIAN:
            found.append(_with(name, ["/bin/sh"], "/bin/dd", Path("/bin/dd")))
        elif program == "agnhost":
            found.append(_with(name, ["/agnhost"], "/agnhost", agnhost))
    return found


def _with(name: str, entrypoint: list[str], path: str, program: Path) -> Image:
    """A shell and the usual commands, and this program."""
    shell = images.busybox(name)
    links = {link: target for link, target in shell.links.items() if link != path}
    return Image(name, entrypoint, shell.files | {path: program}, links)
