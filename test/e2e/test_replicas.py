"""Replicas are where pods need them: on crowded nodes, in a rolling update, when a node dies, when nodes are drained.

One fleet of databases on three of the nodes goes through all of that; each test begins with what the
one before has left. Whatever moves a pod, it comes to a node that has its disk: by the extender, and with
a kube-scheduler that nobody has configured by proposals (placement.mode nominate).
"""

import contextlib
from collections.abc import Iterator

import pytest
from cluster.waiting import PATIENCE, until
from deployment.failover import PowerCut

from .fleet import LIMIT_SECONDS, PRIMARY, REPLICA, Fleet
from .moves import Departure, Move
from .witness import Witness

MAX_SHARES = 2
SLOTS = 8  # of each node, by the size of its VM
CROWD = SLOTS + 1  # on two nodes: with a replica for each they would need more places than there are
ROOMY = SLOTS - 1  # on any two nodes, and on any one with a place to spare: docs/scheduling.md, "How many volumes a node gets"
MOVES = 20  # in each mode


@pytest.fixture(scope="module")
def fleet(cluster, azure, driver):
    quiet = driver.quiet_node()
    others = [node for node in cluster.nodes if node != quiet][:2]
    fleet = Fleet(driver, "fleet", (quiet, *others), MAX_SHARES)
    yield fleet
    fleet.delete()


@pytest.fixture(scope="module")
def witness(fleet, azure, timeline) -> Witness:
    return Witness(timeline, azure)


@pytest.fixture(scope="module")
def moves(placement) -> list[Move]:
    """All that were seen in this mode."""
    return []


@pytest.fixture(scope="module", params=("extender", "nominate"))
def placement(request, driver) -> Iterator[str]:
    """placement.mode."""
    if request.param == "extender":  # as it was installed
        yield request.param
        return
    driver.place_by(request.param)
    yield request.param
    driver.place_by("extender")


@contextlib.contextmanager
def cordoned(fleet: Fleet, node: str) -> Iterator[list[str]]:
    """No pod and no replica goes there meanwhile; the nodes that are left."""
    fleet.cluster.kubectl("cordon", node)
    try:
        yield [each for each in fleet.nodes if each != node]
    finally:
        fleet.cluster.kubectl("uncordon", node)


def disks(fleet: Fleet, node: str) -> int:
    """In the model of the node's VM."""
    return len(fleet.azure.control("GET", f"vms/{node}")["wanted"])


def check(fleet: Fleet, seen: list[Move], moves: list[Move]) -> None:
    """Of pods that have arrived."""
    moves += [move for move in seen if move.moved()]
    assert [move for move in seen if not move.prepared()] == []
    assert fleet.lost() == {}


def with_replica_on(fleet: Fleet, node: str) -> list[str]:
    """Pods."""
    return [pod for pod, roles in fleet.roles().items() if roles.get(node) == REPLICA]


def move_replicas_to(fleet: Fleet, node: str) -> None:
    """From the other one that has the most."""
    others = [other for other in fleet.nodes if other != node]
    with cordoned(fleet, max(others, key=lambda other: len(with_replica_on(fleet, other)))) as rest:
        fleet.wait_complete(rest)


def move_pods_to(fleet: Fleet, node: str, moves: list[Move]) -> None:
    """Those that have a replica there, if it has no pods."""
    if Departure(fleet).on(node):
        return
    if not with_replica_on(fleet, node):  # another test had it cordoned
        move_replicas_to(fleet, node)
    departure, pods = Departure(fleet), with_replica_on(fleet, node)
    with contextlib.ExitStack() as stack:
        for other in fleet.nodes:
            if other != node:
                stack.enter_context(cordoned(fleet, other))
        fleet.cluster.kubectl("delete", "pod", "--wait=false", *pods)
        check(fleet, departure.arrival(*pods), moves)
    fleet.wait_complete(fleet.nodes)


def test_a_primary_takes_the_place_of_a_replica(fleet, witness):
    with cordoned(fleet, fleet.nodes[-1]) as crowded:
        fleet.apply(CROWD - 1)
        fleet.wait_ready()
        fleet.wait_complete(crowded)
        assert [disks(fleet, node) for node in crowded] == [SLOTS, SLOTS]
        fleet.scale(CROWD)
        fleet.wait_ready()
        until(lambda: (fleet.count(PRIMARY), fleet.count(REPLICA)) == (CROWD, 2 * SLOTS - CROWD),
              "every pod has a primary, and what is left of the places are replicas", LIMIT_SECONDS, interval=0.3)
        assert [disks(fleet, node) for node in crowded] == [SLOTS, SLOTS]
    fleet.wait_complete(fleet.nodes)


def test_a_rolling_update_goes_from_disk_to_disk(fleet, cluster, witness, moves):
    fleet.scale(ROOMY)
    on = [member.node for member in fleet.wait_ready().values()]
    with cordoned(fleet, max(fleet.nodes, key=on.count)) as others:
        fleet.wait_complete(others)
        departure = Departure(fleet)
        cluster.kubectl("rollout", "restart", f"statefulset/{fleet.name}")
        check(fleet, departure.arrival(*departure.members), moves)
    assert moves, "the cordoned node had no pod"


def test_a_dead_nodes_replicas_are_promoted_and_made_anew_elsewhere(fleet, cluster, driver, witness, moves):
    dead = next(node for node in fleet.nodes if node in driver.quiet_nodes())
    alive = [node for node in fleet.nodes if node != dead]
    fleet.wait_complete(fleet.nodes)
    move_pods_to(fleet, dead, moves)
    departure = Departure(fleet)
    victims = departure.on(dead)
    assert victims, "the node has no pod"
    cut = PowerCut(driver, dead)
    try:
        cluster.wait_lost(dead)
        driver.wait_extender_reached()  # docs/scheduling.md, "When the extender's node dies"
        cut.mark()
        check(fleet, departure.arrival(*victims), moves)
        fleet.wait_complete(alive)
    finally:
        cut.end()


def test_a_drained_node_keeps_neither_pods_nor_disks(fleet, cluster, witness, placement, moves):
    node = fleet.nodes[{"extender": 1, "nominate": 2}[placement]]  # the one that was dead has nothing yet
    # A leader that is drained with them would let some go without a proposal: docs/scheduling.md.
    whose = ["--pod-selector", f"app={fleet.name}"] if placement == "nominate" else []
    fleet.wait_complete(fleet.nodes)
    departure = Departure(fleet)
    with cordoned(fleet, node) as others:
        cluster.kubectl("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", PATIENCE, *whose)
        check(fleet, departure.arrival(*departure.on(node)), moves)
        fleet.wait_complete(others)
        until(lambda: disks(fleet, node) == 0, f"{node} has no disk", LIMIT_SECONDS, interval=0.3)


def test_the_scheduler_finds_the_replicas_every_time(fleet, cluster, witness, placement, moves, measured):
    """Those that were moved above are counted; some more make it as many as are to be."""
    while len(moves) < MOVES:
        fleet.wait_complete(fleet.nodes)
        departure = Departure(fleet)
        node = max(fleet.nodes, key=lambda each: len(departure.on(each)))
        with cordoned(fleet, node):
            cluster.kubectl("delete", "pod", "--wait=false", *departure.on(node))
            check(fleet, departure.arrival(*departure.on(node)), moves)
    prepared = sum(move.prepared() for move in moves)
    measured.setdefault("pods that were moved", {})[placement] = {"all": len(moves), "to where their disk was": prepared}
    assert prepared == len(moves)


def test_no_disk_had_two_primaries_or_too_many_nodes(witness):
    assert witness.faults(MAX_SHARES) == []
