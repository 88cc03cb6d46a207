"""kube_probe as a process, and a wire to the API server that a test can cut."""

import json
import random
import signal
import socket
import subprocess
import threading
from pathlib import Path

from cluster.waiting import until

PROGRAM = Path(__file__).parents[2] / "build/checked/test/integration/kube_probe"


class Probe:
    """Runs from its construction to end(), or to the end of a with statement. `lines` grows."""

    def __init__(self, kubeconfig: Path, *arguments):
        words = [PROGRAM, kubeconfig, *map(str, arguments)]
        pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        self.process = subprocess.Popen(words, **pipe)
        self.lines: list[str] = []
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def __enter__(self) -> "Probe":
        return self

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.end()

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> None:
        """SIGTERM; it must end well, and so must what its sanitizers have to say."""
        self.send(signal.SIGTERM)
        status = self.process.wait(30)
        self.reader.join()
        assert status == 0, "\n".join(self.lines[-40:])

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.reader.join()

    def has(self, line: str) -> bool:
        return line in self.lines

    def until(self, line: str) -> None:
        until(lambda: self.has(line), f"{line!r} from the probe", interval=0.01)

    def failures(self) -> list[str]:
        return [line for line in self.lines if line.startswith("failed ")]

    def objects(self) -> dict[str, str]:
        """What a mirror holds by now: name and version."""
        held = {}
        for kind, name, *rest in (line.split(" ") for line in list(self.lines) if " " in line):
            if kind == "put":
                held[name] = rest[0]
            if kind == "gone":
                del held[name]
        return held


class Wire:
    """Carries connections to a port of this machine. Cut, they are reset in the middle of whatever
    they carry; refused, there are no new ones."""

    def __init__(self, port: int):
        self.target = port
        self.refusing = False
        self.ends: list[socket.socket] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def kubeconfig(self, original: Path, path: Path) -> Path:
        """A copy that goes through the wire."""
        content = json.loads(original.read_text())
        content["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{self.port}"
        path.write_text(json.dumps(content))
        return path

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if self.refusing:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self.target), 5)
            except OSError:
                near.close()
                continue
            self.ends += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    @staticmethod
    def _carry(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(random.randint(1, 5000)):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def cut(self) -> None:
        for end in self.ends:
            try:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()
        self.ends.clear()

    def close(self) -> None:
        self.refusing = True
        self.listener.close()
        self.cut()
