"""azdiskctl failover against a real API server, and the real kube-scheduler with the extender where it is asked for a
node: where the pod comes to, what is left behind, and what is refused."""

import json
import signal

import pytest
from cluster.waiting import until

from .extender import Extender
from .test_scheduling import SCHEDULER, scheduler
from .workload import Workload, living

NODES = ("a", "b", "c")
WISH = "disk.csi.azure.com/switchover-to"


@pytest.fixture
def db(objects):
    """On node a, with replicas on the others."""
    workload = Workload(objects, "db", "a", ("b", "c"))
    workload.act()
    yield workload
    workload.close()


# ---- the real scheduler ----

def test_the_pod_comes_to_the_node_that_is_asked_for(apiserver, objects, ctl, tmp_path):
    """From each node to each other one, although the scheduler has no reason of its own; and the claim is as before."""
    db = Workload(objects, "db", "a", ("b", "c"), SCHEDULER)
    try:
        with Extender(tmp_path / "log", kubeconfig=apiserver.kubeconfig) as extender:
            extender.until_ready()
            with scheduler(tmp_path, extender, apiserver.kubeconfig), living(db):
                until(lambda: db.pod().status.phase == "Running", "the pod to run")
                for node in ("c", "a", "b", "c"):
                    moved = ctl.ask("failover", "db", "--to", node)
                    assert moved["to"] == moved["move"]["node"] == node == db.pod().spec.node_name
                    seconds = moved["move"]["seconds"]
                    assert seconds["ended"] <= seconds["scheduled"] <= seconds["primary"] <= seconds["ready"]
                    assert WISH not in db.annotations()
    finally:
        db.close()


# ---- where the test is the scheduler ----

def test_without_a_node_it_takes_one_with_a_ready_replica(db, ctl):
    db.say_ready("b", "false 2026-11-21T17:09:45Z no disk at LUN 0")
    db.places = ["c"]
    with living(db):
        text = ctl.run("failover", "db")
    assert "node c has a ready replica of its volume" in text
    assert "The pod has moved from node a to node c, as planned.\nGap: " in text


def test_a_controller_of_an_unknown_kind_is_taken_at_its_word(db, ctl):
    db.core.delete_namespaced_pod("db-0", "default", grace_period_seconds=0)
    db.owner = {"apiVersion": "apps.example/v1", "kind": "CloneSet", "name": "db", "uid": "7", "controller": True}
    db.make_pod("a")
    db.act()
    db.places = ["b"]
    with living(db):
        text = ctl.run("failover", "db", "--to", "b")
    assert "the controller of pod default/db-0 is of a kind that azdiskctl does not know" in text
    assert "as planned" in text


def test_it_says_where_the_pod_came_instead(db, ctl):
    db.places = ["c"]
    with living(db):
        text = ctl.run("failover", "db", "--to", "b", status=1)
    assert "The pod has come to node c instead of node b" in text
    assert WISH not in db.annotations()


def test_the_wish_is_on_the_claim_meanwhile(db, ctl):
    process = ctl.start("failover", "db", "--to", "b")
    wish = until(lambda: db.annotations().get(WISH), "the wish")
    assert wish.startswith("b 20") and wish.endswith("Z")
    assert "is being switched over to node b already" in ctl.run("failover", "db", "--to", "c", status=2)
    db.places = ["b"]
    with living(db):
        assert process.wait(60) == 0, process.communicate()
    process.communicate()
    assert WISH not in db.annotations()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_breaks_it_off_leaves_nothing_behind(db, ctl, number):
    db.budget(allowed=0)  # the signal may come late
    process = ctl.start("failover", "db", "--to", "b")
    until(lambda: db.annotations().get(WISH), "the wish")
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2 and "interrupted, and the pod was not evicted" in errors
    assert WISH not in db.annotations()


def test_a_dry_run_changes_nothing(db, ctl):
    before = db.pod().metadata.resource_version, db.annotations()
    told = ctl.ask("failover", "db", "--dry-run", "--to=b")
    assert told["dryRun"] and told["to"] == "b" and told["move"] == {"successor": None, "node": None, "seconds": {}}
    assert (db.pod().metadata.resource_version, db.annotations()) == before


# ---- budgets ----

def said_until(process, text: str) -> str:
    """The steps as they are printed, up to one with the text."""
    said = ""
    while text not in said:
        line = process.stderr.readline()
        assert line, said + process.communicate()[1]
        said += line
    return said


def test_a_budget_is_waited_for(db, ctl):
    db.budget(allowed=0)
    process = ctl.start("failover", "db", "--to", "b", "-o", "json")
    said = said_until(process, "waiting until pod default/db-0 may be evicted")
    until(lambda: WISH not in db.annotations(), "the wish is taken back while it waits")
    assert not db.pod().metadata.deletion_timestamp
    db.places = ["b"]
    with living(db):
        db.budget(allowed=1)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert json.loads(output)["move"]["node"] == "b"
    assert (said + errors).count("asked the scheduler extender") == 1


def test_a_budget_that_never_allows_it(db, ctl):
    db.budget(allowed=0)
    assert "was not evicted" in ctl.run("failover", "db", "--timeout", "3s", status=2)
    assert not db.pod().metadata.deletion_timestamp and WISH not in db.annotations()


# ---- replicas ----

def test_a_replica_that_is_not_ready_is_waited_for(db, ctl):
    db.say_ready("b", "false 2026-11-21T17:09:45Z no disk at LUN 0")
    process = ctl.start("failover", "db", "--to", "b", "-o", "json")
    said_until(process, "is not ready: no disk at LUN 0")
    db.say_ready("b", "true 2026-11-21T17:09:50Z")
    db.places = ["b"]
    with living(db):
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and json.loads(output)["move"]["node"] == "b", errors


def set_ready(objects, node: str, status: str) -> None:
    ready = {"type": "Ready", "status": status, "reason": "x", "message": "x"}
    objects.core.patch_node_status(node, {"status": {"conditions": [ready]}})


def test_what_is_refused(db, ctl, objects):
    def refused(*words: str) -> str:
        return ctl.run("failover", *words, status=2)

    assert "claim default/other does not exist" in refused("other")
    assert "is on node a already" in refused("db", "--to", "a")
    assert "there is no Node nowhere" in refused("db", "--to", "nowhere")
    objects.no_attachment("db", "b")
    db.patch_volume({"maxMountReplicaCount": 0})
    assert "volume db has no replicas: its disk has one share" in refused("db", "--to", "b")
    objects.no_attachment("db", "c")
    assert "no node has replicas of all of its volumes; for example, volume db has no replica." in refused("db")
    db.attach("c", "Replica")
    objects.core.patch_node("c", {"spec": {"unschedulable": True}})
    assert "Node c is cordoned" in refused("db", "--to", "c")
    objects.core.patch_node("c", {"spec": {"unschedulable": None}})
    set_ready(objects, "a", "Unknown")
    assert "Node a is not Ready, so that pod default/db-0 could not be ended" in refused("db", "--to", "c")
    set_ready(objects, "a", "True")
    db.apps.patch_namespaced_stateful_set_status("db", "default", {"status": {"replicas": 2}})
    assert "StatefulSet db is being scaled down from 2 to 1 pods" in refused("db", "--to", "c")
    db.apps.delete_namespaced_stateful_set("db", "default")
    assert "StatefulSet db, which has made it, does not exist any more" in refused("db", "--to", "c")
    assert not db.pod().metadata.deletion_timestamp and WISH not in db.annotations()


def test_the_new_pod_does_not_come(db, ctl):
    db.pauses = True
    with living(db):
        text = ctl.run("failover", "db", "--to", "b", "--timeout", "3s", status=2)
    assert "no pod in its place has come to a node yet" in text
    assert WISH not in db.annotations()


def test_flags_that_have_no_effect_are_refused(ctl):
    assert "map: --to has no effect" in ctl.run("map", "--to", "b", status=2)
    assert "drain: --to has no effect" in ctl.run("drain", "a", "--to", "b", status=2)
    assert "map: --dry-run has no effect" in ctl.run("--dry-run", "map", status=2)
    assert "check: --timeout has no effect" in ctl.run("check", "--timeout=1m", status=2)
    assert "missing CLAIM" in ctl.run("failover", "--dry-run", status=2)
