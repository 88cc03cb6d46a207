"""One cluster with the driver for all end-to-end tests of a process; what they measure is in build/reports/e2e.json."""

import os
from pathlib import Path

import pytest
import report
from azsim.compute import compute_client
from azure.mgmt.compute import ComputeManagementClient
from cluster.cluster import Cluster
from cluster.waiting import PATIENCE
from deployment import ledger
from deployment.azure import QUICK, Azure
from deployment.driver import SNAPSHOTS, Driver
from deployment.terminal import Terminal
from deployment.timeline import Timeline
from deployment.troubles import pytest_runtest_makereport  # noqa: F401 (a hook)

from .every_volume import KINDS, claim, storage_class

NODES = ("node-a", "node-b", "node-c", "node-d")
REPLICA_GC_DELAY = "20s"
REPORT = Path(__file__).parents[2] / "build" / "reports" / "e2e.json"

_measured: dict[str, object] = {}


@pytest.fixture(scope="session")
def measured() -> dict[str, object]:
    return _measured


@pytest.fixture(scope="session")
def cluster():
    if os.geteuid() != 0:
        pytest.skip("namespaces and mounts need root")
    with Cluster.up(NODES) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def running_azure(cluster):
    with Azure(cluster, **QUICK) as azure:
        yield azure


@pytest.fixture(scope="session")
def driver(cluster, running_azure) -> Driver:
    driver = Driver(cluster, running_azure)
    driver.load_images()
    driver.define_snapshots()
    cluster.load(ledger.image(cluster.directory))
    driver.install(controller={"replicaGCDelay": REPLICA_GC_DELAY}, node={"heartbeatInterval": "5s"},
                   snapshot=SNAPSHOTS)
    return driver


@pytest.fixture(scope="module")
def azure(driver) -> Azure:
    """It is quick; a module may slow it down."""
    driver.azure.latency(**QUICK)
    return driver.azure


@pytest.fixture(scope="module")
def compute(azure) -> ComputeManagementClient:
    """To be used from inside the cluster's network."""
    return compute_client(azure)


@pytest.fixture(scope="session")
def terminal(cluster, driver) -> Terminal:
    """Where pages of docs are typed."""
    return Terminal(cluster)


@pytest.fixture(scope="module")
def claims(cluster, driver, azure):
    """A claim of each kind, of the kind's name."""
    cluster.apply(storage_class("ext4", fsType="ext4"), storage_class("xfs", fsType="xfs"))
    cluster.apply(claim("ext4", "ext4"), claim("xfs", "xfs"), claim("block", "ext4", "Block"))
    yield
    cluster.kubectl("delete", "pvc", *KINDS, PATIENCE)
    cluster.kubectl("delete", "storageclass", "ext4", "xfs")
    driver.until_nothing_is_left()


@pytest.fixture(scope="module")
def timeline(cluster):
    timeline = Timeline(cluster)
    yield timeline
    timeline.close()


def pytest_terminal_summary(terminalreporter):
    if not _measured:
        return
    report.merge(REPORT, _measured)  # another process runs the other files
    for what, figure in _measured.items():
        terminalreporter.write_line(f"{what}: {figure}")
