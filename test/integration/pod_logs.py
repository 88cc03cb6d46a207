"""Logs of pods, which an API server without kubelets does not have: a small server that has little else."""

import http.server
import json
import threading
import urllib.parse
from pathlib import Path

from .answering import Answering

PLANTED = "pl4nt3d"  # in each secret of the tests
LABELS = {"app.kubernetes.io/part-of": "azuredisk-csi-driver"}


class Logs:
    """An API server with these pods, and `lists` of other objects by their paths; `logs` by pod and container."""

    def __init__(self, folder: Path, pods: list[dict], logs: dict[tuple[str, str, bool], bytes | int],
                 lists: dict[str, list[dict]] | None = None):
        self.asked: list[str] = []
        outer, refusal = self, {"kind": "Status", "status": "Failure", "message": f"no log token={PLANTED}", "reason": "Forbidden"}

        class Handler(Answering):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                url = urllib.parse.urlparse(self.path)
                query = urllib.parse.parse_qs(url.query)
                outer.asked.append(self.path)
                if url.path.endswith("/log"):
                    name = urllib.parse.unquote(url.path.split("/")[-2])
                    log = logs[name, query["container"][0], query["previous"] == ["true"]]
                    return self.answer(200, log) if isinstance(log, bytes) else self.answer(log, json.dumps(refusal).encode())
                found = ({"/api/v1/pods": pods} | (lists or {})).get(url.path, [])
                return self.answer(200, json.dumps({"metadata": {"resourceVersion": "1"}, "items": found}).encode())

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.kubeconfig = kubeconfig(folder / "logs.conf", self.server.server_port)

    def __enter__(self) -> "Logs":
        return self

    def __exit__(self, *_) -> None:
        self.server.shutdown()
        self.server.server_close()


def kubeconfig(path: Path, port: int) -> Path:
    """Written: of a server at this port."""
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": {"token": f"{PLANTED}-own"}}],
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
    return path


def pod(name: str, *containers: str, previous: bool = False, owner: str = "ReplicaSet",
        node: str = "n") -> dict:
    statuses = [{"name": c, "containerID": "x", "lastState": {"terminated": {"exitCode": 1}} if previous else {}} for c in containers]
    return {"metadata": {"name": name, "namespace": "kube-system", "labels": LABELS, "ownerReferences": [{"kind": owner}]},
            "spec": {"nodeName": node},
            "status": {"containerStatuses": [*statuses, {"name": "has not run"}]}}
