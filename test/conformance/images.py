"""The images that the suite's pods run, made here under the suite's own names: the programs are the same or do the same."""

from pathlib import Path

from cluster import images
from image.archive import Image

SHELLS = ("busybox", "nginx", "jessie-dnsutils")  # of which pods want a shell and the usual commands
DD = {"/bin/dd": Path("/bin/dd")}  # Debian's; its busybox is older than the suite's, and cannot bypass the cache


def made(listed: list[str], agnhost: Path) -> list[Image]:
    """Those that pods with volumes run, of the names that `e2e.test --list-images` prints."""
    found = []
    for name in listed:
        folder, _, program = name.partition("/")[2].rpartition(":")[0].rpartition("/")
        if folder != "e2e-test-images":
            continue
        if program in SHELLS:
            found.append(_shell(name, ["/bin/sh"], DD))
        elif program == "agnhost":
            found.append(_shell(name, ["/agnhost"], {"/agnhost": agnhost}))
    return found


def _shell(name: str, entrypoint: list[str], programs: dict[str, Path]) -> Image:
    """Busybox, and these programs instead of its own or beside them."""
    busybox = images.busybox(name)
    links = {link: target for link, target in busybox.links.items() if link not in programs}
    return Image(name, entrypoint, busybox.files | programs, links)
