"""azdiskctl with a kubeconfig whose credentials a plug-in makes, as kubelogin does, and through a proxy."""

import json
import os
import signal
import socket
import subprocess
import threading
from pathlib import Path

import pytest
from cluster.waiting import until

from .azdiskctl import PROGRAM
from .driver_world import World

VERSION = "client.authentication.k8s.io/v1"
NOBODY = "azdisk-nobodys-token"


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver) as world:
        yield world


@pytest.fixture
def token(world):
    """Of an account that may do everything here."""
    core, rbac = world.core, "rbac.authorization.k8s.io"
    core.create_namespaced_service_account(world.namespace, {"metadata": {"name": "person"}})
    binding = {"apiVersion": f"{rbac}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": world.namespace},
               "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "cluster-admin"},
               "subjects": [{"kind": "ServiceAccount", "name": "person", "namespace": world.namespace}]}
    world.custom.create_cluster_custom_object(rbac, "v1", "clusterrolebindings", binding)
    yield core.create_namespaced_service_account_token("person", world.namespace, {"spec": {}}).status.token
    world.custom.delete_cluster_custom_object(rbac, "v1", "clusterrolebindings", world.namespace)


class Login:
    """A kubeconfig with a plug-in: a script beside it, which notes each run."""

    def __init__(self, world: World, script: str):
        self.world, self.folder = world, world.folder
        self.environment: dict[str, str] = {}
        self.runs, plugin = self.folder / "runs", self.folder / "login"
        self.runs.write_text("")
        plugin.write_text(f"#!/bin/sh\necho $$ >>{self.runs}\n{script}\n")
        plugin.chmod(0o755)
        user = {"exec": {"apiVersion": VERSION, "command": "./login", "interactiveMode": "IfAvailable",
                         "installHint": "see its page"}}
        self.kubeconfig(user)

    def kubeconfig(self, user: dict, cluster: dict | None = None) -> None:
        document = json.loads(self.world.apiserver.kubeconfig.read_text())
        document["users"][0]["user"] = user
        document["clusters"][0]["cluster"] |= cluster or {}
        self.path = self.folder / "config"
        self.path.write_text(json.dumps(document))

    def start(self, *words: str) -> subprocess.Popen:
        flags = [f"--kubeconfig={self.path}", f"--object-namespace={self.world.namespace}"]
        environment = os.environ | {"ASAN_OPTIONS": "detect_stack_use_after_return=0"} | self.environment
        return subprocess.Popen([PROGRAM, *flags, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)

    def asks(self, *words: str, status: int = 0) -> tuple[str, str]:
        process = self.start(*words)
        output, errors = process.communicate(timeout=120)
        assert process.returncode == status, f"status {process.returncode}: {output}{errors}"
        return output, errors

    def pids(self) -> list[int]:
        return list(map(int, self.runs.read_text().split()))


def says(token: str) -> str:
    credential = {"apiVersion": VERSION, "kind": "ExecCredential", "status": {"token": token}}
    return f"echo '{json.dumps(credential)}'"


def test_a_plugin_is_run_once(world, token):
    login = Login(world, f"echo enter the code >&2\n{says(token)}")
    output, errors = login.asks("map", "-o", "json")
    assert json.loads(output)["nodes"] and "enter the code" in errors
    assert len(login.pids()) == 1
    assert token not in output + errors


def test_a_token_that_is_refused_is_had_anew(world, token):
    login = Login(world, f"[ $(wc -l <{world.folder}/runs) -gt 1 ] && {says(token)} || {says(NOBODY)}")
    login.asks("map")
    assert len(login.pids()) == 2


def test_a_plugin_without_a_good_token(world):
    login = Login(world, says(NOBODY))
    _, errors = login.asks("map", status=2)
    assert "401" in errors and NOBODY not in errors


def test_a_plugin_that_fails(world):
    login = Login(world, "echo no such tenant >&2\nexit 3")
    output, errors = login.asks("map", status=2)
    assert not output and "no such tenant" in errors
    assert f"the credential plug-in {world.folder}/./login: it ended with exit status 3" in errors


def test_a_plugin_that_is_not_there(world):
    login = Login(world, "")
    (world.folder / "login").unlink()
    _, errors = login.asks("map", status=2)
    assert "login (see its page)" in errors and "no such file" in errors


def test_ctrl_c_ends_both(world):
    login = Login(world, "exec sleep 1000")
    process = login.start("map")
    [plugin] = until(login.pids, "the plug-in")
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) != 0
    until(lambda: not Path(f"/proc/{plugin}").exists(), "the plug-in has ended")


class Proxy:
    """Lets one connection after the other through, as CONNECT says, and notes where to."""

    def __init__(self):
        self.asked: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            near, _ = self._listener.accept()
            head = b""
            while b"\r\n\r\n" not in head:
                head += near.recv(4096)
            target = head.split()[1].decode()
            self.asked.append(target)
            host, _, port = target.partition(":")
            far = socket.create_connection((host, int(port)))
            near.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._copy, args=(one, other), daemon=True).start()

    @staticmethod
    def _copy(one: socket.socket, other: socket.socket) -> None:
        try:
            while data := one.recv(65536):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        except OSError:  # the other side has ended
            pass


def test_a_proxy(world, token):
    proxy, login = Proxy(), Login(world, "")
    login.kubeconfig({"token": token}, {"proxy-url": proxy.url})
    login.asks("map")
    assert set(proxy.asked) == {f"127.0.0.1:{world.apiserver.port}"}


def test_the_environment_does_not_except_anything_from_a_proxy_that_is_named(world, token):
    proxy, login = Proxy(), Login(world, "")
    login.kubeconfig({"token": token}, {"proxy-url": proxy.url})
    login.environment = {"NO_PROXY": "127.0.0.1"}
    login.asks("map")
    assert proxy.asked


def test_this_machine_is_reached_without_the_proxy_of_the_environment(world, token):
    proxy, login = Proxy(), Login(world, "")
    login.kubeconfig({"token": token})
    login.environment = {"HTTPS_PROXY": proxy.url, "NO_PROXY": ""}
    login.asks("map")
    assert not proxy.asked
