"""Logs of pods that grow while they are read, as an API server with kubelets has them: streams that last, break and end."""

import http.server
import json
import threading
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path

from .answering import Answering
from .pod_logs import kubeconfig, pod

DAY = "2026-11-27T"


@dataclass
class Container:
    """What one has said, as lines that begin with their times, and the one before it."""

    lines: list[str] = field(default_factory=list)
    before: list[str] | None = None
    run: int = 1
    running: bool = True
    refusal: int = 0  # the status with which it is refused, if any
    cuts: int = 0  # how often its streams have been broken off
    streams: int = 0  # that are open


class GrowingLogs:
    """An API server with these logs; each pod has one container, "azuredisk". `lists` of other objects by their paths."""

    def __init__(self, folder: Path, lists: dict[str, list[dict]] | None = None):
        self.asked: list[str] = []
        self.lists = lists or {}
        self.pods: dict[str, tuple[dict, Container]] = {}
        self.pods_refused = 0  # the status with which their list is refused, if any
        self.changed = threading.Condition()
        outer = self

        class Handler(Answering):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                url = urllib.parse.urlparse(self.path)
                query = {name: values[0] for name, values in urllib.parse.parse_qs(url.query).items()}
                with outer.changed:
                    outer.asked.append(self.path)
                    outer.changed.notify_all()
                    if outer.pods_refused and url.path == "/api/v1/pods":
                        return self.answer(outer.pods_refused, status("Forbidden"))
                    if not url.path.endswith("/log"):
                        found = outer.described() if url.path == "/api/v1/pods" else outer.lists.get(url.path, [])
                        return self.answer(200, json.dumps({"metadata": {"resourceVersion": "1"}, "items": found}).encode())
                    return outer.send_log(self, url.path.split("/")[-2], query)

            def chunk(self, data: bytes) -> None:
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.kubeconfig = kubeconfig(folder / "growing.conf", self.server.server_port)

    def __enter__(self) -> "GrowingLogs":
        return self

    def __exit__(self, *_) -> None:
        with self.changed:
            self.pods.clear()
            self.changed.notify_all()
        self.server.shutdown()
        self.server.server_close()

    # ---- what happens in the cluster ----

    def add(self, name: str, *lines: str, **how) -> None:
        with self.changed:
            self.pods[name] = (pod(name, "azuredisk", **how), Container([DAY + line for line in lines]))

    def remove(self, name: str) -> None:
        with self.changed:
            del self.pods[name]
            self.changed.notify_all()

    def say(self, name: str, *lines: str) -> None:
        with self.changed:
            self.pods[name][1].lines += [DAY + line for line in lines]
            self.changed.notify_all()

    def cut(self, name: str) -> None:
        """Breaks its streams off, in the middle of a line."""
        with self.changed:
            self.pods[name][1].cuts += 1
            self.changed.notify_all()

    def restart(self, name: str, *lines: str) -> None:
        """After these last words."""
        with self.changed:
            container = self.pods[name][1]
            container.before, container.lines = container.lines + [DAY + line for line in lines], []
            container.run += 1
            self.changed.notify_all()

    def refuse(self, name: str, status: int) -> None:
        with self.changed:
            self.pods[name][1].refusal = status

    def follows(self, name: str) -> bool:
        """A stream of its log is open."""
        with self.changed:
            return self.pods[name][1].streams > 0

    def times_asked(self, *parts: str) -> int:
        with self.changed:
            return sum(all(part in path for part in parts) for path in self.asked)

    # ---- what is answered ----

    def described(self) -> list[dict]:
        for described, container in self.pods.values():
            status = described["status"]["containerStatuses"][0]
            status["containerID"] = f"containerd://{container.run}"
            status["state"] = {"running": {}} if container.running else {"terminated": {}}
            status["lastState"] = {"terminated": {}} if container.before is not None else {}
        return [described for described, _ in self.pods.values()]

    def send_log(self, request: Answering, name: str, query: dict) -> None:
        container = self.pods.get(name, (None, None))[1]
        if not container:
            return request.answer(404, status("NotFound"))
        if container.refusal:
            return request.answer(container.refusal, status("Forbidden"))
        if query["previous"] == "true" and container.before is None:
            return request.answer(400, status("BadRequest"))
        since = query.get("sinceTime", "").rstrip("Z")
        if "follow" not in query:
            lines = container.before if query["previous"] == "true" else container.lines
            return request.answer(200, text_of(lines, since).encode())
        container.streams += 1
        try:
            return self.follow(request, name, container, since)
        except ConnectionError:
            request.close_connection = True  # whoever has read it has gone
        finally:
            container.streams -= 1

    def follow(self, request: Answering, name: str, container: Container, since: str) -> None:
        """As kubelet does: there is no answer before there is a line, and the end of the container is that of the log."""
        run, cuts, sent = container.run, container.cuts, 0
        while True:
            text = text_of(container.lines if container.run == run else container.before, since).encode()
            over = name not in self.pods or container.run != run or not container.running
            if not sent and (text or over):
                request.send_response(200)
                request.send_header("Transfer-Encoding", "chunked")
                request.end_headers()
            if len(text) > sent:
                request.chunk(text[sent:])
                sent = len(text)
            if container.cuts != cuts:
                request.chunk(f"{DAY}23:59:59Z half a li".encode())
                raise ConnectionAbortedError
            if over:
                return request.chunk(b"")
            self.changed.wait()


def status(reason: str) -> bytes:
    return json.dumps({"kind": "Status", "status": "Failure", "message": f"no log: {reason}", "reason": reason}).encode()


def text_of(lines: list[str], since: str) -> str:
    """Those since a second, or all."""
    return "".join(f"{line}\n" for line in lines if line[:len(since)] >= since)
