"""A Node is deleted. While its VM runs, its pods keep their disks until Kubernetes takes the volumes away; when the VM
is gone, too, they go on elsewhere. All VMs are those of scale sets here."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from cluster.cluster import Cluster
from cluster.waiting import until
from deployment.azure import Azure
from deployment.driver import OBJECTS, Driver
from deployment.ledger import Ledger, only_on

from .fleet import PRIMARY, REPLICA

SECONDS = 120
RECORDS = 20  # that are acknowledged before something happens, and after it


@dataclass
class Databases:
    """Two on a node of a scale set, one of them with replicas; and one elsewhere that has a replica on that node."""

    shared: Ledger
    single: Ledger
    visitor: Ledger
    node: str

    def __iter__(self) -> Iterator[Ledger]:
        return iter((self.shared, self.single, self.visitor))

    @property
    def there(self) -> tuple[Ledger, Ledger]:
        return self.shared, self.single


@pytest.fixture(scope="module")
def scale_sets(cluster, driver) -> Iterator[list[str]]:
    """The nodes that are of one, the first without a controller; nothing new goes to others."""
    members = [vm["name"] for vm in cluster.vms() if "scaleSet" in vm]
    busy = {pod["spec"]["nodeName"] for pod in driver.pods("controller")}
    with only_on(cluster, *members):
        yield sorted(members, key=busy.__contains__)


@pytest.fixture(scope="module")
def databases(cluster, azure, driver, scale_sets) -> Iterator[Databases]:
    node, *others = scale_sets
    shared, single, visitor = (Ledger(cluster, *each) for each in (("kept", 3), ("kept-single", 1), ("visitor", 3)))
    found = Databases(shared, single, visitor, node)
    for nodes, ledgers in (([node], found.there), (others, [found.visitor])):
        cluster.kubectl("cordon", *set(scale_sets) - set(nodes))
        for ledger in ledgers:
            ledger.apply()
        until(lambda: all(ledger.node() for ledger in ledgers), "its pods have a node", SECONDS)
        cluster.kubectl("uncordon", *scale_sets)
    for ledger in found:
        ledger.wait_ready(SECONDS)
    yield found
    for ledger in found:
        ledger.delete()
    until(azure.nothing_left, "nothing is left in Azure", SECONDS, interval=0.5)


def complete(driver: Driver, databases: Databases) -> bool:
    """Every database's disk is where it may be: of those with replicas on all members of the scale sets."""
    roles = [sorted(driver.roles(ledger.volume()).values()) for ledger in databases]
    return roles == [[PRIMARY, REPLICA, REPLICA], [PRIMARY], [PRIMARY, REPLICA, REPLICA]]


@pytest.fixture
def in_order(databases, driver) -> Databases:
    until(lambda: complete(driver, databases), "every disk is where it may be", SECONDS, interval=0.3)
    return databases


def wait_for_records(ledger: Ledger) -> None:
    """More of them."""
    wanted = ledger.client.acknowledged + RECORDS
    until(lambda: ledger.client.acknowledged >= wanted, f"{ledger.name} acknowledges records", SECONDS)


def uid(cluster: Cluster, ledger: Ledger) -> str:
    return cluster.get("pod", ledger.pod)["metadata"]["uid"]


def published(cluster: Cluster, node: str) -> set[str]:
    """The PersistentVolumes of the VolumeAttachments to a node that nobody has asked to go."""
    return {each["spec"]["source"]["persistentVolumeName"] for each in cluster.get("volumeattachments")["items"]
            if each["spec"]["nodeName"] == node and "deletionTimestamp" not in each["metadata"]}


def delete_node(cluster: Cluster, node: str) -> None:
    cluster.kubectl("delete", "node", node, "--wait=false")
    until(lambda: not cluster.kubectl("get", "node", node, "--ignore-not-found"), f"{node} is gone")


def cleared_away(driver: Driver, visitor: Ledger, node: str) -> bool:
    """The leader has dealt with the end of the node: what nobody has published there is gone."""
    return node not in driver.roles(visitor.volume())


def calls(azure: Azure, volumes: set[str], since: int) -> list[tuple[int, int]]:
    """To attach each of them, and to detach it."""
    return [(azure.attach_calls(volume, since), azure.detach_calls(volume, since)) for volume in volumes]


@contextmanager
def without_node(cluster: Cluster, node: str) -> Iterator[None]:
    """It comes back as kubelet is started anew; Kubernetes deletes its pods after 40 s without it."""
    delete_node(cluster, node)
    try:
        yield
    finally:
        cluster.process(f"{node}/kubelet").restart()
        cluster.wait_ready(node)


def test_the_pods_of_a_vm_that_runs_on_keep_their_disks(in_order, cluster, azure, driver):
    databases, node, before = in_order, in_order.node, azure.last_request()
    volumes = {ledger.volume() for ledger in databases.there}
    uids = [uid(cluster, ledger) for ledger in databases.there]
    for ledger in databases.there:
        ledger.start_writing()
    with without_node(cluster, node):
        until(lambda: cleared_away(driver, databases.visitor, node), "what nobody uses there is detached", SECONDS)
        assert azure.detach_calls(databases.visitor.volume(), before) == 1
        for ledger in databases.there:
            wait_for_records(ledger)
        assert published(cluster, node) >= volumes
        assert calls(azure, volumes, before) == [(0, 0)] * 2
        assert [driver.roles(volume).get(node) for volume in volumes] == [PRIMARY] * 2
    until(lambda: complete(driver, databases), "every disk is where it may be, again", SECONDS, interval=0.3)
    for ledger in databases.there:
        wait_for_records(ledger)
        ledger.stop_writing()
        assert ledger.missing() == 0
    assert [uid(cluster, ledger) for ledger in databases.there] == uids, "they are the same pods"
    assert calls(azure, volumes, before) == [(0, 0)] * 2


def forget_mounts(cluster: Cluster, node: str) -> None:
    """Of a node that nobody can ask any more Kubernetes believes for six minutes that it has volumes mounted."""
    cluster.kubectl("patch", "node", node, "--subresource=status", "--type=merge",
                    '--patch={"status": {"volumesInUse": []}}')


@pytest.fixture
def lost(in_order, cluster, azure) -> Iterator[int]:
    """The VM of the node is deleted while databases write; the number of the last request to Azure before."""
    before, node = azure.last_request(), cluster.nodes[in_order.node]
    for ledger in in_order.there:
        ledger.start_writing()
        wait_for_records(ledger)
    cluster.power_off(node.name)
    azure.control("DELETE", f"vms/{node.name}", expect=202)
    for ledger in in_order.there:
        ledger.stop_writing()
    yield before
    azure.control("POST", "vms", node.vm(), expect=201)
    cluster.power_on(node.name)


def test_the_pods_of_a_vm_that_is_gone_go_on_elsewhere(in_order, lost, cluster, azure, driver):
    databases, node = in_order, in_order.node
    volumes = {ledger.volume() for ledger in databases.there}
    uids = [uid(cluster, ledger) for ledger in databases.there]
    forget_mounts(cluster, node)
    delete_node(cluster, node)
    until(lambda: cleared_away(driver, databases.visitor, node), "nothing else is left there", SECONDS)
    assert published(cluster, node) >= volumes
    assert [driver.roles(volume).get(node) for volume in volumes] == [PRIMARY] * 2, "nobody has released them"

    pods = [ledger.pod for ledger in databases.there]
    cluster.kubectl("delete", "pod", *pods, "--force", "--grace-period=0", "--wait=false")
    for ledger, old in zip(databases.there, uids):
        until(lambda: ledger.node() not in (None, node) and ledger.address() and uid(cluster, ledger) != old,
              f"{ledger.name} runs elsewhere", SECONDS, interval=0.3)
        assert ledger.missing() == 0
    shared, single = (ledger.volume() for ledger in databases.there)
    assert azure.attach_calls(shared, lost, vm=databases.shared.node()) == 0, "a replica was promoted"
    assert azure.attach_calls(single, lost, vm=databases.single.node()) == 1
    until(lambda: node not in cluster.kubectl("get", "azdrivernodes", "-n", OBJECTS), "nothing of the node is left")
