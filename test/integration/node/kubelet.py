"""kubelet's watcher of plug-ins: a socket that appears is asked who it is, and is told how its
registration went. One that stays where it is is not asked again, however that was.

As in pkg/kubelet/pluginmanager/pluginwatcher: a file appears when it is made or renamed to its name,
and names that begin with a dot are passed over.
"""

import ctypes
import os
import select
import struct
import threading
import time
from pathlib import Path

from ..csi import Caller

IN_MOVED_TO, IN_CREATE = 0x80, 0x100
EVENT_HEAD = struct.Struct("iIII")  # watch, mask, cookie, length of the name

_libc = ctypes.CDLL(None, use_errno=True)


class Kubelet:
    """Refuses as often as there are `refusals`, with these words, and is content from then on."""

    def __init__(self, socket: Path, refusals: list[str]):
        self.socket, self.refusals = socket, list(refusals)
        self.asked: list[float] = []  # when
        self.content = threading.Event()
        self._watch = _libc.inotify_init1(os.O_NONBLOCK)
        assert _libc.inotify_add_watch(self._watch, bytes(socket.parent), IN_CREATE | IN_MOVED_TO) > 0
        self._end, self._ended = os.pipe()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        os.close(self._ended)
        self._thread.join()
        os.close(self._end)
        os.close(self._watch)

    def _run(self) -> None:
        while True:
            ready, _, _ = select.select([self._watch, self._end], [], [])
            if self._end in ready:
                return
            for name in self._appeared():
                if name == self.socket.name:
                    self._ask()

    def _appeared(self) -> list[str]:
        events, names = os.read(self._watch, 65536), []
        while events:
            *_, length = EVENT_HEAD.unpack_from(events)
            end = EVENT_HEAD.size + length
            names.append(events[EVENT_HEAD.size : end].rstrip(b"\0").decode())
            events = events[end:]
        return names

    def _ask(self) -> None:
        self.asked.append(time.monotonic())
        refusal = self.refusals.pop(0) if self.refusals else ""
        plugin = Caller(self.socket, "lib/api/pluginregistration.proto", "pluginregistration")
        assert plugin.call("Registration/GetInfo").type == "CSIPlugin"
        plugin.call("Registration/NotifyRegistrationStatus", plugin_registered=not refusal, error=refusal)
        plugin.close()
        if not refusal:
            self.content.set()
