"""azdiskctl ungate: pods that nobody else lets go."""

import json

import pytest
from kubernetes import client

from .azdiskctl import Calls
from .placement import Placement
from .release import Release

GATE, OTHER = "disk.csi.azure.com/placement", "disk.csi.azure.com/placement-2"
NAMESPACES = ("ungate-a", "ungate-b")


@pytest.fixture(scope="module")
def core(apiserver):
    core = client.CoreV1Api(apiserver.client())
    Placement(apiserver.client()).install()
    for name in NAMESPACES:
        core.create_namespace({"metadata": {"name": name}})
    return core


@pytest.fixture
def pods(core):
    gates = {"gated": [OTHER, GATE], "alone": [GATE], "other": [OTHER], "free": []}
    for namespace in NAMESPACES:
        for name, names in gates.items():
            spec = {"containers": [{"name": "c", "image": "i"}], "schedulingGates": [{"name": gate} for gate in names]}
            core.create_namespaced_pod(namespace, {"metadata": {"name": name}, "spec": spec})
    yield
    for namespace in NAMESPACES:
        core.delete_collection_namespaced_pod(namespace, grace_period_seconds=0)


@pytest.fixture(scope="module")
def azdiskctl(apiserver):
    return Calls(apiserver.kubeconfig, "azure-disk-csi")


def gates(core, namespace: str) -> dict[str, list[str]]:
    return {pod.metadata.name: [gate.name for gate in pod.spec.scheduling_gates or []]
            for pod in core.list_namespaced_pod(namespace).items}


BEFORE = {"gated": [OTHER, GATE], "alone": [GATE], "other": [OTHER], "free": []}
AFTER = {"gated": [OTHER], "alone": [], "other": [OTHER], "free": []}


def test_all_pods_of_the_cluster(core, azdiskctl, pods):
    names = {f"{namespace}/{name}" for namespace in NAMESPACES for name in ("gated", "alone")}
    would = azdiskctl.ask("ungate", "--all", "--dry-run")["pods"]
    assert {(pod["pod"], pod["gate"]) for pod in would} == {(name, "would be removed") for name in names}
    assert [gates(core, namespace) for namespace in NAMESPACES] == [BEFORE, BEFORE]
    done = azdiskctl.ask("ungate", "--all")["pods"]
    assert {(pod["pod"], pod["gate"]) for pod in done} == {(name, "removed") for name in names}
    assert [gates(core, namespace) for namespace in NAMESPACES] == [AFTER, AFTER]
    assert azdiskctl.outputs("ungate", "--all")[0] == f"No pod has the scheduling gate {GATE}.\n"


def test_all_pods_of_a_namespace(core, azdiskctl, pods):
    done = azdiskctl.ask("ungate", "--all", "-n", "ungate-b")
    assert {pod["pod"] for pod in done["pods"]} == {"ungate-b/gated", "ungate-b/alone"}
    assert [gates(core, namespace) for namespace in NAMESPACES] == [BEFORE, AFTER]


@pytest.mark.parametrize("words", [["ungate-b/gated"], ["gated", "-n", "ungate-b"]], ids=["whole", "in a namespace"])
def test_one_pod(core, azdiskctl, pods, words):
    output, _ = azdiskctl.outputs("ungate", *words)
    assert output.split() == ["POD", "GATE", "NOTE", "ungate-b/gated", "removed", "-"]
    assert gates(core, "ungate-a") == BEFORE and gates(core, "ungate-b") == BEFORE | {"gated": [OTHER]}
    [again] = azdiskctl.ask("ungate", *words)["pods"]
    assert again == {"pod": "ungate-b/gated", "gate": "none", "note": f"it has no gate {GATE}"}


def test_what_cannot_be_done(apiserver, core, azdiskctl, pods):
    with Release(apiserver, "ungate-release") as release:
        reader = Calls(release.kubeconfig("csi-azuredisk-controller-sa"), "azure-disk-csi")
        failed = reader.ask("ungate", "--all", status=1)["pods"]
        assert len(failed) == 4 and all(pod["gate"] == "failed" and "cannot patch" in pod["note"] for pod in failed)
        assert gates(core, "ungate-a") == BEFORE
    for words, reason in ([["ungate-a/nobody"], "not found"], [["a/b/c"], "a/b/c is not NAMESPACE/POD"],
                          [["/gated"], "/gated is not NAMESPACE/POD"]):
        assert reason in azdiskctl.outputs("ungate", *words, status=2)[1]


@pytest.mark.parametrize("words, reason", [
    (["ungate"], "missing NAMESPACE/POD or --all"), (["ungate", "a/b", "--all"], 'unexpected argument "a/b"'),
    (["ungate", "a/b", "--timeout=5s"], "--timeout has no effect"), (["map", "--all"], "--all has no effect"),
    (["drain", "a", "-n", "shop"], "drain: --namespace has no effect"), (["map", "-nshop"], "map: --namespace has no effect"),
    (["map", "--prices=P10_LRS=1"], "map: --prices has no effect"),
    (["ungate", "a/b", "-n", "shop"], "ungate: --namespace has no effect on a/b"),
], ids=json.dumps)
def test_command_lines_that_make_no_sense(azdiskctl, words, reason):
    assert reason in azdiskctl.outputs(*words, status=2)[1]
