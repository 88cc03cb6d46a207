"""A workload in a guest that writes to a mounted volume all the time, and knows what it was acknowledged. Run inside:

    pod.py SOCKET HERTZ

Each connection is one request, a line of JSON, {"what": {arguments}}; the methods of Requests say which there
are. The answer is a line, too. What is acknowledged is kept in memory, so not on the disk.
"""

import ctypes
import errno
import fcntl
import json
import mmap
import os
import socket
import struct
import sys
import threading

import records
import scsi
import tsc
from records import LOG, RAW, REGISTER, Record

PAUSE_S = 0.005  # after a failure: the next one comes at once
FS_IOC_SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2
MNT_DETACH = 2
REFUSED = (errno.EBADE,)  # a reservation conflict: the disk has not done it, and never will

libc = ctypes.CDLL(None, use_errno=True)


def now() -> float:
    """In seconds, by a clock that all pods have in common."""
    return tsc.ticks() / HERTZ


class Workload:
    """Appends records to the file `log`, each with fsync; and writes and reads the one record of the file `register`,
    past all caches. `owner` is who it is in its records."""

    def __init__(self, folder: str, log: str, register: str, owner: str):
        self.folder, self.owner = folder, owner
        self.log, self.register = os.path.join(folder, log), os.path.join(folder, register)
        self.stop, self.began = threading.Event(), now()
        # Number, invoked, ended, errno.
        self.appended: list[tuple[int, float, float, int]] = []
        self.written: list[tuple[int, float, float, int]] = []
        # Value ([owner, number] or null), invoked, ended.
        self.read: list[tuple[list | None, float, float]] = []
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self._append, self._write, self._read)]
        self.threads[0].start()
        self._prepare_register()
        for thread in self.threads[1:]:
            thread.start()

    def _prepare_register(self) -> None:
        """So that writing to it changes nothing else on the disk."""
        try:
            with open(self.register, "xb") as file:
                file.write(bytes(mmap.PAGESIZE))
                os.fsync(file.fileno())
            folder = os.open(self.folder, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        except FileExistsError:
            pass
        except OSError:  # the writes will say so
            pass

    def _append(self) -> None:
        fd = -1

        def append(number: int) -> None:
            nonlocal fd
            if fd < 0:
                fd = os.open(self.log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
            os.write(fd, records.block(Record(self.owner, LOG, number)))
            os.fsync(fd)

        self._repeat(append, self.appended)
        if fd >= 0:
            os.close(fd)

    def _write(self) -> None:
        page, fd = mmap.mmap(-1, records.SIZE), -1

        def write(number: int) -> None:
            nonlocal fd
            if fd < 0:
                fd = os.open(self.register, os.O_WRONLY | os.O_DIRECT | os.O_DSYNC)
            page[:] = records.block(Record(self.owner, REGISTER, number))
            os.pwritev(fd, [page], 0)

        self._repeat(write, self.written)
        if fd >= 0:
            os.close(fd)

    def _repeat(self, action, done: list) -> None:
        number = 0
        while not self.stop.is_set():
            number, invoked, error = number + 1, now(), 0
            try:
                action(number)
            except OSError as failure:
                error = failure.errno
            done.append((number, invoked, now(), error))
            if error:
                self.stop.wait(PAUSE_S)

    def _read(self) -> None:
        page = mmap.mmap(-1, records.SIZE)
        while not self.stop.is_set():
            invoked = now()
            try:
                fd = os.open(self.register, os.O_RDONLY | os.O_DIRECT)
                try:
                    os.preadv(fd, [page], 0)
                finally:
                    os.close(fd)
            except OSError:  # nothing was seen
                self.stop.wait(PAUSE_S)
                continue
            self.read.append((self._value(bytes(page)), invoked, now()))
            self.stop.wait(PAUSE_S)

    @staticmethod
    def _value(data: bytes) -> list | None:
        record = records.parse(data)
        if record:
            return [record.owner, record.number]
        return ["torn", 0] if any(data) else None

    def acknowledged(self) -> int:
        return sum(not error for *_, error in self.appended)

    def attempts_since(self, moment: float) -> int:
        """Of each kind, at least so many were begun and have ended."""
        return min(sum(invoked > moment for _, invoked, *_ in done) for done in (self.appended, self.written))

    def end(self) -> dict:
        self.stop.set()
        for thread in self.threads:
            thread.join()
        return {
            "owner": self.owner,
            "began": self.began,
            LOG: self.appended,
            REGISTER: self.written,
            "refused": [number for number, _, _, error in self.written if error in REFUSED],
            "read": self.read,
        }


class Requests:
    def __init__(self):
        self.workload: Workload | None = None

    def begin(self, **where: str) -> float:
        self.workload = Workload(**where)
        return self.workload.began

    def acknowledged(self) -> int:
        return self.workload.acknowledged()

    def attempts_since(self, moment: float) -> int:
        return self.workload.attempts_since(moment)

    def end(self) -> dict:
        """All that it has done."""
        found, self.workload = self.workload.end(), None
        return found

    def logs(self, folder: str) -> list[Record]:
        """Of all logs of a volume, as they are on the disk."""
        found = []
        for name in sorted(os.listdir(folder)):
            if name.startswith(LOG):
                data = past_caches(os.path.join(folder, name))
                found += [records.parse(data[at : at + records.SIZE]) for at in range(0, len(data), records.SIZE)]
        return [record for record in found if record]

    def holder(self, device: str) -> str:
        """The key of whoever has reserved it."""
        found = scsi.ask(device, scsi.READ_RESERVATION)
        return f"0x{found[:8].hex()}" if found else ""

    def write_raw(self, device: str, offset: int, owner: str) -> int:
        """Past the file system; errno."""
        page = mmap.mmap(-1, mmap.PAGESIZE)
        page[: records.SIZE] = records.block(Record(owner, RAW, 1))
        try:
            fd = os.open(device, os.O_WRONLY | os.O_DIRECT)
            try:
                os.pwritev(fd, [page], offset)
            finally:
                os.close(fd)
        except OSError as failure:
            return failure.errno
        return 0

    def cut_power(self, folder: str) -> dict | None:
        """What a machine leaves of a mounted file system: from one moment on nothing is written any more, and then it is
        not mounted. All that the workload has done, if there is one."""
        moment = now()
        try:
            fd = os.open(folder, os.O_RDONLY)
            fcntl.ioctl(fd, FS_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
            os.close(fd)
        except OSError as failure:
            if failure.errno != errno.EIO:  # it has given up already
                raise
        found = self.workload and unheard_of(self.end(), moment)
        if libc.umount2(folder.encode(), MNT_DETACH):
            raise OSError(ctypes.get_errno(), f"unmounting {folder}")
        return found


def unheard_of(done: dict, moment: float) -> dict:
    """Nobody hears of what ends after a power cut; a file system that is shut down meanwhile may well say that it was done."""
    for kind in (LOG, REGISTER):
        done[kind] = [(*which, ended, error if ended < moment else errno.EIO) for *which, ended, error in done[kind]]
    return done | {"read": [(*which, ended) for *which, ended in done["read"] if ended < moment]}


def past_caches(path: str) -> bytes:
    fd, found = os.open(path, os.O_RDONLY | os.O_DIRECT), b""
    chunk = mmap.mmap(-1, 1 << 20)
    while n := os.preadv(fd, [chunk], len(found)):
        found += chunk[:n]
        if n % mmap.PAGESIZE:  # the end of the file
            break
    os.close(fd)
    return found


def serve(listener: socket.socket, requests: Requests) -> None:
    while True:
        connection, _ = listener.accept()
        with connection:
            line = connection.makefile().readline()
            if not line:
                continue
            [(what, arguments)] = json.loads(line).items()
            try:
                answer = {"answer": getattr(requests, what)(**arguments)}
            except OSError as failure:
                answer = {"failure": f"{what}: {failure}"}
            connection.sendall(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    HERTZ = float(sys.argv[2])
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen()
    serve(listener, Requests())
