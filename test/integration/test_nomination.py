"""The leader proposes nodes to a real, stock kube-scheduler: pods that wait at the gate land on their replicas, and no
pod waits for long, whatever is wrong. The tests themselves put the gate into the pods."""

import time
from urllib.request import urlopen

import pytest
from cluster.waiting import until

from .driver_world import Controller
from .nomination import GATE, SWITCHOVER, GatedWorld, stock_scheduler

NODES = 6
NOMINATE = "--placement=nominate"
OTHER_GATE = "example.com/quota"


@pytest.fixture
def world(tmp_path, apiserver):
    with GatedWorld(tmp_path, apiserver, nodes=NODES) as world:
        yield world


@pytest.fixture
def controller(world):
    with Controller(world, "one", NOMINATE) as controller:
        yield controller


def metrics(controller: Controller, prefix: str) -> dict[str, float]:
    text = urlopen(f"http://127.0.0.1:{controller.metrics}/metrics").read().decode()
    lines = (line.rpartition(" ") for line in text.splitlines() if line.startswith(prefix))
    return {name.removeprefix(prefix): float(value) for name, _, value in lines}


def until_counted(controller: Controller, prefix: str, expected: dict[str, float]) -> None:
    """What is done is counted when the API server has answered."""
    until(lambda: metrics(controller, prefix) == expected, f"{prefix} {expected}")


def proposals(world: GatedWorld) -> list[str]:
    return [e.message for e in world.core.list_namespaced_event(world.namespace).items if e.reason == "NodeProposed"]


def test_pods_land_on_their_replicas(world, controller):
    """The nodes of their primaries are drained."""
    home = world.nodes[0]
    world.cordon(home)
    names = [f"db-{i}" for i in range(5)]
    for name in names:
        world.volume(controller, name, home)
    wanted = {name: world.replicas(name)[0] for name in names}
    with stock_scheduler(world):
        for name in names:
            world.pod(name, [name], GATE)
        assert world.landed(names) == wanted
    until_counted(controller, "azuredisk_pods_nominated_total", {"": len(names)})
    until_counted(controller, "azuredisk_placement_gate_seconds_count", {"": len(names)})
    until(lambda: any(wanted["db-0"] in text for text in proposals(world)), "an event")


def test_a_pod_stays_where_its_disk_is(world, controller):
    world.volume(controller, "db", world.nodes[2])
    world.pod("db", ["db"], GATE)
    world.until_ungated("db")
    assert world.nominated("db") == world.nodes[2]


def test_the_gate_goes_if_nothing_can_be_proposed(world, controller):
    world.volume(controller, "nowhere", None)
    world.volume(controller, "drained", world.nodes[0], replicas=0)
    world.cordon(world.nodes[0])
    for name, claims in {"none": [], "new": ["not-bound"], "nowhere": ["nowhere"], "drained": ["drained"]}.items():
        world.pod(name, claims, GATE)
    for name in ("none", "new", "nowhere", "drained"):
        world.until_ungated(name)
        assert world.nominated(name) is None
    reasons = {'{reason="NoVolume"}': 2, '{reason="NoReplica"}': 1, '{reason="NodesRefused"}': 1}
    until_counted(controller, "azuredisk_pods_ungated_total", reasons)


def test_the_gates_of_others_stay(world, controller):
    world.volume(controller, "db", world.nodes[1])
    world.pod("db", ["db"], OTHER_GATE, GATE, f"{OTHER_GATE}-too")
    world.until_ungated("db")
    assert world.gates("db") == [OTHER_GATE, f"{OTHER_GATE}-too"]
    assert world.nominated("db") is None  # it would be old when they let the pod go
    until_counted(controller, "azuredisk_pods_ungated_total", {'{reason="OtherGates"}': 1})


def test_a_pod_goes_where_a_switchover_wants_it(world, controller):
    """The primary's node has the disk as well, and would do."""
    world.volume(controller, "db", world.nodes[0], replicas=2)
    wanted = world.replicas("db")[1]
    until_ = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 300))
    world.core.patch_namespaced_persistent_volume_claim(
        "db", world.namespace, {"metadata": {"annotations": {SWITCHOVER: f"{wanted} {until_}"}}})
    world.pod("db", ["db"], GATE)
    world.until_ungated("db")
    assert world.nominated("db") == wanted


def test_a_new_leader_lets_through_who_waits(world):
    """Pods came to the gate while there was no leader."""
    with Controller(world, "one", NOMINATE) as controller:
        world.volume(controller, "db", world.nodes[3])
    world.pod("db", ["db"], GATE)
    world.pod("plain", [], GATE)
    with Controller(world, "two", NOMINATE):
        world.until_ungated("plain")
        world.until_ungated("db")
    assert world.nominated("db") == world.nodes[3]


def test_the_leader_is_killed_while_pods_come(world):
    with Controller(world, "one", NOMINATE) as first, Controller(world, "two", NOMINATE) as second:
        until(lambda: first.leads() or second.leads(), "a leader")
        leader, heir = (first, second) if first.leads() else (second, first)
        names = [f"pod-{i}" for i in range(20)]
        for name in names[:10]:
            world.pod(name, [], GATE)
        leader.kill()
        for name in names[10:]:
            world.pod(name, [], GATE)
        for name in names:
            world.until_ungated(name)
        assert heir.leads()
        leader.start()


def test_without_the_mode_gates_are_left_alone(world):
    with Controller(world) as controller:
        until(controller.leads, "a leader")
        world.pod("db", [], GATE)
        world.volume(controller, "later", world.nodes[0])  # it has seen the pod by then
        assert world.gates("db") == [GATE]
