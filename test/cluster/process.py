"""Processes of this machine as /proc tells of them.

A process is known by its id and start time together, so that an id that was given to a stranger
since is never signalled. Groups of processes are found by their namespaces, never by name.
"""

import fcntl
import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .waiting import Timeout, until

NS_GET_PARENT = 0xB702  # ioctl(2) on a namespace, see ioctl_ns(2)


@dataclass(frozen=True)
class Process:
    pid: int
    started: int  # clock ticks after boot

    @staticmethod
    def of(pid: int) -> "Process | None":
        """None where there is none, or only a zombie that nobody has reaped yet."""
        _, fields = _stat(Path(f"/proc/{pid}"))
        return None if fields[0] in "ZX" else Process(pid, int(fields[19]))

    def alive(self) -> bool:
        return Process.of(self.pid) == self

    def signal(self, number: int) -> None:
        """A process that is gone is left in peace."""
        if not self.alive():
            return
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            if self.alive():  # still, now that the id cannot be given to another
                signal.pidfd_send_signal(descriptor, number)
        except ProcessLookupError:
            pass
        finally:
            os.close(descriptor)

    def stop(self) -> None:
        """SIGSTOP, and back when all threads stand still: the kernel wakes one of them to stop the others, and on a busy
        machine they work on until it has its turn."""
        self.signal(signal.SIGSTOP)
        until(self._stands_still, f"process {self.pid} stands still")

    def cont(self) -> None:
        self.signal(signal.SIGCONT)

    def _stands_still(self) -> bool:
        threads = (_stat(thread) for thread in Path(f"/proc/{self.pid}/task").glob("*"))
        return all(fields[0] in "TXZ" for _, fields in threads)

    def command(self) -> str:
        try:
            return Path(f"/proc/{self.pid}/cmdline").read_text().replace("\0", " ").strip()
        except OSError:
            return ""

    def name_and_state(self) -> str:
        """Such as "12 (pause) S"; the arguments of one that dies are gone before it is."""
        name, fields = _stat(Path(f"/proc/{self.pid}"))
        return f"{name} {fields[0]}"

    def resident_kib(self) -> int:
        """VmRSS, pages shared with others included; 0 for one that is gone."""
        try:
            for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
                if line.startswith("VmRSS:"):
                    return int(line.split()[1])
        except OSError:
            pass
        return 0

    def proportional_kib(self) -> int:
        """Resident memory, with shared pages divided among those that share them."""
        try:
            for line in Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    return int(line.split()[1])
        except OSError:
            pass
        return 0


def _stat(folder: Path) -> tuple[str, list[str]]:
    """Of a process or thread, as in proc_pid_stat(5): its id and name, and the fields from its state on; X, dead, where
    there is none."""
    try:
        name, end, fields = (folder / "stat").read_text().rpartition(")")
        return name + end, fields.split()
    except OSError:
        return folder.name, ["X"]


def kill_all(processes: Iterable[Process]) -> None:
    """SIGKILL, and back when the last one is gone."""
    processes = list(processes)
    for process in processes:
        process.signal(signal.SIGKILL)
    try:
        until(lambda: not any(process.alive() for process in processes), "death of killed processes")
    except Timeout as timeout:
        left = "; ".join(process.name_and_state() for process in processes if process.alive())
        raise Timeout(f"{timeout}: {left}") from None


def namespace(pid: int | str, kind: str) -> int | None:
    """The inode that names a namespace of the process; kind is net, mnt, pid, ..."""
    try:
        return os.stat(f"/proc/{pid}/ns/{kind}").st_ino
    except OSError:
        return None


def mount_table(pid: int) -> str:
    """As in proc_pid_mountinfo(5); nothing of a process that is gone."""
    try:
        return Path(f"/proc/{pid}/mountinfo").read_text()
    except OSError:
        return ""


def everyone() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def in_network(inode: int) -> list[Process]:
    """Those in a network namespace; the pods of a node are in others, below the node's init."""
    found = (Process.of(pid) for pid in everyone() if namespace(pid, "net") == inode)
    return [process for process in found if process]


def below(init: int) -> list[Process]:
    """Those in the process namespace of `init` and in all that are nested in it, init included."""
    root, answers = namespace(init, "pid"), {}

    def inside(pid: int) -> bool:
        inode = namespace(pid, "pid")
        if inode not in answers:
            answers[inode] = root is not None and root in _lineage(pid)
        return answers[inode]

    found = (Process.of(pid) for pid in everyone() if inside(pid))
    return [process for process in found if process]


def _lineage(pid: int) -> list[int]:
    """A process namespace and its ancestors, as far as we may see them."""
    try:
        descriptor = os.open(f"/proc/{pid}/ns/pid", os.O_RDONLY)
    except OSError:
        return []
    inodes = []
    while True:
        inodes.append(os.fstat(descriptor).st_ino)
        try:
            parent = fcntl.ioctl(descriptor, NS_GET_PARENT)
        except OSError:
            return inodes
        finally:
            os.close(descriptor)
        descriptor = parent


def numbered(init: int, number: int) -> Process | None:
    """The process that has this number in the process namespace of `init` itself."""
    space = namespace(init, "pid")
    for pid in everyone():
        if namespace(pid, "pid") == space and _innermost_number(pid) == number:
            return Process.of(pid)
    return None


def _innermost_number(pid: int) -> int | None:
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return int(line.split()[-1])
    except OSError:
        pass
    return None
