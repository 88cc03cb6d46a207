"""A guest: a Linux of its own, by User Mode Linux, in which disks are SCSI devices and mounts are real.

The guest is an ordinary process, so it needs no virtualisation of processors. It has the machine's
files, read-only, and one folder of them in which it may write; and a network to the machine and to
other guests (network.py). inside.py serves it. Everything ends with this process.

Programs of a guest have 512 GiB of addresses: too few for AddressSanitizer.
"""

import json
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from cluster.waiting import Timeout, until
from integration.node.machine import forward

from . import packages
from .network import MACHINE, Network

HERE = Path(__file__).parent
INIT = HERE / "init.sh"
PORT = 900
MEMORY_MIB = 256
MODULES = (
    "target_core_file", "tcm_loop",  # SCSI disks made of files
    "sd_mod", "sg", "ext4", "xfs",
    "iscsi_target_mod", "iscsi_tcp",  # disks of several guests
    "dm_mod", "dm_multipath", "dm_round_robin", "raid1",  # what takes disks
)  # fmt: skip
WIRE = "depth=64,gro=1"  # without gro it loses the large frames that the machine, or another guest, sends
BOOT_S, COMMAND_S = 60, 60


class Started:
    """A program that runs in a guest until its end, or that of the `with` statement."""

    def __init__(self, guest: "Guest", words: tuple[str | Path, ...]):
        self.words = words
        self.process = subprocess.Popen(
            guest.command(*words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def __enter__(self) -> "Started":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Waits for the condition as long as the program runs."""

        def check() -> bool:
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.words} has ended: {self.process.stdout.read()}")
            return condition()

        until(check, what)

    def ends(self) -> None:
        """Well, and of itself."""
        output, _ = self.process.communicate(timeout=COMMAND_S)
        assert self.process.returncode == 0, output


class Guest:
    """Up from its construction to close(), which is a power cut. `folder` is where it may write; its kernel may be told
    more parameters."""

    share, wire_inside, modules, slowness = "hostfs", "vec0", MODULES, 1

    def __init__(self, network: Network, folder: Path, *parameters: str):
        self.parameters = parameters
        self.network, self.folder, self.packages = network, folder, packages.unpacked()
        self.around, self.console = network.around, folder / "console"
        self.wire, self.address = network.join()
        self._sockets: list[socket.socket] = []
        self.process = self._boot()
        try:
            until(self._is_up, "the guest's boot", BOOT_S * self.slowness)
        except Timeout as failure:
            self.close()
            raise RuntimeError(f"{failure}; its console:\n{self.said()}") from failure

    def _boot(self) -> subprocess.Popen:
        with open(self.console, "wb") as console:
            return subprocess.Popen(
                self.around.command("setpriv", "--pdeathsig", "KILL", *self._machine()),
                stdin=subprocess.DEVNULL, stdout=console, stderr=console,
            )  # fmt: skip

    def _machine(self) -> list[str | Path]:
        """The words of a command that is the guest."""
        return [
            "unshare", "--pid", "--fork", "--kill-child",
            self.packages / "usr/bin/linux.uml", f"mem={MEMORY_MIB}M", "root=/dev/root", "rootfstype=hostfs",
            "rootflags=/", "ro", "quiet", "console=tty0", "con=null", "con0=null,fd:1",
            f"vec0:transport=tap,ifname={self.wire},{WIRE}", *self.parameters,
            f"init={INIT}", "--", *self._init(self.packages / "usr/lib/uml/modules"),
        ]  # fmt: skip

    def _init(self, modules: Path) -> list[str | Path]:
        """What INIT is told; `modules` has a folder for the kernel's release."""
        return [self.packages, modules, self.share, self.folder, self.wire_inside, self.address, PORT, *self.modules]

    def close(self) -> None:
        for listener in self._sockets:
            listener.close()
        self.process.kill()
        self.process.wait()

    def _is_up(self) -> bool:
        self.check_alive()
        try:
            self.connect().close()
            return True
        except OSError:
            return False

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def check_alive(self) -> None:
        if not self.is_alive():
            raise RuntimeError(f"the guest has ended, status {self.process.returncode}; its console:\n{self.said()}")

    def said(self) -> str:
        """The end of its console."""
        return self.console.read_text(errors="replace")[-4000:]

    # ---- inside ----

    def connect(self, timeout: float | None = BOOT_S, **request) -> socket.socket:
        """A connection to what serves the guest, with a request if there is one."""
        connection = self.around.in_network(lambda: socket.create_connection((self.address, PORT), timeout=timeout))
        if request:
            connection.sendall(json.dumps(request).encode() + b"\n")
        return connection

    def try_to_run(self, *words: str | Path, timeout: float = COMMAND_S) -> tuple[int, str]:
        """A program's status, and what it printed."""
        self.check_alive()
        try:
            with self.connect(timeout, run=[str(word) for word in words]) as connection:
                answer = json.loads(connection.makefile().read())
        except (OSError, ValueError) as failure:
            self.check_alive()
            raise RuntimeError(f"{words} in the guest: {failure}:\n{self.said()}") from failure
        return answer["status"], answer["output"] + answer["error"]

    def run(self, *words: str | Path, timeout: float = COMMAND_S) -> str:
        """What a program printed that ended well."""
        status, output = self.try_to_run(*words, timeout=timeout)
        if status:
            raise RuntimeError(f"{words} in the guest: status {status}: {output}")
        return output

    def shell(self, script: str, timeout: float = COMMAND_S) -> str:
        return self.run("sh", "-ec", script, timeout=timeout)

    def packaged(self, program: str, *words: str) -> list[str]:
        """The words that run a program that the guest brings itself."""
        libraries = f"LD_LIBRARY_PATH={self.packages}/lib/x86_64-linux-gnu:{self.packages}/usr/lib/x86_64-linux-gnu"
        return ["env", libraries, f"{self.packages}/sbin/{program}", *words]

    def command(self, *words: str | Path) -> list[str]:
        """What, run on the machine, is a program in the guest: its output, its signals, its status."""
        tied = ["setpriv", "--pdeathsig", "KILL"]
        return self.around.command(*tied, sys.executable, HERE / "remote.py", self.address, PORT, *words)

    def started(self, *words: str | Path) -> Started:
        return Started(self, words)

    # ---- around it ----

    def reach(self, port: int) -> None:
        """Makes a port of the machine's loopback one of the guest's, too."""
        self.network.reach(port)
        connection = self.connect(reach=[port, MACHINE])
        assert connection.makefile().readline(), self.said()
        self._sockets.append(connection)

    def show_socket(self, path: Path) -> None:
        """Makes a socket of the guest, which may come later, one of the machine's, at the same path."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen(64)
        self._sockets.append(listener)
        forward(listener, lambda: self.connect(None, connect=str(path)))
