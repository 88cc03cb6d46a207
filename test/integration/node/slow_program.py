"""Programs in place of mkfs and fsck: they take as long as a test wants, or say that they ran."""

import os
import sys
from pathlib import Path

from cluster.waiting import until

SLOW_MKFS = """#!{python}
import os, sys, time
fd = os.open(sys.argv[-1], os.O_RDWR | os.O_EXCL)
os.pwrite(fd, b"half of a file system", 65536)
os.fsync(fd)
with open("{folder}/begun", "a") as begun:
    print("once more", file=begun)
deadline = time.monotonic() + 120
while not os.path.exists("{folder}/go") and time.monotonic() < deadline:
    time.sleep(0.02)
os.close(fd)
os.execv("/usr/sbin/mkfs.ext4", sys.argv)
"""


class SlowMkfs:
    """A mkfs.ext4 that writes something, says so in a file `begun`, and waits for a file `go`."""

    def __init__(self, folder: Path):
        script = folder / "mkfs.ext4"
        script.write_text(SLOW_MKFS.format(python=sys.executable, folder=folder))
        script.chmod(0o700)
        self.environment = {"PATH": f"{folder}:{os.environ['PATH']}"}
        self.begun, self.may_go_on = folder / "begun", folder / "go"

    def await_begin(self) -> None:
        until(self.begun.exists, "mkfs")

    def runs(self) -> int:
        return len(self.begun.read_text().splitlines())

    def go_on(self) -> None:
        self.may_go_on.touch()


class LoggedFsck:
    """An e2fsck that writes down its arguments before it does what it does."""

    def __init__(self, folder: Path):
        self._log = folder / "fsck-log"
        script = folder / "e2fsck"
        script.write_text(f'#!/bin/sh\necho "$@" >>{self._log}\nexec /usr/sbin/e2fsck "$@"\n')
        script.chmod(0o700)
        self.environment = {"PATH": f"{folder}:{os.environ['PATH']}"}

    def runs(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []


SLOW_END = """#!{python}
import signal, sys, time
from pathlib import Path
folder = Path("{folder}")
def end(*_):
    (folder / "asked").touch()
    time.sleep({seconds})
    (folder / "ended").touch()
    sys.exit(32)
signal.signal(signal.SIGTERM, end)
(folder / "begun").touch()
signal.pause()
"""


class SlowToEnd:
    """An e2fsck that takes its time to end in order when it is asked to."""

    def __init__(self, folder: Path, seconds: float):
        script = folder / "e2fsck"
        script.write_text(SLOW_END.format(python=sys.executable, folder=folder, seconds=seconds))
        script.chmod(0o700)
        self.environment = {"PATH": f"{folder}:{os.environ['PATH']}"}
        self.begun, self.asked, self.ended = (folder / name for name in ("begun", "asked", "ended"))


class NeverEnds:
    """A program that does nothing until it is told to end."""

    def __init__(self, folder: Path, name: str):
        self.begun = folder / "begun"
        script = folder / name
        script.write_text(f"#!/bin/sh\ntouch {self.begun}\nexec sleep infinity\n")
        script.chmod(0o700)
        self.environment = {"PATH": f"{folder}:{os.environ['PATH']}"}
