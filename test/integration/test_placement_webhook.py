"""The webhook of the scheduler extender as a real API server calls it, configured as the chart has it: which pods get the
gate, that it goes again whoever has died, and what the account of the extender may do with pods besides."""

import http.client
import json
import ssl
import subprocess
import time

import pytest
from cluster.authority import Authority
from cluster.process import Process
from cluster.waiting import until
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException

from .placement import pod
from .placement_webhook import ACCOUNT, Webhook, attached, changed, no_pods

CONTROLLER = "csi-azuredisk-controller-sa"
GATE = "disk.csi.azure.com/placement"
DEFAULT_PATIENCE = 10  # seconds that the API server waits for a webhook that does not say how long


@pytest.fixture(scope="module")
def objects(apiserver):
    yield from attached(apiserver)


@pytest.fixture
def core(apiserver):
    yield from no_pods(apiserver)


@pytest.fixture(scope="module")
def webhook(apiserver, objects, tmp_path_factory):
    with Webhook(apiserver, tmp_path_factory.mktemp("webhook"), "nominate") as webhook:
        yield webhook


@pytest.fixture
def extender(webhook, core):
    with webhook.extender() as extender:
        extender.until_ready()
        gates_are_added(webhook, core)
        yield extender


def gates_are_added(webhook: Webhook, core: client.CoreV1Api) -> None:
    """The extender has seen the leader renew, and the API server has the configuration."""
    def is_added() -> bool:
        webhook.lead()
        return gated(core.create_namespaced_pod("default", pod("asking", ["one"]), dry_run="All"))
    until(is_added, "the first gate")


def gated(pod: client.V1Pod) -> bool:
    return GATE in [gate.name for gate in pod.spec.scheduling_gates or []]


def is_gated(core: client.CoreV1Api, name: str) -> bool:
    return gated(core.read_namespaced_pod(name, "default"))


# ---- gates come and go ----

def test_a_gate_comes_and_goes(core, extender):
    """Nobody proposes a node here."""
    begin = time.monotonic()
    assert gated(core.create_namespaced_pod("default", pod("db", ["one"])))
    until(lambda: not is_gated(core, "db"), "the removal of the gate")
    assert time.monotonic() - begin > 4
    until(lambda: extender.metrics().get('azuredisk_placement_overdue_gates_total{result="ok"}') == 1, "it is counted")


def test_a_gate_does_not_outlive_a_restart(core, webhook, extender):
    assert gated(core.create_namespaced_pod("default", pod("db", ["one"])))
    extender.kill()
    time.sleep(6)
    assert is_gated(core, "db")
    said = len(extender.log.read_text())
    with webhook.extender():
        until(lambda: not is_gated(core, "db"), "the removal of the gate")
        until(lambda: "was overdue and is removed" in extender.log.read_text()[said:], "it says so")


def test_who_ends_removes_its_gates(core, webhook):
    core.create_namespaced_pod("default", changed(schedulingGates=[{"name": GATE}]))
    with webhook.extender() as extender:
        extender.until_ready()
        gates_are_added(webhook, core)  # so it has read the pods that have one
    assert not is_gated(core, "db")


def test_a_dry_run_leaves_nothing(core, extender):
    assert gated(core.create_namespaced_pod("default", pod("db", ["one"]), dry_run="All"))
    assert core.list_namespaced_pod("default").items == []


def owned(kind: str) -> dict:
    whole = pod("db", ["one"])
    whole["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": kind, "name": "o", "uid": "u",
                                             "controller": True}]
    return whole


def nameless() -> dict:
    whole = pod("db", ["one"])
    whole["metadata"] = {"generateName": "db-"}
    return whole


def huge(text: str) -> dict:
    whole = pod("db", ["one"] * 500)
    whole["spec"]["containers"][0]["env"] = [{"name": f"E{i}", "value": text} for i in range(2000)]
    return whole


TREATED = {"a replica set's": owned("ReplicaSet"), "without a name": nameless(), "500 volumes and a megabyte": huge("x" * 450),
           "another claim, too": pod("db", ["lonely", "one"])}
LEFT = {"no claim": pod("db", []), "a disk that is nowhere": pod("db", ["lonely"]), "no such claim": pod("db", ["two"]),
        "another scheduler": pod("db", ["one"], "other"), "a daemon set's": owned("DaemonSet"),
        # The API server spells each of these characters with six.
        "more than 3 MiB in a review": huge("<&>" * 100), "a node": changed(nodeName="a"),
        "somebody's gate": changed(schedulingGates=[{"name": f"{GATE}-2"}])}


@pytest.mark.parametrize("body", TREATED.values(), ids=TREATED)
def test_pods_whose_disks_are_somewhere(core, extender, body):
    made = core.create_namespaced_pod("default", body)
    assert gated(made)
    if len(body["spec"]["volumes"]) == 500:
        until(lambda: not is_gated(core, "db"), "the removal of the gate")


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_pods_that_are_left_as_they_are(core, extender, body):
    assert not gated(core.create_namespaced_pod("default", body, dry_run="All"))


@pytest.mark.parametrize("namespace", ["quiet", "kube-system"])
def test_excluded_namespaces(core, objects, extender, namespace):
    """The API server does not even ask."""
    if namespace == "quiet":
        core.create_namespace({"metadata": {"name": namespace}})
    before = extender.metrics()
    body = pod("db", ["one"])
    del body["metadata"]["namespace"]
    core.create_namespaced_pod(namespace, body, dry_run="All")
    assert extender.metrics().get("azuredisk_placement_request_duration_seconds_count") == before.get(
        "azuredisk_placement_request_duration_seconds_count")


# ---- nobody waits for us ----

def test_no_gate_without_a_leader(core, webhook, extender):
    def is_added() -> bool:
        return gated(core.create_namespaced_pod("default", pod("db", ["one"]), dry_run="All"))

    webhook.lead(seconds=1)
    until(lambda: not is_added(), "no gate")
    webhook.lead()
    until(is_added, "a gate again")
    webhook.lead(holder="")
    until(lambda: not is_added(), "no more gates")


def test_a_wrong_certificate_costs_only_the_advice(core, webhook, extender, tmp_path):
    stranger = Authority(tmp_path / "pki", "")
    stranger.create()
    webhook.configure(stranger)
    try:
        until(lambda: not gated(core.create_namespaced_pod("default", pod("db", ["one"]), dry_run="All")),
              "the new configuration")
        begin = time.monotonic()
        assert not gated(core.create_namespaced_pod("default", pod("db", ["one"])))
        assert time.monotonic() - begin < DEFAULT_PATIENCE
    finally:
        webhook.configure(webhook.authority)


def test_without_the_extender_pods_are_made(core, webhook):
    begin = time.monotonic()
    assert not gated(core.create_namespaced_pod("default", pod("db", ["one"])))
    assert time.monotonic() - begin < DEFAULT_PATIENCE


def test_an_extender_that_hangs_costs_two_seconds(core, webhook, extender):
    """Which is what the chart says."""
    def is_made_in_time() -> bool:
        begin = time.monotonic()
        assert not gated(core.create_namespaced_pod("default", pod("db", ["one"]), dry_run="All"))
        return time.monotonic() - begin < DEFAULT_PATIENCE

    Process.of(extender.process.pid).stop()
    try:
        webhook.configure(webhook.authority, seconds=2)
        until(is_made_in_time, "the new configuration")
    finally:
        extender.process.send_signal(subprocess.signal.SIGCONT)
        webhook.configure(webhook.authority)


# ---- strangers ----

def call(webhook: Webhook, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
    context = ssl.create_default_context(cafile=webhook.authority.path("ca.crt"))
    link = http.client.HTTPSConnection("localhost", webhook.port, timeout=20, context=context)
    try:
        link.request(method, path, body, {"Content-Type": "application/json"})
        answer = link.getresponse()
        assert answer.will_close or answer.status in (404, 405, 413), "a connection is kept to a replica that may die"
        return answer.status, answer.read()
    finally:
        link.close()


def review(**request) -> bytes:
    whole = {"uid": "7", "operation": "CREATE", "namespace": "default", "kind": {"group": "", "kind": "Pod"}} | request
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": whole}).encode()


def test_calls_that_make_no_sense(webhook, extender):
    for body in b"", b"pod", b"{}", b"[" * 100000, json.dumps({"kind": "AdmissionReview"}).encode():
        status, answer = call(webhook, "POST", "/placement", body)
        assert status == 400 and answer
    assert call(webhook, "POST", "/placement", b" " * (3 * 1024 * 1024 + 1))[0] == 413
    assert call(webhook, "GET", "/placement")[0] == 405
    for path in "/", "/filter", "/prioritize", "/ping", "/metrics":  # not here
        assert call(webhook, "POST", path, b"{}")[0] == 404


@pytest.mark.parametrize("request_", [{"object": None}, {"object": []}, {"object": {"metadata": 7, "spec": "x"}},
                                      {"object": pod("db", ["one"] * 1001)}, {"namespace": 7, "object": pod("db", ["one"])},
                                      {"operation": "UPDATE", "object": pod("db", ["one"])}, {"kind": 7}], ids=json.dumps)
def test_a_pod_that_makes_no_sense_is_allowed(webhook, extender, request_):
    status, answer = call(webhook, "POST", "/placement", review(**request_))
    assert status == 200
    assert json.loads(answer) == {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                                  "response": {"uid": "7", "allowed": True}}


# ---- what the account may do ----

def patch(webhook: Webhook, account: str, name: str, patch: object, status: bool = False) -> str:
    """What the API server says of it; nothing if it was done."""
    kubeconfig = webhook.kubeconfig if account == ACCOUNT else webhook.release.kubeconfig(account)
    core = client.CoreV1Api(config.new_client_from_config(str(kubeconfig)))
    try:
        (core.patch_namespaced_pod_status if status else core.patch_namespaced_pod)(name, "default", patch)
    except ApiException as failure:
        return json.loads(failure.body)["message"]
    return ""


FORBIDDEN = {
    "a label": ({"metadata": {"labels": {"a": "b"}}}, "of a pod's metadata, the driver may change nothing"),
    "an annotation": ({"metadata": {"annotations": {"a": "b"}}}, "of a pod's metadata"),
    "a finalizer": ({"metadata": {"finalizers": ["a.example/b"]}}, "of a pod's metadata"),
    "an image": ({"spec": {"containers": [{"name": "main", "image": "other"}]}},
                 "of a pod, the driver may only change schedulingGates"),
    "a toleration": ({"spec": {"tolerations": [{"key": "a", "operator": "Exists"}]}},
                     "of a pod, the driver may only change schedulingGates"),
    "a node selector": ({"spec": {"nodeSelector": {"a": "b"}}}, "of a pod, the driver may only change schedulingGates"),
    "a deadline": ({"spec": {"activeDeadlineSeconds": 1}}, "of a pod, the driver may only change schedulingGates"),
}
OTHER_GATE = f"{GATE}-2"


@pytest.mark.parametrize("wanted, reason", FORBIDDEN.values(), ids=FORBIDDEN)
def test_of_a_pod_only_the_gate_may_be_changed(core, webhook, wanted, reason):
    core.create_namespaced_pod("default", changed(schedulingGates=[{"name": GATE}]))
    assert reason in patch(webhook, ACCOUNT, "db", wanted)


def test_of_the_gates_only_ours_may_be_removed(core, webhook):
    core.create_namespaced_pod("default", changed(schedulingGates=[{"name": OTHER_GATE}, {"name": GATE}]))
    reason = f"of a pod's scheduling gates, the driver may only remove {GATE}"
    assert reason in patch(webhook, ACCOUNT, "db", [{"op": "remove", "path": "/spec/schedulingGates/0"}])
    assert reason in patch(webhook, ACCOUNT, "db", [{"op": "remove", "path": "/spec/schedulingGates"}])
    assert patch(webhook, ACCOUNT, "db", [{"op": "remove", "path": "/spec/schedulingGates/1"}]) == ""
    [left] = core.read_namespaced_pod("db", "default").spec.scheduling_gates
    assert left.name == OTHER_GATE


def test_the_status_is_the_controllers(core, webhook):
    core.create_namespaced_pod("default", changed(schedulingGates=[{"name": GATE}]))
    rules = [{"apiGroups": [""], "resources": ["pods", "pods/status"], "verbs": ["patch"]}]
    meta = {"name": f"{webhook.release.namespace}-everything"}
    rbac = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": meta}
    subjects = [{"kind": "ServiceAccount", "name": name, "namespace": webhook.release.namespace}
                for name in (ACCOUNT, CONTROLLER)]
    roles = [{**rbac, "kind": "ClusterRole", "rules": rules},
             {**rbac, "kind": "ClusterRoleBinding", "subjects": subjects,
              "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": meta["name"]}}]
    webhook.release.kubectl("apply", "--filename=-", objects=roles)
    try:
        nominate = {"status": {"nominatedNodeName": "a"}}
        until(lambda: not patch(webhook, CONTROLLER, "db", nominate, True), "the permission")
        assert core.read_namespaced_pod("db", "default").status.nominated_node_name == "a"
        ready = {"conditions": [{"type": "Ready", "status": "True"}]}
        for other in {"phase": "Failed"}, {"message": "m"}, ready, {"podIP": "192.0.2.1"}:
            assert "may only change nominatedNodeName" in patch(webhook, CONTROLLER, "db", {"status": other}, True)
        assert "writes only the status, by its controller" in patch(webhook, ACCOUNT, "db", nominate, True)
        assert patch(webhook, CONTROLLER, "db", [{"op": "remove", "path": "/spec/schedulingGates/0"}]) == ""
    finally:
        webhook.release.kubectl("delete", "--filename=-", objects=roles)


def test_the_roles_allow_what_is_asked_for_and_no_more(core, webhook, extender):
    test_a_gate_comes_and_goes(core, extender)
    allowed = {p for p in webhook.release.permissions() if p.account == ACCOUNT}
    uses = [use for use, was_allowed in webhook.release.uses().items() if use.account == ACCOUNT and was_allowed]
    assert {p for p in allowed if not any(p.covers(use) for use in uses)} == set()
    refused = {use for use, was_allowed in webhook.release.uses().items() if use.account == ACCOUNT and not was_allowed}
    assert {use.resource for use in refused} <= {"pods/status"}  # by a test above
