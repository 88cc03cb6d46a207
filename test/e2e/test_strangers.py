"""What somebody in the cluster can do to the driver who has the network, objects of their own, or one pod's token."""

import http.client
import json
import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cluster.cluster import Cluster
from cluster.images import BUSYBOX_IMAGE
from cluster.process import Process
from cluster.waiting import PATIENCE, until
from deployment.driver import NAMESPACE, OBJECTS, Driver
from deployment.ledger import Ledger
from kubernetes import client, config

from .fleet import PRIMARY, REPLICA

CONTROLLER_HEALTH, NODE_HEALTH, CONTROLLER_METRICS, NODE_METRICS = 29602, 29603, 29604, 29605
EXTENDER, EXTENDER_METRICS = 8889, 29606
PORTS = {"controller": [CONTROLLER_METRICS], "node": [NODE_METRICS], "extender": [EXTENDER, EXTENDER_METRICS]}
STRANGER = "node-d"  # where they are; its address is neither kubelet's nor the scheduler's elsewhere
CROWD = 200  # connections that one of them makes to a port
SECONDS = 5  # that an answer may take


def address(pod: dict) -> str:
    return pod["status"]["podIP"]


def places(driver: Driver) -> list[tuple[str, int]]:
    """Wherever the driver listens."""
    return [(address(pod), port) for part, ports in PORTS.items() for pod in driver.pods(part) for port in ports]


@pytest.fixture(scope="module")
def crowd(cluster, driver) -> Iterator[None]:
    """Connections of a stranger to every place, who then says nothing, or the beginning of a request."""
    with cluster.inside(STRANGER):
        connections = [socket.create_connection(place) for place in places(driver) for _ in range(CROWD)]
    for connection in connections[::2]:
        try:
            connection.send(b"GET /metrics HTTP/1.1\r\nHost: h\r\n")
        except OSError:
            pass  # it had to give way
    yield
    for connection in connections:
        connection.close()


def metrics(cluster: Cluster, place: tuple[str, int], since: str = "cp") -> str:
    with cluster.inside(since):
        link = http.client.HTTPConnection(*place, timeout=SECONDS)
        link.request("GET", "/metrics")
        answer = link.getresponse()
        assert answer.status == 200
        return answer.read().decode()


def questions(cluster: Cluster, driver: Driver) -> float:
    """That the scheduler has asked and got an answer to, of all extenders."""
    found = 0.0
    for pod in driver.pods("extender"):
        for line in metrics(cluster, (address(pod), EXTENDER_METRICS)).splitlines():
            if line.startswith("azuredisk_extender_requests_total{") and 'result="ok"' in line:
                found += float(line.rpartition(" ")[2])
    return found


# ---- idle connections ----

def test_health_is_out_of_reach(cluster, driver):
    for part, port in {"controller": CONTROLLER_HEALTH, "node": NODE_HEALTH}.items():
        for pod in driver.pods(part):
            with cluster.inside("cp"), pytest.raises(ConnectionRefusedError):
                socket.create_connection((address(pod), port))


def test_health_is_asked_among_them(cluster, driver):
    """By kubelet, which is on the node as is a pod that shares its network."""
    with cluster.inside(STRANGER):
        idle = [socket.create_connection(("127.0.0.1", NODE_HEALTH)) for _ in range(CROWD)]
        link = http.client.HTTPConnection("127.0.0.1", NODE_HEALTH, timeout=SECONDS)
        link.request("GET", "/healthz")
        assert link.getresponse().status == 200
    for connection in idle:
        connection.close()


def test_metrics_are_read_among_them(cluster, driver, crowd):
    for place in places(driver):
        if place[1] != EXTENDER:
            for reader in ("cp", STRANGER):
                assert "azuredisk_build_info" in metrics(cluster, place, reader)


def test_the_scheduler_is_answered_among_them(cluster, driver, crowd):
    before = questions(cluster, driver)
    container = {"name": "idle", "image": BUSYBOX_IMAGE, "imagePullPolicy": "Never", "command": ["sleep", "100000"]}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
    cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "scheduled"}, "spec": spec})
    cluster.kubectl("wait", "pod/scheduled", "--for=condition=PodScheduled", PATIENCE)
    until(lambda: questions(cluster, driver) > before, "the scheduler has been answered")
    cluster.kubectl("delete", "pod", "scheduled")


# ---- questions of strangers ----

QUESTION = json.dumps({"Pod": {"metadata": {"name": "p", "namespace": "default"}}, "NodeNames": ["node-a"]})


def ask(cluster: Cluster, link: http.client.HTTPConnection) -> int:
    with cluster.inside(STRANGER):
        link.request("POST", "/prioritize", QUESTION)
        return link.getresponse().status


def trusting(*certificate: str) -> ssl.SSLContext:
    """Of a client that does not care who answers."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if certificate:
        context.load_cert_chain(*certificate)
    return context


def test_strangers_get_no_answer_of_the_extender(cluster, driver):
    pki, cluster_pki = driver.authority.path, cluster.authority.path
    contexts = {
        "nothing": trusting(),
        "a certificate of the cluster": trusting(cluster_pki("admin.crt"), cluster_pki("admin.key")),
        "the extender's own": trusting(pki("extender.crt"), pki("extender.key")),
    }
    for pod in driver.pods("extender"):
        place = address(pod), EXTENDER
        with pytest.raises((OSError, http.client.HTTPException)):
            ask(cluster, http.client.HTTPConnection(*place, timeout=SECONDS))
        for context in contexts.values():
            with pytest.raises((OSError, http.client.HTTPException)):
                ask(cluster, http.client.HTTPSConnection(*place, timeout=SECONDS, context=context))
        known = trusting(pki("scheduler.crt"), pki("scheduler.key"))
        assert ask(cluster, http.client.HTTPSConnection(*place, timeout=SECONDS, context=known)) == 200


LARGE = (14_000_000, 60_000_000)  # bodies; a question has 2 MiB at most
AT_ONCE = 8


def ask_much(cluster: Cluster, pod: dict, context: ssl.SSLContext, size: int) -> int | None:
    """None if the extender has closed the connection rather than read on."""
    link = http.client.HTTPSConnection(address(pod), EXTENDER, timeout=60, context=context)
    try:
        with cluster.inside(STRANGER):
            link.request("POST", "/filter", QUESTION.ljust(size).encode())
            return link.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        link.close()


def peak_mib(process: Process) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


@pytest.mark.parametrize("certificate", [(), ("scheduler.crt", "scheduler.key")], ids=["none", "stolen"])
def test_large_bodies_cost_the_extender_little(cluster, driver, certificate, measured):
    context = trusting(*map(driver.authority.path, certificate))
    before = {process: peak_mib(process) for process in driver.processes("/bin/azdisk-scheduler-extender")}
    questions = [(pod, size) for pod in driver.pods("extender") for size in LARGE] * AT_ONCE
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = set(pool.map(lambda question: ask_much(cluster, question[0], context, question[1]), questions))
    assert found <= {None, 413}
    growth = max(peak_mib(process) - peak for process, peak in before.items())
    measured["extender, growth by large bodies, MiB"] = round(growth, 1)
    assert growth < LARGE[0] * AT_ONCE / 2 / 2**20, "they are not kept"


# ---- the token of a node ----

CONTROLLER = "csi-azuredisk-controller"
NODE_ACCOUNT, CONTROLLER_ACCOUNT = "csi-azuredisk-node-sa", "csi-azuredisk-controller-sa"
POLICY = "azuredisk-node"


def thief(cluster: Cluster, account: str, pod: dict) -> client.ApiClient:
    """Somebody who has read the token of a pod."""
    name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
    token = cluster.kubectl("create", "token", account, "-n", NAMESPACE, "--bound-object-kind=Pod",
                            f"--bound-object-name={name}", f"--bound-object-uid={uid}").strip()
    document = json.loads(cluster.authority.path("admin.conf").read_text())
    document["users"][0]["user"] = {"token": token}
    path = cluster.directory / "stolen.conf"
    path.write_text(json.dumps(document))
    return config.new_client_from_config(str(path))


@pytest.fixture(scope="module")
def stolen(cluster, driver) -> client.ApiClient:
    """By the token of the plug-in on the stranger's node."""
    return thief(cluster, NODE_ACCOUNT, driver.pods("node", STRANGER)[0])


def refusal(cluster: Cluster, thief: client.ApiClient, method: str, path: str, body: dict | None = None) -> str:
    """What the API server says of it; nothing if it was done."""
    head = {"Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json"}
    try:
        with cluster.inside("cp"):
            thief.call_api(path, method, header_params=head, body=body, auth_settings=["BearerToken"])
        return ""
    except client.ApiException as error:
        return f"{error.status} {json.loads(error.body)['message']}"


RECORDS = f"/apis/disk.csi.azure.com/v1beta2/namespaces/{OBJECTS}"
SECRETS, POD = f"/api/v1/namespaces/{NAMESPACE}/secrets", {"metadata": {"name": "x"}, "spec": {"containers": []}}
NOTE, FINALIZERS = {"metadata": {"annotations": {"x": "y"}}}, {"metadata": {"finalizers": None}}
THEFTS = [
    ("GET", "/api/v1/secrets"), ("GET", SECRETS), ("GET", f"{SECRETS}/azure-cloud-provider"), ("GET", "/api/v1/pods"),
    ("POST", f"/api/v1/namespaces/{NAMESPACE}/pods", POD), ("GET", "/api/v1/persistentvolumes"),
    ("GET", "/api/v1/nodes"), ("PATCH", "/api/v1/nodes/node-a", NOTE), ("DELETE", "/api/v1/nodes/node-a"),
    ("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{NODE_ACCOUNT}/token", {"spec": {}}),
    ("GET", "/apis/storage.k8s.io/v1/volumeattachments"),
    ("DELETE", "/apis/storage.k8s.io/v1/volumeattachments/x"),
    ("PATCH", f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/csi-azuredisk-controller", NOTE),
    ("DELETE", f"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/{POLICY}"),
    ("GET", f"{RECORDS}/azvolumes"), ("POST", f"{RECORDS}/azvolumes", NOTE),
    ("PATCH", f"{RECORDS}/azvolumes/x", FINALIZERS), ("PATCH", f"{RECORDS}/azvolumes/x/status", NOTE),
    ("DELETE", f"{RECORDS}/azvolumes/x"),
    ("POST", f"{RECORDS}/azvolumeattachments", NOTE), ("PATCH", f"{RECORDS}/azvolumeattachments/x", FINALIZERS),
    ("DELETE", f"{RECORDS}/azvolumeattachments"), ("DELETE", f"{RECORDS}/azdrivernodes/node-a"),
    ("DELETE", f"{RECORDS}/azdrivernodes"),
]  # an object need not exist: only a caller who may ask for it is told that it does not


@pytest.mark.parametrize("theft", THEFTS, ids=lambda theft: f"{theft[0]} {theft[1].rpartition('/')[2]}")
def test_a_stolen_token_is_good_for_little(cluster, stolen, theft):
    assert refusal(cluster, stolen, *theft).startswith("403 ")


def test_a_stolen_token_is_good_for_its_own_node_alone(cluster, stolen):
    body = {"status": {"statusMessage": "I was here"}}

    def beat(node: str) -> str:
        return refusal(cluster, stolen, "PATCH", f"{RECORDS}/azdrivernodes/{node}/status", body)

    assert beat(STRANGER) == ""
    said = beat("node-a")
    assert said.startswith("403 ") and POLICY in said and STRANGER in said and "node-a" in said


def test_the_policy_means_what_it_says(cluster, driver):
    """The controller manager has checked its expressions against the definitions."""
    def checked() -> dict:
        return cluster.get("validatingadmissionpolicy", POLICY).get("status", {})

    assert "expressionWarnings" not in until(checked, "its types are checked").get("typeChecking", {})


# ---- a program that was taken over ----

LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"


def test_a_sidecar_reaches_the_drivers_leases_alone(cluster, driver):
    """The holder of another program's Lease decides which of its processes leads."""
    taken = thief(cluster, CONTROLLER_ACCOUNT, driver.pods("controller")[0])
    held = {lease["metadata"]["name"] for lease in cluster.get("leases", "-n", NAMESPACE)["items"]}
    cluster.apply({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                   "metadata": {"name": "somebody-elses", "namespace": NAMESPACE}})
    for method, name, body in (("GET", "somebody-elses", None), ("PATCH", "somebody-elses", NOTE),
                               ("DELETE", "somebody-elses", None), ("GET", "", None), ("DELETE", "", None)):
        assert refusal(cluster, taken, method, f"{LEASES}/{name}".rstrip("/"), body).startswith("403 "), (method, name)
    reached = {name for name in held if not refusal(cluster, taken, "GET", f"{LEASES}/{name}")}
    sidecars = {f"external-{name}-disk-csi-azure-com" for name in ("attacher-leader", "resizer", "snapshotter-leader")}
    assert reached == {"csi-azuredisk-controller", "disk-csi-azure-com", *sidecars}
    cluster.kubectl("delete", "lease", "somebody-elses", "-n", NAMESPACE)


@pytest.mark.parametrize("program", [
    "/bin/azdisk-controller", "/bin/azdisk-scheduler-extender", "/csi-provisioner", "/csi-attacher", "/csi-resizer"])
def test_it_is_nobody_on_its_node(cluster, driver, program):
    """With the azure.json from the Secret, as it is by default."""
    found = driver.processes(program)
    assert len(found) == 2
    for process in found:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        status = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
        assert set(status["Uid"]) == {"65532"}
        assert int(status["CapEff"][0], 16) == int(status["CapBnd"][0], 16) == 0
        assert status["NoNewPrivs"] == ["1"]
        assert status["Seccomp"] == ["2"], "filtered"
        assert "/etc/kubernetes" not in Path(f"/proc/{process.pid}/mountinfo").read_text()


# ---- a tenant's objects ----

PODS, BYTES_OF_POD = 55, 1_300_000  # more than a page of a list may have; etcd takes no larger object
GAVE_UP = 1  # the exit status of a leader that could not renew its lease in time, as on a slow machine


@pytest.fixture
def large_pods(cluster) -> Iterator[None]:
    """Nobody schedules them."""
    environment = [{"name": "X", "value": "x" * BYTES_OF_POD}]
    spec = {"schedulerName": "nobody", "containers": [{"name": "c", "image": "x", "env": environment}]}
    with cluster.inside("cp"):
        core = client.CoreV1Api(config.new_client_from_config(str(cluster.authority.path("admin.conf"))))
        core.create_namespace({"metadata": {"name": "tenant"}})
        cluster.kubectl("wait", "serviceaccount/default", "-n", "tenant", "--for=create", "--timeout=60s")
        for number in range(PODS):
            core.create_namespaced_pod("tenant", {"metadata": {"name": f"large-{number}"}, "spec": spec})
    yield
    cluster.kubectl("delete", "namespace", "tenant", PATIENCE)


def restarted(pods: list[dict]) -> list[dict]:
    """Containers that did not just give up a lease, once: killed by a probe or for their memory, or again and again."""
    containers = [container for pod in pods for container in pod["status"]["containerStatuses"]]
    return [c for c in containers if c["restartCount"] > 1
            or c["restartCount"] and c["lastState"]["terminated"]["exitCode"] != GAVE_UP]


def test_controllers_that_start_among_large_pods_serve(cluster, azure, driver, large_pods, measured):
    cluster.kubectl("rollout", "restart", f"deployment/{CONTROLLER}", "-n", NAMESPACE)
    cluster.kubectl("rollout", "status", f"deployment/{CONTROLLER}", "-n", NAMESPACE, PATIENCE)
    ledger = Ledger(cluster, "among-large-pods", 2)
    ledger.apply()
    ledger.wait_ready()
    until(lambda: sorted(driver.roles(ledger.volume()).values()) == [PRIMARY, REPLICA],
          "Pods have been read, and the replica is placed")
    assert restarted(driver.pods("controller")) == []
    measured["controller among large pods, MiB"] = round(driver.resident_mib()["controller"], 1)
    ledger.delete()
    until(azure.nothing_left, "nothing is left in Azure", interval=0.5)
