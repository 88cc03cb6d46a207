"""Updates and drains of the Deployments end, however few nodes may take their pods."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cluster.cluster import Cluster
from deployment.driver import NAMESPACE, SELECTORS, Driver
from deployment.ledger import only_on

DEPLOYMENTS = {"controller": "csi-azuredisk-controller", "extender": "csi-azuredisk-scheduler-extender"}
SECONDS = 120


def rollout(cluster: Cluster, what: str, *more: str) -> None:
    for name in DEPLOYMENTS.values():
        cluster.kubectl("rollout", what, f"deployment/{name}", "-n", NAMESPACE, *more)


def nodes(driver: Driver, part: str) -> set[str]:
    """Of those that stay: an update does not wait until the pods of before have ended."""
    pods = [pod for pod in driver.pods(part) if "deletionTimestamp" not in pod["metadata"]]
    return {pod["spec"].get("nodeName") for pod in pods}


@contextmanager
def spread_again(cluster: Cluster) -> Iterator[None]:
    """Afterwards, for tests that come later, the pods are where they would be after an installation."""
    yield
    rollout(cluster, "restart")
    rollout(cluster, "status", f"--timeout={SECONDS}s")


@pytest.fixture(scope="module")
def updated(cluster, driver) -> Iterator[dict[int, dict[str, set[str]]]]:
    """An update with two usable nodes, and then with one: where the pods of each Deployment are when it is over."""
    found = {}
    with spread_again(cluster):
        for usable in (("node-a", "node-b"), ("node-a",)):
            with only_on(cluster, *usable):
                rollout(cluster, "restart")
                rollout(cluster, "status", f"--timeout={SECONDS}s")
                found[len(usable)] = {part: nodes(driver, part) for part in DEPLOYMENTS}
        yield found


def test_an_update_ends_on_two_nodes(updated):
    assert updated[2] == dict.fromkeys(DEPLOYMENTS, {"node-a", "node-b"})


def test_an_update_ends_on_one_node(updated):
    assert updated[1] == dict.fromkeys(DEPLOYMENTS, {"node-a"})


def test_a_drain_of_the_last_node_ends(cluster, updated):
    selectors = ",".join(selector.removeprefix("app=") for part, selector in SELECTORS.items() if part in DEPLOYMENTS)
    with only_on(cluster, "node-a"):
        cluster.kubectl("drain", "node-a", f"--pod-selector=app in ({selectors})", "--delete-emptydir-data",
                        f"--timeout={SECONDS}s")
        cluster.kubectl("uncordon", "node-a")
        rollout(cluster, "status", f"--timeout={SECONDS}s")
