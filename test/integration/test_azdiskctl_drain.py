"""azdiskctl drain against a real API server: which pods leave, in which order, where to, and what keeps the others."""

import json
import signal
from pathlib import Path

import pytest
import yaml
from cluster.waiting import until
from kubernetes import client

from .placement import pod
from .workload import Ctl, Workload, living

NODES = ("a", "b", "c")
PAGE = Path(__file__).parents[2] / "docs/azdiskctl.md"


@pytest.fixture
def make(objects):
    """Pods on node a; those with volumes of ours have replicas where it says."""
    made = []

    def workload(name: str, *replicas: str) -> Workload:
        made.append(Workload(objects, name, "a", replicas))
        made[-1].act()
        return made[-1]

    yield workload
    for each in made:
        each.close()


def outcomes(drained: dict) -> list[tuple]:
    return [(p["pod"], p["outcome"], p.get("move", {}).get("node")) for p in drained["pods"]]


def is_cordoned(objects, node="a") -> bool:
    return bool(objects.core.read_node(node).spec.unschedulable)


def other_pods(objects) -> None:
    """That a drain does not concern: of a DaemonSet, with a volume; without volumes; on another node."""
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "1", "controller": True}
    objects.bound("agent")
    for name, claims, node, owners in (("agent", ["agent"], "a", [owner]), ("bare", [], "a", []),
                                       ("elsewhere", ["agent"], "b", [])):
        made = pod(name, claims)
        made["spec"]["nodeName"] = node
        made["metadata"]["ownerReferences"] = owners
        objects.core.create_namespaced_pod("default", made)


def test_pods_move_those_with_replicas_first(objects, make, ctl):
    slow, fast = make("archive"), make("db", "b", "c")
    other_pods(objects)
    before = {p.metadata.name: p.metadata.uid for p in objects.core.list_namespaced_pod("default").items}
    slow.places, fast.places = ["c"], ["b"]
    with living(slow, fast):
        process = ctl.start("drain", "a", "-o", "json")
        output, steps = process.communicate(timeout=120)
    assert process.returncode == 0, steps
    drained = json.loads(output)
    assert outcomes(drained) == [("default/db-0", "moved", "b"), ("default/archive-0", "moved", "c")]
    texts = [step["text"] for step in drained["steps"]]
    assert texts.index("evicted pod default/db-0") < texts.index("evicted pod default/archive-0")
    assert "warning: pod default/archive-0 has no ready replica to go to: volume archive has no replica\n" in steps
    assert "cordoned node a" in steps and is_cordoned(objects)
    after = {p.metadata.name: p.metadata.uid for p in objects.core.list_namespaced_pod("default").items}
    assert {name for name in before if before[name] == after.get(name)} == {"agent", "bare", "elsewhere"}
    assert "No pod on node a had to move" in ctl.run("drain", "a")


def test_a_dry_run_changes_nothing(objects, make, ctl):
    make("db", "b"), make("archive")
    before = [p.metadata.resource_version for p in objects.core.list_namespaced_pod("default").items]
    text = ctl.run("drain", "--dry-run", "a")
    assert "default/archive-0  would move  -   volume archive has no replica" in text
    assert "default/db-0       would move  b   ready replicas" in text
    assert not is_cordoned(objects)
    assert [p.metadata.resource_version for p in objects.core.list_namespaced_pod("default").items] == before


def test_who_would_not_be_made_again_stays(objects, make, ctl):
    """And holds up no other pod."""
    scaled, fast = make("app", "b"), make("db", "b")
    scaled.apps.patch_namespaced_stateful_set_status("app", "default", {"status": {"replicas": 2}})
    alone = pod("alone", ["app"])
    alone["spec"]["nodeName"] = "a"
    objects.core.create_namespaced_pod("default", alone)
    fast.places = ["b"]
    with living(fast):
        drained = ctl.ask("drain", "a", status=1)
    assert sorted(outcomes(drained)) == [("default/alone", "stays", None), ("default/app-0", "stays", None),
                                         ("default/db-0", "moved", "b")]
    why = {p["pod"]: p["why"] for p in drained["pods"]}
    assert "is being scaled down from 2 to 1 pods" in why["default/app-0"]
    assert why["default/alone"] == "it has no controller that would make it again"


def test_a_budget_keeps_one_pod_and_no_other(objects, make, ctl):
    kept, free = make("app", "b"), make("db", "b")
    kept.budget(allowed=0)
    kept.places, free.places = ["b"], ["b"]
    with living(kept, free):
        process = ctl.start("drain", "a", "-o", "json")
        until(lambda: free.node == "b" and free.pod().status.phase == "Running", "the other one moves")
        assert kept.node == "a"
        kept.budget(allowed=1)
        output, steps = process.communicate(timeout=60)
    assert process.returncode == 0, steps
    assert outcomes(json.loads(output)) == [("default/db-0", "moved", "b"), ("default/app-0", "moved", "b")]
    assert steps.count("pod default/app-0 may not be evicted yet") == 1


def test_a_pod_of_two_budgets_keeps_no_other(objects, make, ctl):
    """The API server answers its eviction with an error of its own (HTTP 500)."""
    kept, free = make("app", "b"), make("db", "b")
    kept.budget(allowed=1)
    kept.budget(allowed=1, name="other")
    kept.places, free.places = ["b"], ["b"]
    with living(kept, free):
        process = ctl.start("drain", "a", "-o", "json")
        until(lambda: free.node == "b" and free.pod().status.phase == "Running", "the other one moves")
        assert kept.node == "a"
        kept.lift_budget("other")
        output, steps = process.communicate(timeout=60)
    assert process.returncode == 0, steps
    assert outcomes(json.loads(output)) == [("default/db-0", "moved", "b"), ("default/app-0", "moved", "b")]
    [blocked] = [line for line in steps.splitlines() if "pod default/app-0 may not be evicted yet" in line]
    assert "more than one PodDisruptionBudget" in blocked


def test_a_pod_that_comes_back_stays(objects, make, ctl):
    """As one does that tolerates the cordon. It is evicted once."""
    back, fast = make("app", "b"), make("db", "b")
    back.places, fast.places = ["a", "a"], ["b"]
    with living(back, fast):
        process = ctl.start("drain", "a", "-o", "json")
        output, steps = process.communicate(timeout=120)
    assert process.returncode == 1, steps
    assert sorted(outcomes(json.loads(output))) == [("default/app-0", "stays", "a"), ("default/db-0", "moved", "b")]
    assert steps.count("evicted pod default/app-0") == 1
    assert steps.count("pod default/app-0 stays: the pod in its place came to node a again") == 1


def test_the_time_is_over(objects, make, ctl):
    make("app", "b").budget(allowed=0)
    drained = ctl.ask("drain", "a", "--timeout", "2s", status=1)
    assert outcomes(drained) == [("default/app-0", "stays", None)]
    assert is_cordoned(objects)


def test_a_replica_on_its_way_is_waited_for(objects, make, ctl):
    db = make("db", "b")
    db.say_ready("b", "false 2026-11-21T17:09:45Z no disk at LUN 0")
    db.places = ["b"]
    with living(db):
        process = ctl.start("drain", "a", "-o", "json")
        said = ""
        while "waiting: the replica of volume db on node b is not ready: no disk at LUN 0" not in said:
            said = process.stderr.readline()
            assert said, process.communicate()
        assert db.pod().spec.node_name == "a"
        db.say_ready("b", None)
        output, steps = process.communicate(timeout=60)
    assert outcomes(json.loads(output)) == [("default/db-0", "moved", "b")]
    assert "warning" not in steps


def test_the_api_server_is_away_for_a_while(apiserver, objects, make, ctl):
    db = make("db", "b")
    db.budget(allowed=0)
    process = ctl.start("drain", "a", "-o", "json")
    until(lambda: is_cordoned(objects), "it begins")
    apiserver.kill()
    said = ""
    while "trying again: " not in said:
        said = process.stderr.readline()
        assert said, process.communicate()
    apiserver.restart()
    db.budget(allowed=1)
    db.places = ["b"]
    with living(db):
        output, steps = process.communicate(timeout=60)
    assert process.returncode == 0, steps
    assert outcomes(json.loads(output)) == [("default/db-0", "moved", "b")]


def test_it_is_broken_off(objects, make, ctl):
    make("app", "b").budget(allowed=0)
    process = ctl.start("drain", "a", "-o", "json")
    until(lambda: is_cordoned(objects), "it begins")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 2 and not output and "stays cordoned" in errors


def test_a_node_that_does_not_exist(ctl, objects):
    assert 'nodes "nowhere" not found' in ctl.run("drain", "nowhere", status=2)
    assert 'nodes "nowhere" not found' in ctl.run("drain", "nowhere", "--dry-run", status=2)


# ---- permissions ----

@pytest.fixture
def operator(apiserver, objects):
    """A kubeconfig of somebody who may do what the documentation says, and no more."""
    rules = yaml.safe_load(PAGE.read_text().partition("## Permissions")[2].split("```yaml\n")[1].split("```")[0])
    api, name = client.RbacAuthorizationV1Api(objects.api), "azdiskctl-operator"
    api.create_cluster_role({"metadata": {"name": name}, **rules})
    api.create_cluster_role_binding({
        "metadata": {"name": name}, "subjects": [{"kind": "User", "name": name}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}})
    yield apiserver.authority.kubeconfig(name, f"/CN={name}")
    api.delete_cluster_role_binding(name)
    api.delete_cluster_role(name)


def test_what_the_documentation_permits_is_enough(operator, make):
    db, ctl = make("db", "b"), Ctl(operator)
    db.places = ["b"]
    with living(db):
        assert "as planned" in ctl.run("failover", "db", "--to", "b")
    db.places = ["a"]
    with living(db):
        text = ctl.run("drain", "b")
    assert "default/db-0  moved    a" in text
    assert "assuming the default" in text, "there is no Deployment"
    for kind in ("volumes", "attachments", "nodes"):
        assert len(ctl.run("get", kind).splitlines()) > 1
    assert 'cannot list resource "events"' in ctl.run("describe", "nodes", status=2)
