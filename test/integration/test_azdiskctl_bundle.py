"""azdiskctl bundle: against a real API server, what is collected and what is not; and of pods' logs, which an API server
without kubelets does not have, against a small one that serves little else."""

import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from cluster.waiting import until
from kubernetes import client

from .azdiskctl import Azdiskctl, Calls
from .calls import create, publish
from .driver_world import GROUP, Controller, World
from .kubernetes_side import persistent_volume, volume_attachment
from .pod_logs import LABELS, PLANTED, Logs, pod

DOCUMENT = Path(__file__).parents[2] / "docs/azdiskctl.md"
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, attach="50ms", create="50ms", get="0s") as world:
        yield world


@pytest.fixture
def planted(world):
    """A volume in use, a pod of the driver, and secrets wherever somebody may have put one."""
    core, namespace = world.core, world.namespace
    core.create_namespaced_secret(namespace, {"metadata": {"name": "team"}, "stringData": {"key": f"{PLANTED}-secret"}})
    env = [{"name": "AZURE_X", "value": f"{PLANTED}-env"},
           {"name": "Y", "valueFrom": {"secretKeyRef": {"name": "team", "key": "key"}}}]
    annotations = {APPLIED: json.dumps({"x": f"{PLANTED}-applied"}), "note": f"Bearer {PLANTED}.bearer",
                   "sas": f"https://a.example/b?sv=1&sig={PLANTED}%2Fsas"}
    container = {"name": "azuredisk", "image": "i", "env": env,
                 "args": [f"--password={PLANTED}-argument", "--client-secret", f"{PLANTED}-next", "--v=5"]}
    core.create_namespaced_pod(namespace, {"metadata": {"name": "csi-azuredisk-node-x", "labels": LABELS, "annotations": annotations},
                                           "spec": {"containers": [container]}})
    core.create_namespaced_pod(namespace, {"metadata": {"name": "somebodys"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    core.create_namespaced_event(namespace, {
        "metadata": {"name": "mount"}, "involvedObject": {"kind": "Pod", "name": "somebodys", "namespace": namespace},
        "reason": "FailedMount", "message": f"mount failed: password={PLANTED}-event", "type": "Warning"})
    core.create_namespaced_event(namespace, {
        "metadata": {"name": "other"}, "involvedObject": {"kind": "Pod", "name": "somebodys", "namespace": namespace},
        "reason": "Pulled", "message": "x", "type": "Normal"})
    with Controller(world) as controller:
        volume = create(controller)
        publish(controller, volume.volume_id, world.nodes[0])
    storage = client.StorageV1Api(world.client)
    name = f"{namespace}-class"
    storage.create_storage_class({"metadata": {"name": name}, "provisioner": world.driver,
                                  "parameters": {"tags": f"accountKey={PLANTED}-class", "csi.storage.k8s.io/node-stage-secret-name": "team"}})
    core.create_namespaced_persistent_volume_claim(namespace, {
        "metadata": {"name": "claim"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": name,
                                                "resources": {"requests": {"storage": "4Gi"}}}})
    with persistent_volume(world, volume.volume_id, dict(volume.volume_context) | {"x": f"pwd={PLANTED}-pv"}) as pv:
        with volume_attachment(world, pv, world.nodes[0]):
            yield pv
    storage.delete_storage_class(name)


def items(folder: Path, kind: str) -> dict[str, dict]:
    return {item["metadata"]["name"]: item for item in json.loads((folder / f"{kind}.json").read_text())["items"]}


def whole(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.iterdir())


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_what_it_holds(world, planted, tmp_path):
    folder = tmp_path / "bundle"
    index = Azdiskctl(world, azure=True).ask("bundle", str(folder))
    assert index == json.loads((folder / "index.json").read_text())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and modes(folder) == {0o600}
    kinds = {"azvolumes": ["pvc-1"], "azdrivernodes": world.nodes, "persistentvolumes": [planted],
             "volumeattachments": [f"{planted}-{world.nodes[0]}"], "persistentvolumeclaims": ["claim"],
             "storageclasses": [f"{world.namespace}-class"], "pods": ["csi-azuredisk-node-x"], "nodes": world.nodes}
    for kind, names in kinds.items():
        assert set(names) <= set(items(folder, kind)), kind
    assert list(items(folder, "azvolumes")) == ["pvc-1"] and list(items(folder, "pods")) == ["csi-azuredisk-node-x"]
    assert len(items(folder, "azvolumeattachments")) >= 1
    assert "mount" in items(folder, "events") and "other" not in items(folder, "events")
    assert {item["apiVersion"] for item in items(folder, "volumeattachments").values()} == {"storage.k8s.io/v1"}
    assert "pvc-1" in (folder / "map.txt").read_text() and "compared" in (folder / "check.txt").read_text()
    for entry in index["objects"] + index["reports"]:
        assert "error" not in entry, entry
        assert entry.get("unknown") or (folder / entry["file"]).stat().st_size == entry["bytes"]


def test_no_secret_is_in_it(world, planted, tmp_path):
    folder = tmp_path / "bundle"
    Azdiskctl(world, azure=True).run("bundle", str(folder))
    text = whole(folder)
    assert PLANTED not in text and "managedFields" not in text
    assert json.loads(world.cloud_config())["aadClientSecret"] not in text
    pod = items(folder, "pods")["csi-azuredisk-node-x"]
    assert pod["spec"]["containers"][0]["env"] == [
        {"name": "AZURE_X", "value": "(removed)"}, {"name": "Y", "valueFrom": {"secretKeyRef": {"name": "team", "key": "key"}}}]
    assert pod["metadata"]["annotations"][APPLIED] == "(removed)"
    [parameters] = [c["parameters"] for c in items(folder, "storageclasses").values() if c["metadata"]["name"].startswith(world.namespace)]
    assert parameters["csi.storage.k8s.io/node-stage-secret-name"] == "team"


@contextmanager
def person(world: World, rules: list[dict]) -> Iterator[str]:
    """The flag by which somebody runs azdiskctl who may do no more than this."""
    name, api = world.namespace, "rbac.authorization.k8s.io"
    rbac = client.RbacAuthorizationV1Api(world.client)
    rbac.create_cluster_role({"metadata": {"name": name}, "rules": rules})
    rbac.create_cluster_role_binding({"metadata": {"name": name}, "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": name},
                                      "subjects": [{"kind": "User", "name": name, "apiGroup": api}]})
    review = {"spec": {"user": name, "resourceAttributes": {"verb": "list", "group": GROUP, "resource": "azvolumes"}}}
    access = client.AuthorizationV1Api(world.client)
    until(lambda: access.create_subject_access_review(review).status.allowed, "the role has its effect")
    try:
        yield f"--as={name}"
    finally:
        rbac.delete_cluster_role_binding(name)
        rbac.delete_cluster_role(name)


def test_the_permissions_that_are_documented(world, planted, tmp_path):
    section = DOCUMENT.read_text().partition("\n## bundle\n")[2].partition("\n## ")[0]
    rules = yaml.safe_load(section.partition("```yaml\n")[2].partition("```")[0])["rules"]
    with person(world, rules) as flag:
        Azdiskctl(world, azure=True).run("bundle", str(tmp_path / "bundle"), flag)


def test_with_fewer_permissions(world, planted, tmp_path):
    """Who may read volumes only gets these, and is told what is missing."""
    folder = tmp_path / "bundle"
    with person(world, [{"apiGroups": [GROUP], "resources": ["azvolumes"], "verbs": ["list"]}]) as flag:
        output, _ = Azdiskctl(world).outputs("bundle", str(folder), flag, status=1)
    index = json.loads((folder / "index.json").read_text())
    errors = {entry["file"]: entry.get("error", "") for entry in index["objects"] + index["reports"]}
    assert not errors.pop("azvolumes.json") and list(items(folder, "azvolumes")) == ["pvc-1"]
    assert all("cannot list resource" in error for error in errors.values()), errors
    assert sorted(path.name for path in folder.iterdir()) == ["azvolumes.json", "index.json"]
    assert "cannot list resource" in output and "index.json says what is missing" in output


def test_directories_that_it_does_not_take(world, tmp_path):
    azdiskctl = Azdiskctl(world)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    for name, reason in ("full", "is not empty"), ("link", "Not a directory"), ("no/where", "No such file"):
        assert reason in azdiskctl.run("bundle", str(tmp_path / name), status=2)
    assert "unexpected argument" in azdiskctl.run("bundle", "a", "b", status=2)


# ---- logs ----

LOG = f"""I1127 one
"request" authorization="Bearer {PLANTED}.a.b" clientSecret: {PLANTED}
-----BEGIN PRIVATE KEY-----
{PLANTED}
-----END PRIVATE KEY-----
E1127 last
""".encode()


def test_logs(tmp_path):
    long = b"".join(b"%07d token=%s xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n" % (i, PLANTED.encode()) for i in range(60000))
    pods = [pod("node-1", "azuredisk", owner="DaemonSet"), pod("controller", "azuredisk", "csi-attacher", previous=True),
            pod("../../../etc/evil", "a b")]
    logs = {("node-1", "azuredisk", False): long, ("controller", "azuredisk", False): LOG, ("controller", "azuredisk", True): b"before\n",
            ("controller", "csi-attacher", False): b"", ("controller", "csi-attacher", True): 500,
            ("../../../etc/evil", "a b", False): b"evil\n"}
    folder = tmp_path / "bundle"
    with Logs(tmp_path, pods, logs) as server:
        index = Calls(server.kubeconfig, "objects").ask("bundle", str(folder), status=1)
        assert all("tailLines=50000" in path for path in server.asked if path.partition("?")[0].endswith("/log"))
        assert not any("secrets" in path for path in server.asked)
        lists = [path for path in server.asked if not path.partition("?")[0].endswith("/log")]
        assert all("limit=500" in path for path in lists), lists
    assert PLANTED not in whole(folder) and modes(folder) == {0o600}
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith("log-")) == [
        "log-0001-controller-azuredisk.txt", "log-0002-controller-azuredisk-previous.txt",
        "log-0005-.._.._.._etc_evil-a_b.txt", "log-0006-node-1-azuredisk.txt"]
    read = (folder / "log-0001-controller-azuredisk.txt").read_text()
    assert read == 'I1127 one\n"request" authorization="(removed)" clientSecret: (removed)\n(removed)\nE1127 last\n'
    newest = (folder / "log-0006-node-1-azuredisk.txt").read_text().splitlines()
    assert newest[-1].startswith("0059999 token=(removed)") and newest[0][7:] == newest[-1][7:]
    assert len(newest) == 2 * 1024 * 1024 // len(long.splitlines(True)[0])
    by_file = {entry.get("file"): entry for entry in index["logs"]}
    assert by_file["log-0006-node-1-azuredisk.txt"]["of"] == len(long)
    [failed] = [entry for entry in index["logs"] if "error" in entry]
    assert (failed["pod"], failed["container"], failed["previous"]) == ("kube-system/controller", "csi-attacher", True)
    assert failed["error"].startswith("no log token=(removed)")


def test_logs_that_may_not_be_read(tmp_path):
    """One refusal is enough for a namespace."""
    pods, other = [pod(f"controller-{i}", "azuredisk") for i in range(3)], pod("other", "azuredisk")
    other["metadata"]["namespace"] = "elsewhere"
    logs = {(p["metadata"]["name"], "azuredisk", False): 403 for p in pods} | {("other", "azuredisk", False): b"here\n"}
    folder = tmp_path / "bundle"
    with Logs(tmp_path, [*pods, other], logs) as server:
        index = Calls(server.kubeconfig, "objects").ask("bundle", str(folder), status=1)
        assert sum(path.partition("?")[0].endswith("/log") for path in server.asked) == 2
    assert (folder / "log-0002-other-azuredisk.txt").read_text() == "here\n"
    assert index["logsLeftOut"] == {"containers": 2, "because": "pods/log may not be read"}
