"""azdisk-scheduler-extender, built with sanitizers, against a real API server: what it answers
follows the objects, and what it is sent, in whatever form, is answered or refused."""

import http.client
import json
import socket
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cluster.waiting import until

from .extender import CHECKED, SHIPPED, Extender
from .placement import pod

NODES = ["a", "b", "c"]
NEUTRAL = [0, 0, 0]


@pytest.fixture
def objects(placement):
    """Three nodes with ready plug-ins, claim `one` with its volume; all is cleared afterwards."""
    for node in NODES:
        placement.plugin(node)
    placement.bound("one")
    yield placement
    placement.clear()


@pytest.fixture
def extender(apiserver, objects, tmp_path):
    with Extender(tmp_path / "log", kubeconfig=apiserver.kubeconfig) as extender:
        yield extender.until_ready()


def expect(extender: Extender, claims: list[str], scores: list[int]) -> None:
    """Once the extender has heard of a change."""
    until(lambda: extender.scores(claims, NODES) == scores, f"scores {scores}", interval=0.01)


# ---- what the answers follow ----


def test_scores_follow_the_attachments(extender, objects):
    assert extender.scores(["one"], NODES) == NEUTRAL
    objects.attachment("one", "b", "Attaching")
    expect(extender, ["one"], [0, 5, 0])
    objects.attachment("one", "b", "Attached")
    expect(extender, ["one"], [0, 10, 0])
    objects.attachment("one", "c", "Pending", lun=None)
    objects.attachment("one", "a", "Attached")
    expect(extender, ["one"], [10, 10, 0])
    objects.attachment("one", "a", "AttachmentFailed")
    expect(extender, ["one"], [0, 10, 0])
    objects.no_attachment("one", "b")
    expect(extender, ["one"], NEUTRAL)


def test_scores_are_shares_of_the_pods_volumes(extender, objects):
    for name in ("two", "three"):
        objects.bound(name)
    for node, disks in {"a": ("one", "two", "three"), "b": ("one", "two")}.items():
        for disk in disks:
            objects.attachment(disk, node, "Attached")
    expect(extender, ["one", "two", "three"], [10, 7, 0])
    assert extender.scores(["three"], NODES) == [10, 0, 0]


def test_scores_follow_the_health_of_plug_ins(extender, objects):
    objects.attachment("one", "a", "Attached")
    expect(extender, ["one"], [10, 0, 0])
    objects.plugin("a", silent=150)
    expect(extender, ["one"], [0, 1, 1])
    objects.plugin("a")
    expect(extender, ["one"], [10, 0, 0])
    objects.plugin("a", ready=False)
    expect(extender, ["one"], [0, 1, 1])
    objects.no_plugin("a")
    expect(extender, ["one"], [0, 1, 1])


def test_a_plug_in_grows_old_by_itself(apiserver, objects, tmp_path):
    objects.attachment("one", "a", "Attached")
    limit = "--heartbeat-limit=5s"
    with Extender(tmp_path / "log", limit, kubeconfig=apiserver.kubeconfig) as extender:
        def are_young() -> bool:
            for node in NODES:
                objects.plugin(node)
            return extender.scores(["one"], NODES) == [10, 0, 0]

        extender.until_ready()
        until(are_young, "they are heard of")
        until(lambda: extender.scores(["one"], NODES) == NEUTRAL, "old age")


def test_pods_that_are_not_ours_get_equal_scores(extender, objects):
    objects.attachment("one", "a", "Attached")
    expect(extender, ["one"], [10, 0, 0])
    objects.volume("foreign", "one", "foreign", driver="ebs.csi.aws.com")
    objects.claim("foreign", "foreign")
    objects.claim("unbound", None)
    for claims in ([], ["foreign"], ["unbound"], ["unheard-of"]):
        assert extender.scores(claims, NODES) == NEUTRAL
        assert extender.refused(claims, NODES) == {}


def test_volumes_of_many_nodes_get_equal_scores(extender, objects):
    objects.bound("shared", mode="ReadWriteMany")
    objects.attachment("shared", "a", "Attached")
    objects.attachment("one", "b", "Attached")
    expect(extender, ["shared", "one"], [0, 10, 0])
    assert extender.scores(["shared"], NODES) == NEUTRAL


def test_scores_follow_claims_and_volumes(extender, objects):
    objects.attachment("late", "c", "Attached")
    objects.claim("late", "late")
    assert extender.scores(["late"], NODES) == NEUTRAL
    objects.volume("late", "late", "late")
    expect(extender, ["late"], [0, 0, 10])
    objects.core.delete_persistent_volume("late")
    objects.core.patch_persistent_volume("late", {"metadata": {"finalizers": None}})
    expect(extender, ["late"], NEUTRAL)


def test_nobody_learns_where_a_volume_is_by_a_claim_that_names_it(extender, objects):
    """A claim may name any volume; whose it is, the volume says."""
    objects.attachment("one", "b", "Attached")
    objects.plugin("c", ready=False)
    expect(extender, ["one"], [1, 10, 0])
    objects.claim("strangers", "one")
    objects.bound("known")  # its claim comes after the stranger's
    objects.attachment("known", "a", "Attached")
    expect(extender, ["known"], [10, 1, 0])
    assert extender.scores(["strangers"], NODES) == NEUTRAL
    assert extender.refused(["strangers"], NODES) == {}


def test_a_claim_of_the_name_of_a_former_one_has_not_its_volume(extender, objects):
    claim = objects.core.read_namespaced_persistent_volume_claim("one", "default")
    objects.attachment("one", "b", "Attached")

    def reserve(uid: str) -> None:
        objects.core.patch_persistent_volume("one", {"spec": {"claimRef": {"uid": uid}}})

    reserve(claim.metadata.uid)
    expect(extender, ["one"], [0, 10, 0])
    reserve("0b1f6471-1bf0-4dda-aec3-cb9272f09590")
    expect(extender, ["one"], NEUTRAL)
    reserve(claim.metadata.uid)
    expect(extender, ["one"], [0, 10, 0])


def test_filter_refuses_a_node_that_says_it_is_not_ready(extender, objects):
    asked = [*NODES, "unheard-of"]
    assert extender.refused(["one"], asked) == {}
    objects.plugin("a", silent=150)
    objects.plugin("b", ready=False)
    refusal = {"b": "AzDriverNode for b is not ready."}
    until(lambda: extender.refused(["one"], asked) == refusal, "refusal of b", interval=0.01)
    objects.plugin("b", ready=False, silent=150)
    until(lambda: extender.refused(["one"], asked) == {}, "old news forgotten", interval=0.01)


def test_answers_go_on_while_the_api_server_does_not(extender, objects, apiserver):
    objects.attachment("one", "a", "Attached")
    expect(extender, ["one"], [10, 0, 0])
    apiserver.stop()
    try:
        assert extender.scores(["one"], NODES) == [10, 0, 0]
    finally:
        apiserver.cont()
    objects.attachment("one", "b", "Attached")
    until(lambda: extender.scores(["one"], NODES) == [10, 10, 0], "news after the pause")


# ---- forms ----

WHOLE = {"metadata": {}, "items": [{"metadata": {"name": node}, "spec": {}} for node in NODES]}
FORMS = {
    "names": {"Pod": pod("p", ["one"]), "Nodes": None, "NodeNames": NODES},
    "names, first generation": {"pod": pod("p", ["one"]), "nodenames": NODES},
    "nodes": {"Pod": pod("p", ["one"]), "Nodes": WHOLE, "NodeNames": None},
    "nodes, first generation": {"pod": pod("p", ["one"]), "nodes": WHOLE},
}


@pytest.mark.parametrize("prefix", ["", "azdiskschedulerextender/"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_both_generations_of_schedulers(extender, objects, form, prefix):
    objects.plugin("c", ready=False)
    objects.attachment("one", "b", "Attached")
    expect(extender, ["one"], [1, 10, 0])
    answer = extender.ask(prefix + "prioritize", form)
    assert answer == [{"Host": h, "Score": s} for h, s in {"a": 1, "b": 10}.items()], "c has nothing"

    answer = extender.ask(prefix + "filter", form)
    by_name = any(key.lower() == "nodenames" and form[key] for key in form)
    assert answer == {
        "Nodes": None if by_name else {"items": WHOLE["items"][:2]},
        "NodeNames": ["a", "b"] if by_name else None,
        "FailedNodes": {"c": "AzDriverNode for c is not ready."},
        "FailedAndUnresolvableNodes": {},
        "Error": "",
    }


ALIKE = {
    "names": ({"Pod": pod("p", []), "Nodes": None, "NodeNames": NODES}, None, NODES),
    "nodes": ({"Pod": pod("p", []), "Nodes": WHOLE, "NodeNames": None}, WHOLE, None),
    "no nodes": ({"Pod": pod("p", []), "Nodes": None, "NodeNames": None}, None, None),
}


@pytest.mark.parametrize(("form", "whole", "names"), ALIKE.values(), ids=ALIKE.keys())
def test_pods_to_which_all_nodes_are_alike(extender, objects, form, whole, names):
    """They get their nodes back as they came, and an empty list of scores: both say to
    kube-scheduler that there is nothing to say."""
    objects.plugin("c", ready=False)
    objects.attachment("one", "b", "Attached")
    expect(extender, ["one"], [1, 10, 0])
    assert extender.ask("prioritize", form) == []
    answer = extender.ask("filter", form)
    assert answer == {"Nodes": whole, "NodeNames": names, "FailedNodes": {}, "FailedAndUnresolvableNodes": {},
                      "Error": ""}


def large(size: int) -> bytes:
    """A request with whole nodes of 100 kB each, of `size` bytes in all."""
    image = {"names": ["x" * 200], "sizeBytes": 1}
    items = [
        {"metadata": {"name": f"n{i}"}, "status": {"images": [image] * 400}}
        for i in range(size // 100_000)
    ]
    text = json.dumps({"Pod": pod("p", ["one"]), "Nodes": {"items": items}})
    return (text + " " * (size - len(text))).encode()


def test_large_requests(apiserver, objects, tmp_path):
    with Extender(tmp_path / "log", "--max-request-bytes=67108864", kubeconfig=apiserver.kubeconfig) as extender:
        extender.until_ready()
        body = large(20_000_000)
        status, answer = extender.request("POST", "/filter", body)
        assert status == 200
        assert json.loads(answer)["Nodes"]["items"] == json.loads(body)["Nodes"]["items"]
        objects.plugin("n0")
        objects.attachment("one", "n0", "Attached")
        until(lambda: extender.scores(["one"], ["n0"]) == [10], "news of the attachment")
        status, answer = extender.request("POST", "/prioritize", large(64 << 20))
        assert status == 200
        assert json.loads(answer) == [{"Host": "n0", "Score": 10}]
        status, answer = extender.request("POST", "/prioritize", large((64 << 20) + 1))
        assert (status, answer) == (413, b"the body is larger than 67108864 bytes\n")


# ---- strangers ----

MIB = 1 << 20


def peak_mib(extender: Extender) -> float:
    status = Path(f"/proc/{extender.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


def test_names_of_15000_nodes_are_no_large_request(extender, objects):
    nodes = [f"aks-nodepool1-12345678-vmss{i:06}.{'x' * 60}.internal.cloudapp.net" for i in range(15_000)]
    assert extender.scores(["one"], nodes) == [0] * len(nodes)
    objects.attachment("one", "a", "Attached")
    expect(extender, ["one"], [10, 0, 0])
    assert extender.scores(["one"], [*nodes, "a"]) == [0] * len(nodes) + [10]


def crowded(size: int) -> bytes:
    """A pod with as many volumes as fit, which is what costs most to take apart."""
    volume = b'{"name":"v","emptyDir":{}}'
    head, tail = b'{"Pod":{"metadata":{"namespace":"n"},"spec":{"volumes":[', b']}},"NodeNames":["a"]}'
    n = (size - len(head) - len(tail) + 1) // (len(volume) + 1)
    return (head + b",".join([volume] * n)).ljust(size - len(tail)) + tail


def status_of(extender: Extender, body: bytes) -> int | None:
    """None if the connection gave way to another."""
    try:
        return extender.request("POST", "/filter", body)[0]
    except (OSError, http.client.HTTPException):
        return None


def test_bodies_are_not_worth_more_memory_than_they_are_large(apiserver, objects, tmp_path):
    with Extender(tmp_path / "log", kubeconfig=apiserver.kubeconfig, program=SHIPPED) as extender:
        extender.until_ready()
        before = peak_mib(extender)
        assert extender.request("POST", "/filter", crowded(2 * MIB))[0] == 200
        assert peak_mib(extender) - before < 20
        refusal = (413, b"the body is larger than 2097152 bytes\n")
        assert extender.request("POST", "/filter", crowded(14_000_000)) == refusal
        with ThreadPoolExecutor(40) as pool:
            found = Counter(pool.map(lambda _: status_of(extender, crowded(2 * MIB)), range(200)))
        assert found[200] > 0 and found.keys() <= {200, 503, None}
        assert peak_mib(extender) - before < 100, "however many come at once"


def test_connections_without_a_question_keep_nobody_waiting(extender):
    idle = [socket.create_connection(("127.0.0.1", port)) for port in (extender.port, extender.metrics_port)
            for _ in range(200)]
    assert extender.scores(["one"], NODES) == NEUTRAL
    assert extender.request("GET", "/readyz", port=extender.metrics_port) == (200, b"ok\n")
    for connection in idle:
        connection.close()


def test_callers_learn_nothing_else(extender):
    for path in ("/metrics", "/readyz", "/healthz", "/"):
        assert extender.request("GET", path)[0] == 404


REFUSED = [
    ("POST", "/filter", b"nodes", 400, "not JSON: invalid, truncated or nested too deeply after byte 0\n"),
    ("POST", "/prioritize", b"", 400, "not JSON: invalid, truncated or nested too deeply after byte 0\n"),
    ("POST", "/prioritize", b"{}", 400, "Pod is missing\n"),
    ("POST", "/filter", b'{"Pod":{},"NodeNames":{}}', 400, "NodeNames is not a list\n"),
    ("GET", "/filter", None, 405, "GET /filter: no such method for this path\n"),
    (
        "PUT",
        "/azdiskschedulerextender/filter",
        b"{}",
        405,
        "PUT /azdiskschedulerextender/filter: no such method for this path\n",
    ),
    ("POST", "/bind", b"{}", 404, "POST /bind: no such path\n"),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "text"), REFUSED)
def test_what_bad_requests_get(extender, method, path, body, status, text):
    assert extender.request(method, path, body) == (status, text.encode())


# ---- probes, start and end ----


def test_probes(extender):
    for path in ("/healthz", "/readyz"):
        assert extender.request("GET", path, port=extender.metrics_port) == (200, b"ok\n")
    assert b"azuredisk_build_info" in extender.request("GET", "/metrics", port=extender.metrics_port)[1]
    assert extender.request("GET", "/ping") == (200, b"ok\n")


def test_metrics(extender, objects):
    objects.attachment("one", "a", "Attached")
    expect(extender, ["one"], [10, 0, 0])
    before = extender.metrics()
    extender.scores(["one"], NODES)
    extender.refused(["one"], NODES)
    extender.request("POST", "/filter", b"{}")
    after = extender.metrics()
    grown = {name: value - before.get(name, 0) for name, value in after.items()}

    assert grown['azuredisk_extender_requests_total{verb="prioritize",result="ok"}'] == 1
    assert grown['azuredisk_extender_requests_total{verb="filter",result="ok"}'] == 1
    assert grown['azuredisk_extender_requests_total{verb="filter",result="InvalidArgument"}'] == 1
    assert grown['azuredisk_extender_request_duration_seconds_count{verb="filter"}'] == 2
    assert grown["schedulerExtender_extender_requests_total"] == 3
    name = "schedulerExtender_extender_prioritize_nodes_duration_seconds_count"
    assert grown[f'{name}{{prioritize="Prioritize"}}'] == 1
    claims = len(objects.core.list_persistent_volume_claim_for_all_namespaces().items)
    in_memory = {"PersistentVolumeClaim": claims, "PersistentVolume": 1, "AzDriverNode": 3}
    for kind, n in (in_memory | {"AzVolumeAttachment": 1}).items():
        assert after[f'azuredisk_extender_index_objects{{kind="{kind}"}}'] == n


def test_neutral_while_the_cluster_cannot_be_read(tmp_path):
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(
        json.dumps(
            {
                "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
                "current-context": "c",
            }
        )
    )
    with Extender(tmp_path / "log", kubeconfig=kubeconfig) as extender:
        until(extender.listens, "listening")
        unready = (503, b"the cluster's objects have not been read yet\n")
        assert extender.request("GET", "/readyz", port=extender.metrics_port) == unready
        assert extender.request("GET", "/healthz", port=extender.metrics_port) == (200, b"ok\n")
        assert extender.scores(["one"], NODES) == NEUTRAL
        assert extender.refused(["one"], NODES) == {}


START_FAULTS = [
    (["--adress=:1"], 2, "unknown flag --adress (see --help)"),
    (["--heartbeat-limit=0s"], 2, '--heartbeat-limit: "0s" is shorter than 1s'),
    (["--tls-cert-file=x"], 2, "--tls-cert-file and --tls-key-file must be set together"),
    (["--client-ca-file=x"], 2, "--client-ca-file requires --tls-cert-file"),
    (["--kubeconfig=/nowhere"], 1, "/nowhere"),
    (["--tls-cert-file=/nowhere.crt", "--tls-key-file=/x"], 1, "/nowhere.crt"),
    (["--address=here"], 1, "here"),
]


@pytest.mark.parametrize(("flags", "status", "text"), START_FAULTS)
def test_what_bad_flags_get(apiserver, flags, status, text):
    words = [CHECKED, f"--kubeconfig={apiserver.kubeconfig}", "--metrics-address=127.0.0.1:0"]
    done = subprocess.run([*words, *flags], capture_output=True, text=True, timeout=30)
    said = [line for line in done.stderr.splitlines() if "==WARNING: ASan" not in line]
    assert done.returncode == status
    assert len(said) == 1 and text in said[0], said
