"""A node dies, and its pod runs elsewhere, without a taint of anybody's and long before Kubernetes notices (docs/failover.md)."""

import contextlib
import time
from collections.abc import Callable, Iterator

import pytest
from cluster.waiting import PATIENCE, until
from deployment.driver import OBJECTS, Driver
from deployment.failover import Deletion, DeletionOfTheDead, HostLoss, Loss, NetworkCut, PowerCut
from deployment.ledger import IMAGE, Ledger, only_on
from deployment.timeline import Timeline

RECORDS = 50  # that are to be acknowledged before the power cut
TAINT = "node.kubernetes.io/out-of-service"
MOVED = "disk.csi.azure.com/failed-over"
NOTE = "disk.csi.azure.com/"


def notes(change) -> dict[str, str]:
    return change.object.get("status", {}).get("annotation") or {}


def taints(node: dict) -> dict[str, str]:
    return {taint["key"]: taint.get("value", "") for taint in node["spec"].get("taints", [])}


def is_held_back(driver: Driver, node: str, why: str) -> bool:
    """Whether an event says so."""
    events = driver.cluster.get("events", "--field-selector", f"involvedObject.name={node}")["items"]
    return any(event["reason"] == "FailoverHeldBack" and why in event["message"] for event in events)


def holders_of_leases(driver: Driver) -> list[str]:
    """Nodes whose plug-ins hold one."""
    found = driver.cluster.get("leases", "-n", OBJECTS, "-l", f"{NOTE}node-lease=true")["items"]
    return [lease["metadata"]["name"] for lease in found if lease["spec"].get("holderIdentity")]


class Database:
    """On a node with a Lease, and with a fence and replicas on all others, unless it is to have none."""

    def __init__(self, driver: Driver, name: str, max_shares: int | None = None, by_label: bool = False):
        self.driver, self.cluster = driver, driver.cluster
        self.max_shares = max_shares or len(self.cluster.nodes)
        asks = {"more_labels": {f"{NOTE}automatic-failover": "true"}} if by_label else {"automaticFailover": "true"}
        self.ledger = Ledger(self.cluster, name, max_shares=self.max_shares, **asks)
        self.node = driver.quiet_node()

    def __enter__(self) -> "Database":
        try:
            self._begin()
        except BaseException:
            self.ledger.delete()  # the tests that follow wait until nothing is left
            raise
        return self

    def _begin(self) -> None:
        with only_on(self.cluster, self.node):
            self.ledger.apply()
            self.volume = self.ledger.volume()
            self.ledger.wait_ready()
        until(lambda: list(self.driver.roles(self.volume).values()).count("Replica Attached") == self.max_shares - 1,
              "the replicas", interval=0.5)
        until(lambda: self.node in holders_of_leases(self.driver), "the node's Lease", interval=0.5)

    def __exit__(self, *_) -> None:
        self.ledger.delete()
        self.driver.until_nothing_is_left()

    def write(self) -> None:
        self.ledger.start_writing()
        until(lambda: self.ledger.client.acknowledged >= RECORDS, "records are acknowledged")


class Gap:
    """What lies between the last record that was acknowledged on the lost node and the first one on the next.

    The disks here tell who has them and refuse nothing (reservations.c): what a node that lives on writes after it has
    lost the fence does not count, as it would not be acknowledged."""

    def __init__(self, database: Database, timeline: Timeline, loss: Loss, taint: str = TAINT):
        self.loss, self.taint, client = loss, taint, database.ledger.client
        loss.ends_writing(database.ledger)
        self.failover = loss.follow(timeline, database.ledger)
        self.phases = self._phases(timeline, database)
        fenced = loss.at + self.phases["detect"] + self.phases["fence"]
        self.acknowledged, self.last = client.last_before(fenced)
        self.missing = database.ledger.missing(self.acknowledged)
        self.later = client.acknowledged - self.acknowledged, client.last_time - fenced
        before = database.ledger.go_on()
        until(lambda: client.acknowledged > before, "a record is acknowledged again", interval=0.01)
        self.seconds = client.last_time - self.last
        database.ledger.stop_writing()

    def __repr__(self) -> str:
        return (f"<{self.acknowledged} records until {self.last - self.loss.at:.2f} s after the loss; since the fence was "
                f"lost {self.later[0]}, the last one {self.later[1]:.2f} s after it; phases {self.phases}>")

    def _phases(self, timeline: Timeline, database: Database) -> dict[str, float]:
        def of_attachments(note: str) -> float:
            times = [timeline.first("AzVolumeAttachment", name, self.loss.at, lambda change: NOTE + note in notes(change))
                     for name in {c.object["metadata"]["name"] for c in timeline.changes if c.kind == "AzVolumeAttachment"}]
            return min(moment for moment in times if moment) - self.loss.at

        tainted = timeline.first("Node", database.node, self.loss.at, lambda change: self.taint in taints(change.object))
        events = self.failover.events
        ends = {"detect": of_attachments("preempt-request"), "fence": of_attachments("preempted"),
                "taint": tainted - self.loss.at, "release": events["pod is deleted"], "schedule": events["pod has a new node"],
                "promote": events["VolumeAttachment is attached"], "kubelet": events["kubelet looks for the volume"],
                "mount": events["volume is staged"], "start": events["pod is ready"]}
        began, phases = 0.0, {}
        for phase, end in ends.items():
            phases[phase], began = round(end - began, 2), end
        return phases

    def report(self) -> dict:
        return {"gap_seconds": round(self.seconds, 2), "driver_seconds": round(self.failover.driver_seconds, 2),
                "attach_calls": self.failover.attach_calls, "phases": self.phases}


@pytest.mark.parametrize("times", ("by default", "the shortest"))
def test_the_node_loses_its_power(driver, timeline, measured, times):
    if times == "the shortest":
        driver.upgrade(failover__nodeLeaseDuration="2s", failover__gracePeriod="4s")
    with Database(driver, times.replace(" ", "-")) as database:
        database.write()
        with PowerCut(driver, database.node) as cut:
            gap = Gap(database, timeline, cut)
            measured[times] = gap.report()
            assert gap.missing == 0
            assert gap.failover.attach_calls == 0
            assert taints(driver.cluster.get("node", database.node))[TAINT].startswith("azuredisk-")
        until(lambda: TAINT not in taints(driver.cluster.get("node", database.node)),
              "it was started anew, and the driver takes the taint away", interval=0.5)


def test_the_network_of_the_node_is_cut(driver, timeline, measured):
    """It is heard of again, and what it lost stays lost until it is started anew."""
    def is_given_up() -> bool:
        return TAINT in taints(driver.cluster.get("node", database.node))

    with Database(driver, "cut-off") as database:
        database.write()
        with NetworkCut(driver, database.node) as cut:
            gap = Gap(database, timeline, cut)
            measured["cut off"] = gap.report()
            assert gap.missing == 0
            assert gap.failover.attach_calls == 0
            cut.heal()
            assert is_given_up()
        until(lambda: not is_given_up(), "it was started anew, and the driver takes the taint away", interval=0.5)


@contextlib.contextmanager
def another_drivers_volume(driver: Driver, node: str) -> Iterator[Callable[[], dict]]:
    """A pod that uses it, there; it may be looked at."""
    cluster, name = driver.cluster, "share"
    cluster.apply(
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
         "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "",
                  "hostPath": {"path": "/var/tmp/share", "type": "DirectoryOrCreate"},
                  "claimRef": {"namespace": "default", "name": name}}},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
         "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "volumeName": name,
                  "resources": {"requests": {"storage": "1Gi"}}}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
         "spec": {"nodeName": node, "terminationGracePeriodSeconds": 0,
                  "containers": [{"name": "c", "image": IMAGE, "imagePullPolicy": "Never", "args": ["/data/ledger", "7000"],
                                  "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
                  "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]}})
    try:
        cluster.kubectl("wait", f"pod/{name}", "--for=condition=Ready", PATIENCE)
        yield lambda: cluster.get("pod", name)
    finally:
        cluster.kubectl("delete", "pod,pvc", name, "--ignore-not-found", PATIENCE)
        cluster.kubectl("delete", "pv", name, "--ignore-not-found", PATIENCE)


def test_the_network_of_a_node_with_another_drivers_volume_is_cut(driver, timeline, measured):
    """Nobody proves that it is not written to: its pod stays, and the database, whose pod has asked for it, moves."""
    def its_taints() -> dict[str, str]:
        return taints(driver.cluster.get("node", database.node))

    with Database(driver, "beside-a-share", by_label=True) as database, another_drivers_volume(driver, database.node) as other:
        before = other()["metadata"]["uid"]
        database.write()
        with NetworkCut(driver, database.node) as cut:
            gap = Gap(database, timeline, cut, MOVED)
            measured["beside another driver's volume"] = gap.report()
            assert gap.missing == 0
            assert gap.failover.attach_calls == 0
            until(lambda: is_held_back(driver, database.node, "its other pods stay"), "an event says what stays", interval=0.2)
            cut.heal()
            assert MOVED in its_taints() and TAINT not in its_taints()
            after = other()
            assert after["metadata"]["uid"] == before and "deletionTimestamp" not in after["metadata"]
        until(lambda: MOVED not in its_taints(), "it was started anew, and the driver takes the taint away", interval=0.5)


def test_nobody_can_fence_it_and_azure_says_that_it_is_off(driver, timeline, measured):
    def taint() -> str | None:
        return taints(driver.cluster.get("node", database.node)).get(TAINT)

    with Database(driver, "alone", max_shares=1) as database:
        database.write()
        with HostLoss(driver, database.node) as loss:
            loss.ends_writing(database.ledger)
            until(lambda: is_held_back(driver, database.node, "the cloud does not say that its machine is off"),
                  "an event says why it is not given up", interval=0.2)
            assert taint() is None
            loss.is_found_out()
            known = time.time()
            until(taint, "the node is given up", 90, interval=0.1)
            given_up = time.time()
            until(lambda: loss.runs_elsewhere(database.ledger), "it runs elsewhere", interval=0.2)
            assert database.ledger.missing() == 0
            measured["without a replica"] = {"given_up_seconds": round(given_up - known, 2),
                                             "runs_seconds": round(time.time() - known, 2)}
        until(lambda: taint() is None, "it was started anew, and the driver takes the taint away", interval=0.5)


@pytest.mark.parametrize("kind", (Deletion, DeletionOfTheDead))
def test_the_node_is_deleted(driver, timeline, measured, kind):
    what = {Deletion: "deleted alive", DeletionOfTheDead: "deleted dead"}[kind]

    def is_there() -> bool:
        return database.node in [node["metadata"]["name"] for node in driver.cluster.get("nodes")["items"]]

    with Database(driver, what.replace(" ", "-")) as database:
        database.write()
        with kind(driver, database.node) as deletion:
            gap = Gap(database, timeline, deletion)
            measured[what] = gap.report()
            assert gap.missing == 0
            assert gap.failover.attach_calls == 0
            until(lambda: not is_there(), "the Node that stands in goes", interval=0.2)
            until(lambda: database.node not in driver.roles(database.volume), "its disk is detached", interval=0.5)


@contextlib.contextmanager
def nobody_is_heard_of(driver: Driver) -> Iterator[None]:
    """Of no node: the kubelets and the plug-ins stand still, and the pods go on."""
    kubelets = [driver.cluster.process(f"{node}/kubelet") for node in driver.cluster.nodes]
    stopped = [*(kubelet.process for kubelet in kubelets), *driver.processes("/bin/azdisk-node")]
    assert len(stopped) == 2 * len(driver.cluster.nodes)
    try:
        for process in stopped:
            process.stop()
        yield
    finally:
        for process in stopped:
            process.cont()


def test_all_nodes_are_silent_at_once(driver):
    """It is none of them: nobody is given up, an event of each says so, and the databases write on where they are."""
    cluster, nodes = driver.cluster, list(driver.cluster.nodes)
    ledgers = [Ledger(cluster, f"on-{node}", max_shares=len(nodes), nodes=(node,), automaticFailover="true") for node in nodes]

    def tainted() -> list[str]:
        return [node for node in nodes if TAINT in taints(cluster.get("node", node))]

    try:
        for ledger in ledgers:
            ledger.apply()
        for ledger in ledgers:
            ledger.wait_ready()
        until(lambda: sorted(holders_of_leases(driver)) == nodes, "a Lease of each node", interval=0.5)
        for ledger in ledgers:
            ledger.start_writing()
        with nobody_is_heard_of(driver):
            until(lambda: all(is_held_back(driver, node, "nodes are silent at once") for node in nodes),
                  "events say why they are not given up", interval=0.5)
            assert tainted() == []
            known = [ledger.client.acknowledged for ledger in ledgers]
        for node in nodes:
            cluster.wait_ready(node)
        for ledger, before in zip(ledgers, known):
            until(lambda ledger=ledger, before=before: ledger.client.acknowledged > before, f"{ledger.name} writes on")
            ledger.stop_writing()
        assert [ledger.missing() for ledger in ledgers] == [0] * len(nodes)
        assert [ledger.node() for ledger in ledgers] == nodes
        assert tainted() == []
    finally:
        for ledger in ledgers:
            ledger.delete()
        driver.until_nothing_is_left()
