"""What the token of one node may write: the chart's admission policy against a real API server, by tokens that are bound
to pods on two nodes. Their account may do everything with the driver's objects by its role, so that what is refused, the
policy refuses."""

import json
import subprocess
from typing import NamedTuple

import pytest
from cluster import tools
from cluster.waiting import until
from kubernetes import client

from .driver_world import GROUP, VERSION, World
from .release import Release

NODE_ACCOUNT = "csi-azuredisk-node-sa"
PREEMPTED = f"{GROUP}/preempted"
NOTE, JOB, OTHER_NOTE = f"{GROUP}/filesystem", f"{GROUP}/running-job", f"{GROUP}/collect-after"
CONTEXT = {"LUN": "3", "diskSizeBytes": "4294967296"}
CONDITION = {"type": "Listed", "status": "True", "reason": "x", "message": "x",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}


@pytest.fixture(scope="module")
def world(tmp_path_factory, apiserver):
    with World(tmp_path_factory.mktemp("policy"), apiserver, nodes=3) as world:
        yield world


@pytest.fixture(scope="module")
def release(world, apiserver):
    with Release(apiserver, f"{world.namespace}-release", driver__objectNamespace=world.namespace,
                 controller__cloudConfigSecretNamespace=world.namespace, failover__enabled=True) as release:
        rules = [{"apiGroups": [GROUP], "resources": ["*"], "verbs": ["*"]},
                 {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["*"]}]
        subjects = [{"kind": "ServiceAccount", "name": NODE_ACCOUNT, "namespace": release.namespace}]
        meta = {"name": "everything", "namespace": world.namespace}
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "everything"}
        rbac = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": meta}
        release.kubectl("apply", "--filename=-", objects=[
            {**rbac, "kind": "Role", "rules": rules},
            {**rbac, "kind": "RoleBinding", "roleRef": reference, "subjects": subjects}])
        yield release


@pytest.fixture(scope="module")
def names(world) -> dict[str, str]:
    """What rows call a, b and c."""
    return {letter: node for letter, node in zip("abc", world.nodes)}


class Token:
    """Of an account's pod on a node; on none: of the account alone."""

    def __init__(self, release: Release, world: World, node: str | None):
        self.world = world
        self.kubeconfig = release.kubeconfig(NODE_ACCOUNT, node)

    def write(self, verb: str, plural: str, name: str, body: dict | None, status: bool) -> str:
        """What the API server says of it; nothing if it was done."""
        api = "coordination.k8s.io/v1" if plural == LEASES else f"{GROUP}/{VERSION}"
        path = f"/apis/{api}/namespaces/{self.world.namespace}/{plural}"
        words = [tools.folder() / "kubectl", "--kubeconfig", self.kubeconfig, "-n", self.world.namespace]
        text = None if body is None else json.dumps(body)
        if verb == "patch":
            words += ["patch", plural, name, "--type=merge", f"--patch={text}"]
            words += ["--subresource=status"] if status else []
        elif verb == "create":
            words += ["create", "--raw", path, "-f", "-"]
        elif verb == "replace":
            words += ["replace", "--raw", f"{path}/{name}" + ("/status" if status else ""), "-f", "-"]
        elif verb == "delete":
            words += ["delete", plural, name, "--wait=false"]
        else:
            words += ["delete", "--raw", path]  # a collection
        done = subprocess.run(words, input=text, capture_output=True, text=True)
        return done.stderr if done.returncode else ""


@pytest.fixture(scope="module")
def tokens(world, release, names) -> dict[str | None, Token]:
    tokens = {node: Token(release, world, names.get(node)) for node in ("a", "b", "c", None)}
    denied = lambda: tokens[None].write("patch", "azdrivernodes", names["a"], {"status": {"statusMessage": "x"}}, True)
    until(denied, "the policy is in force")
    return tokens


@pytest.fixture
def objects(world, names):
    """Two nodes' AzDriverNodes, each with an attachment of a volume; the third has nothing yet."""
    for node in (names["a"], names["b"]):
        world.create("azvolumeattachments", {
            "metadata": {"name": f"data-{node}", "labels": {f"{GROUP}/node-name": node}},
            "spec": {"volumeName": "data", "volume_id": "/subscriptions/s/data", "nodeName": node, "role": "Primary"}})
        status = {"state": "Attached", "detail": {"role": "Primary", "publish_context": CONTEXT},
                  "annotation": {OTHER_NOTE: "2026-01-01T00:00:00Z", JOB: "fsck x"}}
        world.patch("azvolumeattachments", f"data-{node}", {"status": status}, status=True)
        slots = {"limit": 8, "free": 8, "conditions": [CONDITION]}
        world.patch("azdrivernodes", node, {"status": {"slots": slots}}, status=True)
    world.delete("azdrivernodes", names["c"])
    world.create("azvolumes", {
        "metadata": {"name": "data"},
        "spec": {"volumeName": "data", "maxMountReplicaCount": 0, "volumeCapability": [
            {"access_type": 1, "access_mode": 1, "fs_type": "ext4"}]}})
    yield
    world.delete("azvolumes", "data")
    for plural in ("azvolumeattachments", "azdrivernodes"):
        for item in world.objects(plural):
            world.delete(plural, item["metadata"]["name"])
    for node in world.nodes:
        world.create("azdrivernodes", {"metadata": {"name": node}, "spec": {"nodeName": node}})


class Row(NamedTuple):
    """A request by the token of a node; names in braces are those of nodes."""

    what: str
    allowed: bool
    token: str | None
    verb: str
    plural: str
    name: str
    body: dict | None = None
    status: bool = False


def note(text: str | None, key: str = NOTE) -> dict:
    return {"status": {"annotation": {key: text}}}


def driver_node(name: str, spec: str) -> dict:
    return {"apiVersion": f"{GROUP}/{VERSION}", "kind": "AzDriverNode", "metadata": {"name": name},
            "spec": {"nodeName": spec}}


def attachment(node: str) -> dict:
    return {"apiVersion": f"{GROUP}/{VERSION}", "kind": "AzVolumeAttachment", "metadata": {"name": "new"},
            "spec": {"volumeName": "x", "volume_id": "/subscriptions/s/x", "nodeName": node, "role": "Primary"}}


NODES, ATTACHMENTS, VOLUMES, LEASES = "azdrivernodes", "azvolumeattachments", "azvolumes", "leases"
HEARTBEAT = {"lastHeartbeatTime": "2026-01-01T00:00:00Z", "readyForVolumeAllocation": True, "statusMessage": "x",
             "conditions": [{**CONDITION, "type": "IsNodePluginReady", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}],
             "slots": {"free": 3}}
OWN = "data-{a}"

ROWS = [
    Row("its own heartbeat", True, "a", "patch", NODES, "{a}", {"status": HEARTBEAT}, True),
    Row("another's heartbeat", False, "a", "patch", NODES, "{b}", {"status": HEARTBEAT}, True),
    Row("a token of no node", False, None, "patch", NODES, "{a}", {"status": HEARTBEAT}, True),
    Row("the other, by its own token", True, "b", "patch", NODES, "{b}", {"status": HEARTBEAT}, True),
    Row("how many disks its VM takes", False, "a", "patch", NODES, "{a}", {"status": {"slots": {"limit": 64}}}, True),
    Row("what the leader knows of that", False, "a", "patch", NODES, "{a}",
        {"status": {"slots": {"conditions": []}}}, True),
    Row("that nothing is known of that", False, "a", "patch", NODES, "{a}", {"status": {"slots": None}}, True),
    Row("all of its status", False, "a", "patch", NODES, "{a}", {"status": None}, True),
    Row("its own AzDriverNode's spec", False, "a", "patch", NODES, "{a}", {"spec": {"nodeName": "{b}"}}),
    Row("an AzDriverNode of another's name", False, "a", "create", NODES, "{c}", driver_node("{c}", "{c}")),
    Row("an AzDriverNode for another", False, "a", "create", NODES, "{c}", driver_node("{c}", "{a}")),
    Row("its own AzDriverNode goes", True, "a", "delete", NODES, "{a}"),
    Row("another's AzDriverNode goes", False, "a", "delete", NODES, "{b}"),
    Row("all AzDriverNodes go", False, "a", "delete all", NODES, ""),

    Row("its own file system", True, "a", "patch", ATTACHMENTS, OWN, note("ext4 x"), True),
    Row("no file system", True, "a", "patch", ATTACHMENTS, OWN, note(None), True),
    Row("its own running job", True, "a", "patch", ATTACHMENTS, OWN, note("mkfs x", JOB), True),
    Row("no running job", True, "a", "patch", ATTACHMENTS, OWN, note(None, JOB), True),
    Row("whose writes its disk refuses", True, "a", "patch", ATTACHMENTS, OWN, note("0x1 x", PREEMPTED), True),
    Row("another's, whose writes its disk refuses", False, "a", "patch", ATTACHMENTS, "data-{b}",
        note("0x1 x", PREEMPTED), True),
    Row("whose writes its disk is to refuse", False, "a", "patch", ATTACHMENTS, OWN,
        note("0x1 x", f"{GROUP}/preempt-request"), True),
    Row("that its replica is ready", True, "a", "patch", ATTACHMENTS, OWN,
        note("true 2026-01-01T00:00:00Z", f"{GROUP}/replica-ready"), True),
    Row("another's running job", False, "a", "patch", ATTACHMENTS, "data-{b}", note("mkfs x", JOB), True),
    Row("a token of no node, a running job", False, None, "patch", ATTACHMENTS, OWN, note("mkfs x", JOB), True),
    Row("another's file system", False, "a", "patch", ATTACHMENTS, "data-{b}", note("ext4 x"), True),
    Row("another's, as if it were its own", False, "a", "patch", ATTACHMENTS, "data-{b}",
        {"spec": {"nodeName": "{a}"}, **note("ext4 x")}, True),
    Row("a token of no node, a file system", False, None, "patch", ATTACHMENTS, OWN, note("ext4 x"), True),
    Row("another note", False, "a", "patch", ATTACHMENTS, OWN, note("x", OTHER_NOTE), True),
    Row("a note that is new", False, "a", "patch", ATTACHMENTS, OWN, note("x", "example.com/x"), True),
    Row("what its disk was copied from", False, "a", "patch", ATTACHMENTS, OWN,
        note("ext4 x", f"{GROUP}/source-filesystem"), True),
    Row("no other note", False, "a", "patch", ATTACHMENTS, OWN, note(None, OTHER_NOTE), True),
    Row("no notes", False, "a", "patch", ATTACHMENTS, OWN, {"status": {"annotation": None}}, True),
    Row("its state", False, "a", "patch", ATTACHMENTS, OWN, {"status": {"state": "Detached"}}, True),
    Row("its state with its file system", False, "a", "patch", ATTACHMENTS, OWN,
        {"status": {"state": "Detached", **note("ext4 x")["status"]}}, True),
    Row("its role", False, "a", "patch", ATTACHMENTS, OWN, {"status": {"detail": {"role": "Replica"}}}, True),
    Row("its LUN", False, "a", "patch", ATTACHMENTS, OWN,
        {"status": {"detail": {"publish_context": {"LUN": "4"}}}}, True),
    Row("its disk's size", False, "a", "patch", ATTACHMENTS, OWN,
        {"status": {"detail": {"publish_context": {"diskSizeBytes": "1"}}}}, True),
    Row("an error", False, "a", "patch", ATTACHMENTS, OWN,
        {"status": {"error": {"code": "INTERNAL", "message": "x"}}}, True),
    Row("all of an attachment's status", False, "a", "patch", ATTACHMENTS, OWN, {"status": None}, True),
    Row("its attachment's spec", False, "a", "patch", ATTACHMENTS, OWN, {"spec": {"role": "Replica"}}),
    Row("that it may write", False, "a", "patch", ATTACHMENTS, OWN, {"spec": {"readOnly": False}}),
    Row("its attachment's labels", False, "a", "patch", ATTACHMENTS, OWN, {"metadata": {"labels": {"x": "y"}}}),
    Row("an attachment to itself", False, "a", "create", ATTACHMENTS, "new", attachment("{a}")),
    Row("its attachment goes", False, "a", "delete", ATTACHMENTS, OWN),

    Row("a volume's file system", False, "a", "patch", VOLUMES, "data",
        {"status": {"state": "Created", **note("ext4 x")["status"]}}, True),
    Row("what a volume's disk was copied from", False, "a", "patch", VOLUMES, "data",
        {"status": {"state": "Created", **note("ext4 x", f"{GROUP}/source-filesystem")["status"]}}, True),
    Row("what a volume's user accepts", False, "a", "patch", VOLUMES, "data",
        {"metadata": {"annotations": {f"{GROUP}/accept-filesystem": "x"}}}),
    Row("a volume's spec", False, "a", "patch", VOLUMES, "data", {"spec": {"maxMountReplicaCount": 1}}),
    Row("a volume goes", False, "a", "delete", VOLUMES, "data"),
]


TAINT = {"key": f"{GROUP}/agent-not-ready", "effect": "NoSchedule"}
OTHER_TAINT = {"key": "example.com/agent-not-ready", "effect": "NoSchedule"}
OF_A_NODE = [
    # what, allowed, whose, patch
    ("its startup taint", True, "a", {"spec": {"taints": [OTHER_TAINT]}}),
    ("another's startup taint", False, "b", {"spec": {"taints": [OTHER_TAINT]}}),
    ("another taint", False, "a", {"spec": {"taints": [TAINT]}}),
    ("all taints", False, "a", {"spec": {"taints": None}}),
    ("one more", False, "a", {"spec": {"taints": [OTHER_TAINT, {**OTHER_TAINT, "key": "example.com/x"}]}}),
    ("its startup taint, and a label", False, "a",
     {"metadata": {"labels": {"x": "y"}}, "spec": {"taints": [OTHER_TAINT]}}),
    ("and an annotation", False, "a",
     {"metadata": {"annotations": {"x": "y"}}, "spec": {"taints": [OTHER_TAINT]}}),
    ("and a cordon", False, "a", {"spec": {"taints": [OTHER_TAINT], "unschedulable": True}}),
]


@pytest.mark.parametrize(("what", "allowed", "whose", "patch"), OF_A_NODE, ids=[row[0] for row in OF_A_NODE])
def test_what_of_a_node_may_be_changed(tokens, world, names, what, allowed, whose, patch):
    """By the token of node a."""
    node = names[whose]
    world.core.patch_node(node, {"spec": {"taints": [TAINT, OTHER_TAINT]}})
    words = [tools.folder() / "kubectl", "--kubeconfig", tokens["a"].kubeconfig, "patch", "node", node, "--type=merge",
             f"--patch={json.dumps(patch)}"]
    try:
        done = subprocess.run(words, capture_output=True, text=True)
        if allowed:
            assert done.returncode == 0, done.stderr
            assert [taint.key for taint in world.core.read_node(node).spec.taints] == [OTHER_TAINT["key"]]
        else:
            assert "ValidatingAdmissionPolicy 'azuredisk-node-taint'" in done.stderr, done.stderr or "it was done"
    finally:
        world.core.patch_node(node, {"spec": {"taints": None}})


LABEL = {f"{GROUP}/node-lease": "true"}


def lease(name: str, labels: dict | None = LABEL) -> dict:
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name, "labels": labels},
            "spec": {"holderIdentity": "x"}}


OF_LEASES = [
    Row("its Lease", True, "a", "create", LEASES, "", lease("{a}")),
    Row("a token of no node, a Lease", False, None, "create", LEASES, "", lease("{a}")),
    Row("another's Lease, made", False, "a", "create", LEASES, "", lease("{b}")),
    Row("a Lease of no node", False, "a", "create", LEASES, "", lease("csi-azuredisk-controller")),
    Row("its Lease, unlabelled", False, "a", "create", LEASES, "", lease("{a}", None)),
    Row("its Lease, with another label", False, "a", "create", LEASES, "", lease("{a}", {f"{GROUP}/node-lease": "false"})),
    Row("a renewal", True, "b", "patch", LEASES, "{b}", {"metadata": {"labels": LABEL}, "spec": {"holderIdentity": "y"}}),
    Row("another's Lease", False, "a", "patch", LEASES, "{b}", {"spec": {"holderIdentity": ""}}),
    Row("a token of no node, a renewal", False, None, "patch", LEASES, "{b}", {"spec": {"holderIdentity": ""}}),
    Row("its Lease loses its label", False, "b", "patch", LEASES, "{b}", {"metadata": {"labels": None}}),
    Row("somebody else's Lease that has its name", False, "c", "patch", LEASES, "{c}", {"metadata": {"labels": LABEL}}),
    Row("its Lease goes", False, "b", "delete", LEASES, "{b}"),
    Row("another's Lease goes", False, "a", "delete", LEASES, "{b}"),
    Row("all Leases go", False, "a", "delete all", LEASES, ""),
]


@pytest.fixture
def leases(world, names):
    """Of b, and one that is not a plug-in's but has the name of c."""
    api = client.CoordinationV1Api(world.client)
    made = [lease(names["b"]), lease(names["c"], None)]
    for body in made:
        api.create_namespaced_lease(world.namespace, body)
    yield
    api.delete_collection_namespaced_lease(world.namespace)


@pytest.mark.parametrize("row", OF_LEASES, ids=lambda row: row.what)
def test_whose_leases_may_be_written(tokens, leases, names, row):
    body = json.loads(_named(json.dumps(row.body), names))
    said = tokens[row.token].write(row.verb, row.plural, _named(row.name, names), body, row.status)
    if row.allowed:
        assert said == ""
    else:
        assert "ValidatingAdmissionPolicy 'azuredisk-node-lease'" in said and "denied" in said, said or "it was done"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
def test_who_may_write_what(tokens, objects, names, row):
    body = json.loads(_named(json.dumps(row.body), names))
    said = tokens[row.token].write(row.verb, row.plural, _named(row.name, names), body, row.status)
    if row.allowed:
        assert said == ""
    else:
        assert "ValidatingAdmissionPolicy 'azuredisk-node" in said and "denied" in said, said or "it was done"


def _named(text: str, names: dict[str, str]) -> str:
    for letter, name in names.items():
        text = text.replace(f"{{{letter}}}", name)
    return text


def test_its_first_object_is_its_own(tokens, world, names, objects):
    world.delete("azdrivernodes", names["a"])
    made = driver_node(names["a"], names["a"])
    assert "denied" in tokens["b"].write("create", NODES, names["a"], made, False)
    assert "denied" in tokens["a"].write("create", NODES, names["a"], driver_node(names["a"], names["b"]), False)
    assert tokens["a"].write("create", NODES, names["a"], made, False) == ""


def test_others_are_not_concerned(world, names, objects):
    """The test's own account is an administrator's."""
    world.patch("azvolumeattachments", f"data-{names['a']}", {"status": {"state": "Detached"}}, status=True)


def test_a_refusal_says_what_to_look_for(tokens, objects, names):
    said = tokens["a"].write("patch", ATTACHMENTS, f"data-{names['b']}", note("ext4 x"), True)
    assert names["a"] in said and names["b"] in said
