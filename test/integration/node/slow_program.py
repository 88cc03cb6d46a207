"""Programs that take as long as a test wants, in place of mkfs and fsck."""

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
