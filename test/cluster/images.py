"""The images of a test cluster, but for the driver's own (image/driver.py)."""

from pathlib import Path

from image.archive import Image

from .command import run
from .node import PAUSE_IMAGE

BUSYBOX_IMAGE = "cluster.test/busybox:1"  # the first part has a dot, or docker.io goes before it


def build_pause(program: Path) -> None:
    source = Path(__file__).parent / "images" / "pause.c"
    run("gcc", "-O2", "-static", "-s", "-o", program, source)


def pause(program: Path) -> Image:
    return Image(PAUSE_IMAGE, ["/pause"], {"/pause": program})


def busybox(name: str = BUSYBOX_IMAGE) -> Image:
    """A shell and the usual commands, for pods of tests."""
    program = Path("/bin/busybox")
    applets = run(program, "--list").split()
    links = {f"/bin/{applet}": "busybox" for applet in applets if applet != "busybox"}
    return Image(name, ["/bin/sh"], {"/bin/busybox": program}, links)


def sidecar(tools: Path, program: str, name: str) -> Image:
    """csi-provisioner and the like: statically linked Go programs."""
    return Image(name, [f"/{program}"], {f"/{program}": tools / program})
