"""lib/kube against a real API server: nothing is lost when connections break, whoever breaks them;
and of two candidates one leads, whatever becomes of the other."""

import json
import random
import signal
import threading
import time
import uuid

import pytest
from cluster.authority import Authority
from cluster.waiting import until
from kubernetes import client, watch
from kubernetes.client.exceptions import ApiException

from .probe import Probe, Wire

BREAKS = 50
LEASE = ("6000", "5000", "500")  # duration, renewal, retry in milliseconds
DURATION = 6.0


@pytest.fixture
def coordination(apiserver):
    return client.CoordinationV1Api(apiserver.client())


@pytest.fixture
def namespace(apiserver):
    """Of its own for each test; it stays, as nobody here finalizes namespaces."""
    name = f"kube-{uuid.uuid4()}"
    client.CoreV1Api(apiserver.client()).create_namespace({"metadata": {"name": name}})
    return name


def versions(coordination, namespace) -> dict[str, str]:
    items = coordination.list_namespaced_lease(namespace).items
    return {item.metadata.name: item.metadata.resource_version for item in items}


class Writer:
    """Makes, changes and removes Leases at random; more than three pages of them."""

    def __init__(self, coordination, namespace, rng):
        self.api, self.namespace, self.rng = coordination, namespace, rng

    def write(self, times: int) -> None:
        for _ in range(times):
            name = f"lease-{self.rng.randrange(24)}"
            holder = f"holder-{self.rng.randrange(10**9)}"
            try:
                if self.rng.random() < 0.2:
                    self.api.delete_namespaced_lease(name, self.namespace)
                else:
                    self._put(name, {"spec": {"holderIdentity": holder}})
            except ApiException as failure:
                if failure.status != 404:
                    raise

    def _put(self, name: str, body: dict) -> None:
        try:
            self.api.patch_namespaced_lease(name, self.namespace, body)
        except ApiException as failure:
            if failure.status != 404:
                raise
            body = {"metadata": {"name": name, "annotations": {"odd": "a\0b"}}} | body
            self.api.create_namespaced_lease(self.namespace, body)


class Breaks:
    """What happens between the probe and the objects; each kind returns with all in order again."""

    def __init__(self, apiserver, wire, writer, rng):
        self.apiserver, self.wire, self.writer, self.rng = apiserver, wire, writer, rng

    def cut(self) -> None:
        writing = threading.Thread(target=self.writer.write, args=(5,))
        writing.start()
        time.sleep(self.rng.random() * 0.02)
        self.wire.cut()
        writing.join()

    def refuse(self) -> None:
        self.wire.refusing = True
        self.wire.cut()
        self.writer.write(5)
        self.wire.refusing = False

    def stop(self) -> None:
        self.apiserver.stop()
        time.sleep(self.rng.random())
        self.apiserver.cont()

    def stop_and_cut(self) -> None:
        self.apiserver.stop()
        self.wire.cut()
        time.sleep(self.rng.random())
        self.apiserver.cont()

    def kill(self) -> None:
        self.apiserver.kill()
        time.sleep(self.rng.random())
        self.apiserver.restart()

    def forget(self) -> None:
        """The place where the watch was is gone for good: 410."""
        self.wire.refusing = True
        self.wire.cut()
        self.writer.write(5)
        self.apiserver.compact()
        self.apiserver.restart()
        self.wire.refusing = False

    def plan(self) -> list:
        """BREAKS of them, in random order; a restart of the API server takes three seconds."""
        slow = [self.kill] * 5 + [self.forget] * 5
        quick = [self.cut, self.cut, self.refuse, self.stop, self.stop_and_cut]
        plan = slow + [quick[i % len(quick)] for i in range(BREAKS - len(slow))]
        self.rng.shuffle(plan)
        return plan


def test_a_mirror_loses_nothing(apiserver, coordination, namespace, tmp_path):
    rng = random.Random(1)
    writer = Writer(coordination, namespace, rng)
    wire = Wire(apiserver.port)
    breaks = Breaks(apiserver, wire, writer, rng)
    writer.write(60)
    with Probe(wire.kubeconfig(apiserver.kubeconfig, tmp_path / "conf"), "mirror", namespace) as probe:
        probe.until("synced")
        assert probe.objects() == versions(coordination, namespace)
        for number, breakage in enumerate(breaks.plan()):
            breakage()
            writer.write(3)
            truth = versions(coordination, namespace)
            what = f"the mirror is equal after break {number}, {breakage.__name__}"
            until(lambda: probe.objects() == truth, what, interval=0.02)
        failures = probe.failures()
    wire.close()
    assert any("(HTTP 410)" in failure for failure in failures), failures
    assert probe.lines.count("synced") == 1


def test_a_mirror_of_a_server_that_was_restored(apiserver, coordination, namespace, tmp_path):
    """What was written since the backup has never been: changes, objects and deletions."""
    writer = Writer(coordination, namespace, random.Random(3))
    writer.write(60)
    with Probe(apiserver.kubeconfig, "mirror", namespace) as probe:
        probe.until("synced")
        apiserver.backup(tmp_path / "backup")
        backed_up = versions(coordination, namespace)
        writer.write(60)
        lost = versions(coordination, namespace)
        until(lambda: probe.objects() == lost, "the mirror has what will be lost")
        assert backed_up.keys() - lost and lost.keys() - backed_up, "deleted and made since"
        apiserver.restore(tmp_path / "backup")
        assert versions(coordination, namespace) == backed_up
        until(lambda: probe.objects() == backed_up, "the mirror has what was restored")
        writer.write(10)
        truth = versions(coordination, namespace)
        until(lambda: probe.objects() == truth, "the mirror follows")


def test_a_mirror_of_a_server_that_is_not_there_yet(apiserver, coordination, namespace, tmp_path):
    wire = Wire(apiserver.port)
    wire.refusing = True
    with Probe(wire.kubeconfig(apiserver.kubeconfig, tmp_path / "conf"), "mirror", namespace) as probe:
        until(lambda: len(probe.failures()) >= 2, "failures")
        assert not probe.has("synced")
        wire.refusing = False
        probe.until("synced")
    wire.close()


@pytest.mark.parametrize("knows_server", [False, True])
def test_credentials_of_another_cluster(apiserver, namespace, tmp_path, knows_server):
    other = Authority(tmp_path / "pki", f"https://127.0.0.1:{apiserver.port}")
    other.create()
    kubeconfig = other.kubeconfig("admin", "/O=system:masters/CN=admin")
    if knows_server:
        content = json.loads(kubeconfig.read_text())
        content["clusters"] = json.loads(apiserver.kubeconfig.read_text())["clusters"]
        kubeconfig.write_text(json.dumps(content))
    expected = "Unauthorized (HTTP 401)" if knows_server else "SSL certificate problem"
    with Probe(kubeconfig, "mirror", namespace) as probe:
        until(lambda: any(expected in line for line in probe.failures()), expected)


# ---- leases ----


class Election:
    """Two candidates, and what the Lease `work` tells of who wrote into it, in order."""

    def __init__(self, apiserver, coordination, namespace):
        self.apiserver, self.namespace = apiserver, namespace
        made = coordination.create_namespaced_lease(namespace, {"metadata": {"name": "work"}})
        self.writers: list[str] = []
        self.watch = watch.Watch()
        self.thread = threading.Thread(target=self._follow, args=(made.metadata.resource_version,))
        self.thread.start()

    def _follow(self, version: str) -> None:
        """A change of the holder is a change of the object; the same writer again is none."""
        api = client.CoordinationV1Api(self.apiserver.client())
        arguments = {"field_selector": "metadata.name=work", "resource_version": version}
        for event in self.watch.stream(api.list_namespaced_lease, self.namespace, **arguments):
            self.writers.append(event["object"].spec.holder_identity)

    def candidate(self, identity: str) -> Probe:
        return Probe(self.apiserver.kubeconfig, "lead", self.namespace, identity, *LEASE)

    def until_writes(self, identity: str) -> None:
        until(lambda: self.writers[-1:] == [identity], f"work of {identity}", interval=0.01)

    def close(self, coordination) -> None:
        self.watch.stop()
        coordination.delete_namespaced_lease("work", self.namespace)  # an event, so that it looks
        self.thread.join()


@pytest.fixture
def election(apiserver, coordination, namespace):
    election = Election(apiserver, coordination, namespace)
    yield election
    election.close(coordination)


def test_a_killed_leader_is_succeeded(election, coordination, namespace):
    def lease() -> client.V1LeaseSpec:
        return coordination.read_namespaced_lease("leader", namespace).spec

    with election.candidate("a") as a:
        a.until("acquired")
        election.until_writes("a")
        with election.candidate("b") as b:
            time.sleep(1)
            a.kill()
            renewed = lease().renew_time
            b.until("acquired")
            waited = (lease().acquire_time - renewed).total_seconds()
            assert waited > DURATION - 0.1  # not before the lease has run out
            election.until_writes("b")
    assert election.writers == ["a", "b"]


@pytest.mark.parametrize("seconds", [8, 20])
def test_a_stopped_leader_writes_nothing_when_it_goes_on(election, seconds):
    with election.candidate("a") as a:
        election.until_writes("a")
        with election.candidate("b") as b:
            time.sleep(1)
            a.send(signal.SIGSTOP)
            election.until_writes("b")
            time.sleep(seconds - DURATION)
            a.send(signal.SIGCONT)
            a.until("lost")
            assert a.process.wait(60) == 0  # it ends, as a program does that lost its lease
            time.sleep(1)
            assert not b.has("lost")
    assert election.writers == ["a", "b"]


def test_a_leader_that_ends_gives_the_lease_back(election):
    with election.candidate("a") as a:
        election.until_writes("a")
        with election.candidate("b") as b:
            time.sleep(1)
            a.end()
            ended = time.monotonic()
            assert a.lines[-1] == "released"
            b.until("acquired")
            assert time.monotonic() - ended < DURATION  # on its next look, not after the duration
            election.until_writes("b")
    assert election.writers == ["a", "b"]


def test_leaders_in_any_trouble(election):
    """Handovers of every kind, one after the other, and never a write of a former leader."""
    rng = random.Random(7)
    names = (f"leader-{number}" for number in range(100))
    first, second = next(names), next(names)
    probes = {first: election.candidate(first)}
    election.until_writes(first)
    expected = [first]
    for _ in range(8):
        probes[second] = election.candidate(second)
        time.sleep(rng.random() * 2)
        leader = probes.pop(first)
        trouble = rng.choice(["kill", "stop", "end"])
        if trouble == "kill":
            leader.kill()
        if trouble == "stop":
            leader.send(signal.SIGSTOP)
        if trouble == "end":
            leader.end()
        election.until_writes(second)
        if trouble == "stop":
            leader.send(signal.SIGCONT)
            leader.until("lost")
            assert leader.process.wait(60) == 0
            leader.reader.join()
        expected.append(second)
        first, second = second, next(names)
    probes[first].end()
    assert election.writers == expected


# ---- events ----


def test_events_are_what_the_server_wants(apiserver, coordination, namespace):
    coordination.create_namespaced_lease(namespace, {"metadata": {"name": "about"}})
    events = client.EventsV1Api(apiserver.client())

    def told() -> list:
        items = events.list_namespaced_event(namespace).items
        return [item for item in items if item.series and item.series.count == 3]

    with Probe(apiserver.kubeconfig, "tell", namespace, "about", 3) as probe:
        (event,) = until(told, "an event that has been counted")
        assert probe.failures() == []
    assert len(events.list_namespaced_event(namespace).items) == 1
    assert (event.type, event.reason, event.action) == ("Warning", "Probed", "Probing")
    assert event.note == "told by kube_probe"
    assert event.regarding.kind == "Lease" and event.regarding.name == "about"
    assert event.reporting_controller == "disk.csi.azure.com"
