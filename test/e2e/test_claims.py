"""A node dies in the middle of writing: with a replica its database goes on at once; no record is lost."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from cluster.waiting import until
from deployment.driver import OBJECTS
from deployment.failover import PowerCut
from deployment.ledger import Ledger, only_on
from image.driver import PROGRAMS

ATTACH_SECONDS = 30  # in the failover
RECORDS = 200  # that are to be acknowledged before the power cut
LIMITS_MIB = {"controller": 40, "node": 20, "extender": 20}


@dataclass
class Databases:
    """Two on one node: one has replicas, the other has not."""

    shared: Ledger
    single: Ledger
    node: str

    def __iter__(self):
        return iter((self.shared, self.single))


@pytest.fixture(scope="module")
def databases(cluster, azure, driver):
    found = Databases(Ledger(cluster, "ledger", 3), Ledger(cluster, "ledger-single", 1), driver.quiet_node())
    with only_on(cluster, found.node):
        for ledger in found:
            ledger.apply()
        until(lambda: all(ledger.node() for ledger in found), "both pods have a node")
    for ledger in found:
        ledger.wait_ready()
    yield found
    for ledger in found:
        ledger.delete()


@pytest.fixture(scope="module")
def replicated(databases, driver) -> Databases:
    volume = databases.shared.volume()
    until(lambda: attached(driver, volume) == 3, "three attachments")
    return databases


@pytest.fixture(scope="module")
def cut(replicated, azure, cluster, driver, timeline):
    """Power is cut on their node while both write, and an operator has said so."""
    for ledger in replicated:
        ledger.start_writing()
    until(lambda: min(l.client.acknowledged for l in replicated) >= RECORDS, "records are acknowledged")
    azure.latency(attach=f"{ATTACH_SECONDS}s", detach="5s")
    cut = PowerCut(driver, replicated.node)
    for ledger in replicated:
        ledger.stop_writing()
    cluster.wait_lost(cut.node)
    cut.mark()
    yield cut
    cut.end()


@pytest.fixture(scope="module")
def shared_failover(cut, timeline, replicated):
    return cut.follow(timeline, replicated.shared)


@pytest.fixture(scope="module")
def single_failover(cut, azure, timeline, replicated):
    volume = replicated.single.volume()
    until(lambda: azure.attach_calls(volume, cut.requests), "Azure attaches its disk")
    azure.latency(attach="1s")  # from here on; this one takes what it was to take
    return cut.follow(timeline, replicated.single)


def attached(driver, volume: str, but: str = "") -> int:
    roles = driver.roles(volume)
    return sum(role.endswith(" Attached") for node, role in roles.items() if node != but)


def test_kubectl_shows_roles_and_states(replicated, cluster):
    volume = replicated.shared.volume()
    head, *lines = cluster.kubectl("get", "azvolumeattachments", "-n", OBJECTS).splitlines()
    assert head.split() == ["NAME", "AGE", "REQUESTEDROLE", "ROLE", "STATE"]
    rows = [line.split() for line in lines]
    shown = {row[0]: row[2:] for row in rows if row[0].startswith(volume)}
    primary = f"{volume}-{replicated.node}-attachment"
    assert shown.pop(primary) == ["Primary", "Primary", "Attached"]
    assert list(shown.values()) == [["Replica", "Replica", "Attached"]] * 2


def test_with_a_replica_a_failover_asks_azure_for_nothing(replicated, shared_failover, measured):
    measured["failover with a replica, seconds"] = round(shared_failover.driver_seconds, 2)
    story = str(shared_failover)  # whole, where pytest would leave out the middle
    assert shared_failover.driver_seconds <= ATTACH_SECONDS / 3, story  # a tenth of that where nothing else runs
    assert shared_failover.attach_calls == 0, story
    assert shared_failover.detach_calls == 0, story
    assert replicated.shared.missing() == 0


def test_without_a_replica_a_failover_takes_an_attach(replicated, single_failover, measured):
    measured["failover without replicas, seconds"] = round(single_failover.storage_seconds, 2)
    assert single_failover.attach_calls == 1
    assert single_failover.storage_seconds > ATTACH_SECONDS
    assert replicated.single.missing() == 0


def test_nothing_of_the_driver_runs_outside_of_its_pods(cluster, driver, replicated, measured):
    parts = {pod["metadata"]["uid"] for part in LIMITS_MIB for pod in driver.pods(part)}
    found = {process for program in PROGRAMS for process in driver.processes(f"/bin/{program}")}
    assert len(found) >= len(PROGRAMS)
    for process in found:
        groups = Path(f"/proc/{process.pid}/cgroup").read_text()
        assert any(uid in groups for uid in parts), f"{process.command()} is in {groups}"


def test_processes_stay_small(driver, replicated, measured):
    resident = driver.resident_mib()
    measured["resident memory, MiB"] = {part: round(mib, 1) for part, mib in resident.items()}
    for part, limit in LIMITS_MIB.items():
        assert 1 < resident[part] <= limit, part


def test_a_lost_replica_is_replaced(replicated, driver, cut, shared_failover):
    volume = replicated.shared.volume()
    until(lambda: attached(driver, volume, but=cut.node) == 3, "three attachments on living nodes", interval=0.5)


def test_what_nobody_uses_is_collected_and_what_is_deleted_leaves_nothing(
    replicated, azure, cluster, driver, cut, shared_failover, single_failover
):
    azure.latency(detach="1s")
    volumes = [ledger.volume() for ledger in replicated]
    for ledger in replicated:
        ledger.scale(0)
    until(lambda: not any(driver.roles(volume) for volume in volumes), "replicas are collected", interval=0.5)
    assert azure.control("GET", "summary")["disks"] == 2, "a claim keeps its disk"
    for ledger in replicated:
        ledger.delete()
    until(lambda: not cluster.get("pv")["items"], "no PersistentVolume is left", interval=0.5)
    driver.until_nothing_is_left()
