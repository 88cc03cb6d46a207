"""The images that the suite's pods run, made here under the suite's own names: the programs are the same or do the same."""

from pathlib import Path

from cluster import images
from image.archive import Image

SHELLS = ("busybox", "nginx")  # of which pods want a shell and the usual commands
# Of which they want a dd that can do more than busybox's, and a shell that does not prefer busybox's.
DEBIAN = "jessie-dnsutils"
DEBIANS = {"/bin/sh": Path("/bin/dash"), "/bin/dd": Path("/bin/dd")}


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
            found.append(_with(name, ["/bin/sh"], DEBIANS))
        elif program == "agnhost":
            found.append(_with(name, ["/agnhost"], {"/agnhost": agnhost}))
    return found


def _with(name: str, entrypoint: list[str], programs: dict[str, Path]) -> Image:
    """Busybox, and these programs beside its own or instead of them."""
    busybox = images.busybox(name)
    links = {link: target for link, target in busybox.links.items() if link not in programs}
    return Image(name, entrypoint, busybox.files | programs, links)
