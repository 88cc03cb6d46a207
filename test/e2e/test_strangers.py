"""What somebody in the cluster can do to the driver who has nothing but the network, or the token of one node."""

import http.client
import json
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cluster.cluster import Cluster
from cluster.images import BUSYBOX_IMAGE
from cluster.waiting import until
from deployment.driver import NAMESPACE, OBJECTS, Driver
from kubernetes import client, config

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
    cluster.kubectl("wait", "pod/scheduled", "--for=condition=PodScheduled", f"--timeout={SECONDS}s")
    until(lambda: questions(cluster, driver) > before, "the scheduler has been answered", SECONDS)
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


# ---- the token of a node ----

NODE_ACCOUNT = "csi-azuredisk-node-sa"
POLICY = "azuredisk-node"


@pytest.fixture(scope="module")
def stolen(cluster, driver) -> client.ApiClient:
    """Of somebody who has read the token of the plug-in on the stranger's node."""
    [pod] = driver.pods("node", STRANGER)
    name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
    token = cluster.kubectl("create", "token", NODE_ACCOUNT, "-n", NAMESPACE, "--bound-object-kind=Pod",
                            f"--bound-object-name={name}", f"--bound-object-uid={uid}").strip()
    document = json.loads(cluster.authority.path("admin.conf").read_text())
    document["users"][0]["user"] = {"token": token}
    path = cluster.directory / "stolen.conf"
    path.write_text(json.dumps(document))
    return config.new_client_from_config(str(path))


def refusal(cluster: Cluster, call: Callable, *arguments: object) -> str:
    """What the API server says of it; nothing if it was done."""
    try:
        with cluster.inside("cp"):
            call(*arguments)
        return ""
    except client.ApiException as error:
        return f"{error.status} {json.loads(error.body)['message']}"


def test_a_stolen_token_is_good_for_its_own_node_alone(cluster, driver, stolen):
    objects, core = client.CustomObjectsApi(stolen), client.CoreV1Api(stolen)
    kind = "disk.csi.azure.com", "v1beta2", OBJECTS
    body = {"status": {"statusMessage": "I was here"}}

    def beat(node: str) -> str:
        return refusal(cluster, objects.patch_namespaced_custom_object_status, *kind, "azdrivernodes", node, body)

    assert beat(STRANGER) == ""
    said = beat("node-a")
    assert said.startswith("403 ") and POLICY in said and STRANGER in said and "node-a" in said
    for call, *arguments in (
        (core.list_secret_for_all_namespaces,),
        (core.read_namespaced_secret, "azure-cloud-provider", NAMESPACE),
        (objects.delete_namespaced_custom_object, *kind, "azdrivernodes", "node-a"),
        (objects.list_namespaced_custom_object, *kind, "azvolumes"),
        (objects.delete_collection_namespaced_custom_object, *kind, "azvolumeattachments"),
    ):
        assert refusal(cluster, call, *arguments).startswith("403 "), call


def test_the_policy_means_what_it_says(cluster, driver):
    """The controller manager has checked its expressions against the definitions."""
    def checked() -> dict:
        return cluster.get("validatingadmissionpolicy", POLICY).get("status", {})

    assert "expressionWarnings" not in until(checked, "its types are checked").get("typeChecking", {})


# ---- a program that was taken over ----

@pytest.mark.parametrize("program", [
    "/bin/azdisk-controller", "/bin/azdisk-scheduler-extender", "/csi-provisioner", "/csi-attacher"])
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
