"""azdiskctl comes to a cluster as kubectl does: by several kubeconfigs, by a context, as somebody else."""

import http.server
import json
import os
import subprocess
import threading

import pytest
from cluster import tools

from .answering import Answering
from .azdiskctl import PROGRAM, Calls
from .driver_world import World

RBAC = "rbac.authorization.k8s.io"
NOWHERE = "https://127.0.0.1:1"


@pytest.fixture(scope="module")
def world(tmp_path_factory, apiserver):
    with World(tmp_path_factory.mktemp("world"), apiserver) as world:
        yield world


@pytest.fixture(scope="module")
def readers(world):
    """A group that may read everything."""
    name = f"{world.namespace}-readers"
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list"]}]
    world.custom.create_cluster_custom_object(RBAC, "v1", "clusterroles", {
        "apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules})
    world.custom.create_cluster_custom_object(RBAC, "v1", "clusterrolebindings", {
        "apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "Group", "apiGroup": RBAC, "name": name}]})
    yield name
    for plural in ("clusterrolebindings", "clusterroles"):
        world.custom.delete_cluster_custom_object(RBAC, "v1", plural, name)


class Kubeconfigs:
    """A list of two files that exist: `contexts`, which has the first word, and the administrator's."""

    def __init__(self, world: World):
        self.world = world
        admin = world.apiserver.kubeconfig
        document = json.loads(admin.read_text())
        self.admin, self.cluster = document["users"][0]["name"], document["clusters"][0]["name"]
        self.path = world.folder / "contexts"
        self.list = f"{world.folder}/none:{self.path}::{admin}"

    def write(self, impersonation: dict, server: str = NOWHERE) -> None:
        user = json.loads(self.world.apiserver.kubeconfig.read_text())["users"][0]["user"] | impersonation
        context = {"cluster": self.cluster, "user": self.admin}
        self.path.write_text(json.dumps({
            "current-context": "elsewhere",
            "clusters": [{"name": "nowhere", "cluster": {"server": server}}],
            "users": [{"name": "other", "user": user}],
            "contexts": [{"name": "elsewhere", "context": context | {"cluster": "nowhere", "user": "other"}},
                         {"name": "there", "context": context | {"namespace": self.world.namespace}},
                         {"name": "other", "context": context | {"user": "other"}}]}))

    def calls(self, *flags: str) -> Calls:
        return Calls(self.list, self.world.namespace, *flags)


@pytest.fixture
def kubeconfigs(world):
    kubeconfigs = Kubeconfigs(world)
    kubeconfigs.write({})
    return kubeconfigs


def refused(calls: Calls, *words: str) -> str:
    return calls.outputs(*words, status=2)[1]


def test_contexts(world, kubeconfigs):
    assert NOWHERE in refused(kubeconfigs.calls(), "map"), "the first file's current context wins"
    assert kubeconfigs.calls("--context", "there").ask("map")["nodes"]
    assert kubeconfigs.calls(f"--context={kubeconfigs.admin}").ask("map")["nodes"], "that of the second file"
    message = refused(kubeconfigs.calls("--context", "here"), "map")
    assert 'no entry named "here"; the contexts are "elsewhere", "there", "other", "admin"' in message


def test_a_contexts_namespace(world, kubeconfigs):
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"metadata": {"name": "data"}, "spec": spec}
    world.core.create_namespaced_persistent_volume_claim(world.namespace, claim)
    there = kubeconfigs.calls("--context=there")
    there.ask("why", "pvc/data")
    assert "default/data" in refused(there, "why", "pvc/data", "-n", "default")
    assert "default/data" in refused(kubeconfigs.calls("--context=admin"), "why", "pvc/data")


def test_somebody_else(world, kubeconfigs, readers):
    there = kubeconfigs.calls("--context=there")
    message = refused(there, "map", "--as", "reader")
    assert 'User "reader" cannot list resource' in message and "HTTP 403" in message
    assert there.ask("map", "--as", "reader", "--as-group=x,y", "--as-group", readers)["nodes"]
    assert "groups, but no user to impersonate" in refused(there, "map", "--as-group", readers)
    assert "--as: " in refused(there, "map", "--as", "a\r\nImpersonate-Group: system:masters")


def test_somebody_else_by_the_kubeconfig(world, kubeconfigs, readers):
    other = kubeconfigs.calls("--context=other")
    kubeconfigs.write({"as": "reader", "as-uid": "7", "as-user-extra": {"example.com/team a": ["x", "y"]}})
    assert 'User "reader" cannot list resource' in refused(other, "map")
    kubeconfigs.write({"as": "reader", "as-groups": [readers]})
    assert other.ask("map")["nodes"]
    assert other.ask("map", "--as", "somebody")["nodes"], "the groups stay, as with kubectl"
    assert 'User "reader" cannot list resource' in refused(other, "map", "--as-group", "nobodies")


# ---- what kubectl does ----

class Listener:
    """A server that refuses everything, and knows whom the last request was to be from."""

    def __init__(self):
        listener = self

        class Handler(Answering):
            def do_GET(self):
                listener.impersonated = sorted((name.lower(), value) for name, value in self.headers.items()
                                               if name.lower().startswith("impersonate-"))
                self.send_error(403)

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def hears(self, kubeconfig: str, *words) -> list[tuple[str, str]] | None:
        """None: there was no request."""
        self.impersonated = None
        environment = os.environ | {"KUBECONFIG": kubeconfig, "ASAN_OPTIONS": "detect_stack_use_after_return=0"}
        assert subprocess.run(words, env=environment, capture_output=True, timeout=60).returncode != 0
        return self.impersonated


BOB = {"as": "bob", "as-uid": "7", "as-groups": ["CN=a,O=b", "c"],
       "as-user-extra": {"scopes": ["x", "y"], "example.com/team a%": ["J\u00fcrgen"]}}
FLAGS = [[], ["--as=eve"], ["--as=eve", "--as-uid", "8"], ["--as-group=d,e", "--as-group", "f"],
         ["--as=eve", "--as-group=d", "--as-uid=8"]]


@pytest.mark.parametrize("impersonation", [{}, BOB], ids=["nobody", "bob"])
def test_as_kubectl_does(kubeconfigs, impersonation):
    kubectl, listener = tools.folder() / "kubectl", Listener()
    kubeconfigs.write(impersonation, listener.url)
    for flags in FLAGS:
        heard = listener.hears(kubeconfigs.list, PROGRAM, "map", *flags)
        assert heard == listener.hears(kubeconfigs.list, kubectl, "get", "--raw=/x", *flags), flags
        user = "eve" if "--as=eve" in flags else impersonation.get("as")
        assert user is None or ("impersonate-user", user) in heard, flags
    listener.close()
