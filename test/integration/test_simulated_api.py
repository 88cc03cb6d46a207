"""The simulated API server keeps the rules of the real one: both get the same requests, and what they
answer is the same but for uids, versions, times and words."""

import json
import subprocess
import uuid
from pathlib import Path

import pytest
from kubernetes import client

from . import custom_resources

PROGRAM = Path(__file__).parents[2] / "build/checked/test/integration/simulated_api"
NODES = "/apis/disk.csi.azure.com/v1beta2/namespaces/{ns}/azdrivernodes"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases"
PODS = "/api/v1/namespaces/{ns}/pods"
VOLUME_ATTACHMENTS = "/apis/storage.k8s.io/v1/volumeattachments"
TYPES = {  # what a create must say of itself to the real one
    "azdrivernodes": ("disk.csi.azure.com/v1beta2", "AzDriverNode"),
    "leases": ("coordination.k8s.io/v1", "Lease"),
    "pods": ("v1", "Pod"),
    "nodes": ("v1", "Node"),
    "volumeattachments": ("storage.k8s.io/v1", "VolumeAttachment"),
    "persistentvolumes": ("v1", "PersistentVolume"),
    "persistentvolumeclaims": ("v1", "PersistentVolumeClaim"),
}


def kind_of(path: str) -> dict:
    return dict(zip(("apiVersion", "kind"), TYPES[path.rsplit("/", 1)[1]]))


class Simulated:
    """The simulated server as a process."""

    def __init__(self):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([PROGRAM], stdin=pipe, stdout=pipe, text=True)

    def close(self) -> None:
        self.process.stdin.close()
        assert self.process.wait(60) == 0

    def order(self, order: dict):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, answer
        return answer

    def ask(self, method: str, path: str, body: dict | None) -> tuple[int, dict]:
        order = {"method": method, "path": path} | ({} if body is None else {"body": body})
        answer = self.order(order)
        return answer["status"], answer["body"]

    def watch(self, path: str, events: int) -> list[dict]:
        return self.order({"watch": path, "events": events})

    def forget(self) -> None:
        self.order({"compact": True})


class Real:
    """The real server, as its administrator asks it."""

    def __init__(self, apiserver):
        self.apiserver = apiserver
        api = apiserver.client()
        custom_resources.install(api)
        self.host, self.pool = api.configuration.host, api.rest_client.pool_manager

    def close(self) -> None:
        pass

    def ask(self, method: str, path: str, body: dict | None) -> tuple[int, dict]:
        kind = "merge-patch+json" if method == "PATCH" else "json"
        answer = self.pool.request(
            method, self.host + path, timeout=60, retries=False,
            body=None if body is None else json.dumps(body),
            headers={"Content-Type": f"application/{kind}", "Accept": "application/json"})
        try:
            return answer.status, json.loads(answer.data)
        except ValueError:
            return answer.status, answer.data.decode()

    def watch(self, path: str, events: int) -> list[dict]:
        answer = self.pool.request("GET", self.host + path, preload_content=False, timeout=60)
        assert answer.status == 200, answer.data
        seen, rest = [], b""
        for data in answer.stream(65536):
            *lines, rest = (rest + data).split(b"\n")
            seen += [json.loads(line) for line in lines]
            if len(seen) >= events:
                break
        answer.close()
        return seen[:events]

    def forget(self) -> None:
        self.apiserver.compact()


class Account:
    """What a server does, put down so that two servers' accounts can be compared: uids and versions are
    numbered as they appear, times are only there or not."""

    METADATA = ("name", "namespace", "uid", "resourceVersion", "generation", "labels", "finalizers",
                "deletionTimestamp", "deletionGracePeriodSeconds")

    def __init__(self, server, namespace: str):
        self.server, self.namespace = server, namespace
        self.names: dict[tuple[str, str], str] = {}
        self.lines: list = []

    def alias(self, member: str, value: str) -> str:
        known = [key for key in self.names if key[0] == member]
        return self.names.setdefault((member, value), f"{member} {len(known)}")

    def metadata(self, metadata: dict) -> dict:
        told = {member: metadata[member] for member in self.METADATA if member in metadata}
        for member in ("uid", "resourceVersion"):
            if told.get(member):
                told[member] = self.alias(member, told[member])
        if "deletionTimestamp" in told:
            told["deletionTimestamp"] = "a time"
        if told.get("namespace") == self.namespace:
            told["namespace"] = "{ns}"
        return told

    def object(self, body: dict, members: tuple) -> dict:
        if not isinstance(body, dict):
            return {"text": True}
        if body.get("kind") == "Status":
            return {member: body.get(member) for member in ("status", "reason", "code")}
        told = {member: body[member] for member in members if member in body}
        return told | {"kind": body["kind"], "metadata": self.metadata(body["metadata"])}

    def ask(self, method: str, path: str, body: dict | None = None, tell=("spec", "status")) -> dict:
        if method == "POST":
            body = kind_of(path) | body
        status, answer = self.server.ask(method, path.format(ns=self.namespace), body)
        if isinstance(answer, dict) and "items" in answer:
            # The list's own version is the whole server's, where others write too.
            names = [item["metadata"]["name"] for item in answer["items"]]
            told = names, bool(answer["metadata"].get("continue"))
        else:
            told = self.object(answer, tell)
        self.lines.append((method, path.split("continue")[0], status, told))
        return answer

    def watch(self, path: str, events: int) -> None:
        for event in self.server.watch(path.format(ns=self.namespace), events):
            body = self.object(event["object"], ("spec", "status"))
            if event["type"] == "BOOKMARK":
                body = None
            self.lines.append((event["type"], body))


def driver_node(name: str, **metadata) -> dict:
    return {"metadata": {"name": name} | metadata, "spec": {"nodeName": name}}


# ---- scenarios ----


def creating(account):
    account.ask("POST", NODES, driver_node("a", labels={}, generation=7, uid="mine")
                | {"status": {"statusMessage": "lost"}})
    account.ask("POST", NODES, driver_node("a"))
    account.ask("POST", NODES, driver_node("Upper"))
    account.ask("POST", NODES, driver_node(""))
    account.ask("POST", NODES, driver_node("b", namespace="elsewhere"))
    account.ask("POST", NODES, driver_node("b", resourceVersion="7"))
    account.ask("GET", NODES + "/a")
    account.ask("GET", NODES + "/none")
    made = account.server.ask("POST", LEASES.format(ns=account.namespace), {"apiVersion":
        "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"generateName": "l-"}})
    assert made[0] == 201 and len(made[1]["metadata"]["name"]) == len("l-") + 5


def missing_the_way(account):
    account.ask("POST", NODES, driver_node("a"))
    account.ask("POST", LEASES, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "a"}})
    for path in ("/apis/disk.csi.azure.com/v1beta2/gnomes", "/apis/disk.csi.azure.com/v7/azdrivernodes",
                 "/apis/gnomes.example/v1/gnomes", "/api/v1/gnomes", NODES + "/a/scale", LEASES + "/l/status"):
        account.ask("GET", path)
    for path in (NODES + "/a/status", LEASES + "/l"):
        account.ask("PATCH", path, [])
    account.ask("DELETE", NODES + "/a/status")


def writing_with_versions(account):
    first = account.ask("POST", LEASES, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "a"}})
    version, uid = first["metadata"]["resourceVersion"], first["metadata"]["uid"]
    patch = {"metadata": {"resourceVersion": version}, "spec": {"holderIdentity": "b"}}
    account.ask("PATCH", LEASES + "/l", patch)
    account.ask("PATCH", LEASES + "/l", patch)
    account.ask("PATCH", LEASES + "/l", {"metadata": {"resourceVersion": None}, "spec": {"leaseTransitions": 1}})
    account.ask("PATCH", LEASES + "/l", {"metadata": {"uid": str(uuid.uuid4())}})
    account.ask("PUT", LEASES + "/l", first | {"metadata": {"name": "l", "uid": str(uuid.uuid4())}})
    account.ask("POST", NODES, driver_node("n"))
    account.ask("PATCH", NODES + "/n", {"metadata": {"uid": str(uuid.uuid4())}})
    account.ask("PATCH", NODES + "/n", {"metadata": {"resourceVersion": None, "labels": {"a": "b"}}})
    account.ask("PATCH", NODES + "/n/status", {"metadata": {"resourceVersion": version}, "status": {"statusMessage": "x"}})
    account.ask("PATCH", LEASES + "/l", {"metadata": {"name": "m"}})
    account.ask("PATCH", LEASES + "/none", {"spec": {"holderIdentity": "c"}})
    account.ask("PUT", LEASES + "/l", first)
    account.ask("DELETE", LEASES + "/l", {"preconditions": {"uid": str(uuid.uuid4())}})
    account.ask("DELETE", LEASES + "/l", {"preconditions": {"uid": uid, "resourceVersion": version}})
    account.ask("DELETE", LEASES + "/l", {"preconditions": {"uid": uid}})
    account.ask("DELETE", LEASES + "/l")


def changing_nothing(account):
    account.ask("POST", NODES, driver_node("a", labels={"x": "1"}))
    account.ask("PATCH", NODES + "/a", {"spec": {"nodeName": "a"}})
    account.ask("PATCH", NODES + "/a", {"metadata": {"labels": {"y": None}, "annotations": {}}})
    account.ask("PATCH", NODES + "/a", {"status": {"statusMessage": "by the wrong door"}})
    account.ask("PATCH", NODES + "/a/status", {"spec": {"nodeName": "z"}})
    account.ask("PATCH", NODES + "/a/status", {"metadata": {"labels": {"x": "2"}}, "status": {"statusMessage": "healthy"}})
    account.ask("PATCH", NODES + "/a/status", {"status": {"statusMessage": "healthy"}})
    account.ask("PATCH", NODES + "/a", {"metadata": {"labels": {"x": "3"}}})
    account.ask("PATCH", NODES + "/a", {"spec": {"nodeName": "b"}})
    account.ask("PATCH", NODES + "/a", {"metadata": {"generation": 12, "creationTimestamp": None}})


def finalizing(account):
    account.ask("POST", NODES, driver_node("a", finalizers=["x.example/a", "x.example/b"]))
    account.ask("DELETE", NODES + "/a")
    account.ask("DELETE", NODES + "/a")
    account.ask("PATCH", NODES + "/a", {"metadata": {"finalizers": ["x.example/a", "x.example/b", "x.example/c"]}})
    account.ask("PATCH", NODES + "/a", {"metadata": {"finalizers": ["x.example/b"]}})
    account.ask("PATCH", NODES + "/a", {"metadata": {"deletionTimestamp": None}})
    account.ask("PATCH", NODES + "/a/status", {"metadata": {"finalizers": None}, "status": {"statusMessage": "x"}})
    account.ask("POST", NODES, driver_node("a"))
    account.ask("PATCH", NODES + "/a", {"metadata": {"finalizers": None}})
    account.ask("GET", NODES + "/a")
    account.ask("POST", NODES, driver_node("b", finalizers=["x.example/a"]))
    account.ask("PATCH", NODES + "/b", {"metadata": {"finalizers": []}})
    account.ask("DELETE", NODES + "/b")


def attaching(account):
    name = f"va-{account.namespace}"
    path = f"{VOLUME_ATTACHMENTS}/{name}"
    spec = {"attacher": "disk.csi.azure.com", "nodeName": "n", "source": {"persistentVolumeName": "p"}}
    tell = ("status",)
    first = {"metadata": {"name": name}, "spec": spec, "status": {"attached": True}}
    for method, where, body in (
            ("POST", VOLUME_ATTACHMENTS, first),
            ("PATCH", path, {"status": {"attached": True}}),
            ("PATCH", path + "/status", {"status": {"attached": True, "attachmentMetadata": {"LUN": "1"}}}),
            ("PATCH", path + "/status", {"metadata": {"labels": {"a": "b"}}}),
            ("PATCH", path, {"metadata": {"finalizers": ["x.example/a"]}}),
            ("DELETE", path, None),
            ("PATCH", path, {"metadata": {"finalizers": None}})):
        account.ask(method, where, body, tell)


def storing(account):
    volume, claim, node = (f"{kind}-{account.namespace}" for kind in ("pv", "pvc", "node"))
    claims = "/api/v1/namespaces/{ns}/persistentvolumeclaims"
    size = {"storage": "1Gi"}
    once = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    disk = {"capacity": size, "csi": {"driver": "disk.csi.azure.com", "volumeHandle": "h"}}
    for path, name, spec in (("/api/v1/persistentvolumes", volume, once | disk),
                             (claims, claim, once | {"resources": {"requests": size}}),
                             ("/api/v1/nodes", node, {})):
        whole = {"metadata": {"name": name}, "spec": spec, "status": {"phase": "Running"}}
        place, tell = f"{path}/{name}", ()
        account.server.ask("POST", path.format(ns=account.namespace), kind_of(path) | whole)
        # Admission puts these on, to the real one only.
        account.server.ask("PATCH", place.format(ns=account.namespace),
                           {"metadata": {"finalizers": None}, "spec": {"taints": None}})
        assert account.ask("GET", place, None, tell)["status"]["phase"] == (
            "Running" if path.endswith("nodes") else "Pending")
        account.ask("PATCH", place, {"status": {"phase": "Released"}}, tell)
        account.ask("PATCH", place + "/status", {"metadata": {"labels": {"a": "b"}}}, tell)
        account.ask("PATCH", place + "/status", {"metadata": {"finalizers": ["x.example/a"]}}, tell)
        account.ask("PATCH", place, {"metadata": {"resourceVersion": None, "labels": {"c": "d"}}}, tell)
        account.ask("DELETE", place, None, tell)
        account.ask("PATCH", place + "/status", {"metadata": {"finalizers": None}}, tell)
        account.ask("GET", place, None, tell)


def ending_pods(account):
    pod = {"containers": [{"name": "c", "image": "i"}]}
    tell = ()
    account.ask("POST", PODS, {"metadata": {"name": "free"}, "spec": pod}, tell)
    account.ask("POST", PODS, {"metadata": {"name": "bound"}, "spec": pod | {"nodeName": "n"}}, tell)
    account.ask("PATCH", PODS + "/bound/status", {"status": {"phase": "Running"}, "metadata": {"labels": {"a": "b"}}}, tell)
    account.ask("DELETE", PODS + "/bound", None, tell)
    account.ask("DELETE", PODS + "/bound", None, tell)
    account.ask("DELETE", PODS + "/bound", {"gracePeriodSeconds": 5}, tell)
    account.ask("GET", PODS + "?fieldSelector=spec.nodeName%3Dn")
    account.ask("GET", PODS + "?fieldSelector=spec.color%3Dn")
    account.server.ask("DELETE", PODS.format(ns=account.namespace) + "/bound", {"gracePeriodSeconds": 0})
    account.server.ask("DELETE", PODS.format(ns=account.namespace) + "/free", None)
    account.ask("GET", PODS)


def listing(account):
    for name in ("d", "b", "a", "c"):
        account.ask("POST", NODES, driver_node(name, labels={"parity": "odd" if name in "ac" else "even"}))
    for selector in ("parity%3Dodd", "parity!%3Dodd", "parity%20in%20(odd,even)", "parity%20notin%20(odd)",
                     "!parity", "parity", "parity%3D%3Deven,x!%3Dy", "parity%20of%20odd"):
        account.ask("GET", NODES + "?labelSelector=" + selector)
    for selector in ("metadata.name%3Db", "metadata.name!%3Db", "spec.nodeName%3Db"):
        account.ask("GET", NODES + "?fieldSelector=" + selector)
    page = account.ask("GET", NODES + "?limit=2")
    account.ask("POST", NODES, driver_node("bb"))
    account.ask("DELETE", NODES + "/d")
    token = page["metadata"]["continue"].replace("=", "%3D")
    account.ask("GET", NODES + f"?limit=2&continue={token}")
    account.ask("GET", NODES + "?limit=5")
    token = ""
    for _ in range(5):
        page = account.ask("GET", NODES + "?labelSelector=parity%3Dodd&limit=1" + token)
        if not page["metadata"].get("continue"):
            break
        token = "&continue=" + page["metadata"]["continue"].replace("=", "%3D")
    account.ask("GET", NODES + "?limit=4")
    account.ask("GET", NODES + "?resourceVersion=1000000000&timeoutSeconds=1")


def watching(account):
    first = account.ask("POST", NODES, driver_node("a", labels={"on": "1"}, finalizers=["x.example/a"]))
    account.ask("PATCH", NODES + "/a/status", {"status": {"statusMessage": "one"}})
    account.ask("POST", NODES, driver_node("b"))
    account.ask("PATCH", NODES + "/a", {"metadata": {"labels": {"on": "2"}}})
    account.ask("PATCH", NODES + "/b", {"metadata": {"labels": {"on": "1"}}})
    account.ask("PATCH", NODES + "/b", {"metadata": {"labels": {"on": None}}})
    account.ask("DELETE", NODES + "/a")
    account.ask("PATCH", NODES + "/a", {"metadata": {"finalizers": None}})
    account.ask("DELETE", NODES + "/b")
    account.ask("POST", NODES, driver_node("c"))
    since = "&timeoutSeconds=60&resourceVersion=" + first["metadata"]["resourceVersion"]
    account.watch(NODES + "?watch=true" + since, 9)
    account.watch(NODES + "?watch=true&labelSelector=on%3D1" + since, 4)
    account.watch(NODES + "?watch=true&fieldSelector=metadata.name%3Db" + since, 4)
    account.watch(NODES + "?watch=true&timeoutSeconds=60", 1)
    account.watch(NODES + "?watch=true&timeoutSeconds=4&allowWatchBookmarks=true&resourceVersion=0", 9)


def forgetting(account):
    for name in "abc":
        account.ask("POST", NODES, driver_node(name))
    page = account.ask("GET", NODES + "?limit=1")
    account.ask("GET", NODES + "?limit=1&resourceVersion=0")
    account.server.forget()
    account.watch(NODES + "?watch=true&resourceVersion=1&timeoutSeconds=60", 9)
    account.ask("GET", NODES + "?resourceVersion=1&resourceVersionMatch=Exact")
    account.ask("GET", NODES + "?limit=1&continue=" + page["metadata"]["continue"].replace("=", "%3D"))
    account.ask("GET", NODES + "?limit=1&continue=nonsense")


SCENARIOS = (creating, missing_the_way, writing_with_versions, changing_nothing, finalizing, attaching, storing, ending_pods, listing,
             watching, forgetting)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_answers_as_the_real_one(apiserver, scenario):
    namespace = f"simulated-{uuid.uuid4()}"
    client.CoreV1Api(apiserver.client()).create_namespace({"metadata": {"name": namespace}})
    accounts = []
    for server in (Real(apiserver), Simulated()):
        account = Account(server, namespace)
        scenario(account)
        accounts.append(account.lines)
        server.close()
    assert accounts[1] == accounts[0]
    assert accounts[0]
