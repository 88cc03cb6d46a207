"""A real API server: etcd and kube-apiserver on loopback ports, without nodes and controllers.

Objects can be written, read and watched, and nothing acts on them. The server can be killed, stopped
and continued, its history compacted, and its content restored from a backup, as clients of a
long-lived one meet it sooner or later.
"""

import base64
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import urllib.request
from pathlib import Path

from cluster import tools
from cluster.authority import Authority
from cluster.process import Process
from cluster.waiting import until
from kubernetes import client, config


# Below the driver's own (29602 and above), and those that the kernel gives to the near end of a connection.
PORTS = range(20000, 29000)
_claims: list[socket.socket] = []
ROOMY = os.environ | {"GOGC": "200"}  # a sixth less of CPU time, for 100 MB


def free_port() -> int:
    """A port of the loopback that is this process's until it ends: suites run side by side, and it
    may be some time before a program listens there. The claim is a name that the kernel knows."""
    while True:
        port = random.choice(PORTS)
        claim = socket.socket(socket.AF_UNIX)
        with socket.socket() as listener:
            try:
                claim.bind(f"\0azdisk-test-port-{port}")
                listener.bind(("127.0.0.1", port))
            except OSError:
                claim.close()
                continue
        _claims.append(claim)
        return port


class ApiServer:
    """Runs from its construction to close(). `kubeconfig` is the path of an administrator's file. `release`: one of
    tools.RELEASES; that of the clusters, if none is named."""

    def __init__(self, folder: Path, release: str | None = None):
        tools.build()
        of_release = tools.RELEASES[release] if release else tools.PROGRAMS
        tools.build(of_release)
        self.folder, self.programs = folder, tools.folder(of_release)
        self.port = free_port()
        self.etcd = f"http://127.0.0.1:{free_port()}"
        self.authority = Authority(folder / "pki", f"https://127.0.0.1:{self.port}")
        self.authority.create()
        self.authority.certificate("apiserver", "/CN=kube-apiserver", "DNS:localhost,IP:127.0.0.1")
        self.kubeconfig = self.authority.kubeconfig("admin", "/O=system:masters/CN=admin")
        # kube-apiserver gives up after 20 s, which a busy disk can take to make etcd's files.
        self._restart_etcd()
        self._server = self._start_server()
        self._until_ready()

    def close(self) -> None:
        for process in (self._server, self._etcd):
            process.kill()
            process.wait()

    def client(self) -> client.ApiClient:
        """Of the official package; wrap it in client.CoreV1Api and the like."""
        return config.new_client_from_config(str(self.kubeconfig))

    def audit(self) -> list[dict]:
        """What service accounts have asked for, in order."""
        path = self.folder / "audit.log"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def everything(self) -> bytes:
        """All that etcd has, as it is stored."""
        found = self._ask_etcd("kv/range", {"key": "AA==", "range_end": "AA=="})["kvs"]
        return b"\n".join(base64.b64decode(entry["key"]) + b" " + base64.b64decode(entry["value"]) for entry in found)

    # ---- what may happen to it ----

    def kill(self) -> None:
        """SIGKILL: every connection breaks, and nobody listens until restart()."""
        self._server.kill()
        self._server.wait()

    def restart(self) -> None:
        """SIGKILL, if it runs, and a new one; what it remembers of the past is gone."""
        self.kill()
        self._server = self._start_server()
        self._until_ready()

    def stop(self) -> None:
        """SIGSTOP: connections stay, and nothing is answered until cont()."""
        Process.of(self._server.pid).stop()

    def cont(self) -> None:
        self._server.send_signal(signal.SIGCONT)

    def compact(self) -> None:
        """Forgets all history in etcd; a watch from before it is answered with 410 (Gone)."""
        self._ask_etcd("kv/compaction", {"revision": self._revision(), "physical": True})

    def backup(self, path: Path) -> None:
        """All content of etcd, into a folder that is not there yet."""
        self._stop_etcd()
        shutil.copytree(self.folder / "etcd", path)
        self._restart_etcd()
        self._until_ready()

    def restore(self, path: Path) -> None:
        """As etcd's manual has it for clusters with clients that watch: the revision is higher then than any
        before, and what was before cannot be watched (etcdutl snapshot restore --bump-revision
        --mark-compacted). Here revisions are used up by writes."""
        newest = int(self._revision())
        self.kill()
        self._stop_etcd()
        shutil.rmtree(self.folder / "etcd")
        shutil.copytree(path, self.folder / "etcd")
        self._restart_etcd()
        while int(self._revision()) <= newest:
            self._ask_etcd("kv/put", {"key": "YnVtcA==", "value": "YnVtcA=="})
        self.compact()
        self.restart()

    # ---- processes ----

    def _revision(self) -> str:
        return self._ask_etcd("kv/range", {"key": "AA=="})["header"]["revision"]

    def _stop_etcd(self) -> None:
        self._etcd.terminate()
        self._etcd.wait()

    def _restart_etcd(self) -> None:
        self._etcd = self._start_etcd()
        until(self._etcd_answers, "readiness of etcd", 120)

    def _start(self, program: Path, flags: dict) -> subprocess.Popen:
        """It dies with this process, however that ends."""
        words = [f"--{name}={value}" for name, value in flags.items()]
        tied = ["setpriv", "--pdeathsig", "KILL", program]
        with open(self.folder / f"{program.name}.log", "ab") as log:
            return subprocess.Popen([*tied, *words], stdout=log, stderr=log, env=ROOMY)

    def _start_etcd(self) -> subprocess.Popen:
        peer = f"http://127.0.0.1:{free_port()}"
        flags = {
            "data-dir": self.folder / "etcd",
            "unsafe-no-fsync": "true",
            "listen-client-urls": self.etcd,
            "advertise-client-urls": self.etcd,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"default={peer}",
        }
        return self._start(tools.folder() / "etcd", flags)

    def _start_server(self) -> subprocess.Popen:
        path = self.authority.path
        flags = {
            "etcd-servers": self.etcd,
            "bind-address": "127.0.0.1",
            "advertise-address": "127.0.0.1",
            "endpoint-reconciler-type": "none",  # nobody comes by its Service, which may not have a loopback address
            "secure-port": self.port,
            "tls-cert-file": path("apiserver.crt"),
            "tls-private-key-file": path("apiserver.key"),
            "client-ca-file": path("ca.crt"),
            "service-account-key-file": path("sa.pub"),
            "service-account-signing-key-file": path("sa.key"),
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-cluster-ip-range": "10.96.0.0/16",
            "authorization-mode": "Node,RBAC",
            "disable-admission-plugins": "ServiceAccount",
            "allow-privileged": "true",
            "audit-policy-file": self._audit_policy(),
            "audit-log-path": self.folder / "audit.log",
        }
        return self._start(self.programs / "kube-apiserver", flags)

    def _audit_policy(self) -> Path:
        """Requests of service accounts are written down: who asked for what, and whether it was allowed."""
        accounts = {"level": "Metadata", "userGroups": ["system:serviceaccounts"]}
        policy = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
                  "rules": [accounts, {"level": "None"}]}
        path = self.folder / "audit-policy.json"
        path.write_text(json.dumps(policy))
        return path

    def _until_ready(self) -> None:
        until(self._ready, "readiness of the API server")

    def _ready(self) -> bool:
        if self._server.poll() is not None:
            log = (self.folder / "kube-apiserver.log").read_text()
            raise RuntimeError(f"kube-apiserver ended: {log[-2000:]}")
        kubectl = [tools.folder() / "kubectl", "--kubeconfig", self.kubeconfig]
        kubectl += ["--cache-dir", self.folder / "kubectl", "--request-timeout", "2s"]
        return not subprocess.run([*kubectl, "get", "--raw", "/readyz"], capture_output=True).returncode

    def _etcd_answers(self) -> bool:
        if self._etcd.poll() is not None:
            raise RuntimeError(f"etcd ended: {(self.folder / 'etcd.log').read_text()[-2000:]}")
        try:
            self._ask_etcd("maintenance/status", {})
        except OSError:
            return False
        return True

    def _ask_etcd(self, path: str, question: dict) -> dict:
        body = json.dumps(question).encode()
        request = urllib.request.Request(f"{self.etcd}/v3/{path}", data=body, method="POST")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)
