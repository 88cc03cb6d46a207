"""A cluster with Kubernetes' own times, and disks that have reservations; what is measured is in build/reports/failover.json."""

import json
import os
from pathlib import Path

import pytest
from cluster.cluster import Cluster
from deployment import ledger
from deployment.azure import QUICK, Azure
from deployment.driver import Driver
from deployment.reservations import reservations
from deployment.timeline import Timeline
from deployment.troubles import pytest_runtest_makereport  # noqa: F401 (a hook)

NODES = ("node-a", "node-b", "node-c")
REPORT = Path(__file__).parents[2] / "build" / "reports" / "failover.json"

_measured: dict[str, dict] = {}


@pytest.fixture(scope="session")
def measured() -> dict[str, dict]:
    return _measured


@pytest.fixture(scope="session")
def cluster():
    if os.geteuid() != 0:
        pytest.skip("namespaces and mounts need root")
    with Cluster.up(NODES, stock_times=True) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def driver(cluster) -> Driver:
    with Azure(cluster, **QUICK) as azure, reservations(cluster) as disks:
        driver = Driver(cluster, azure)
        driver.load_images(disks)
        cluster.load(ledger.image(cluster.directory))
        driver.install(failover={"enabled": True})
        yield driver


@pytest.fixture(scope="session")
def timeline(cluster):
    timeline = Timeline(cluster)
    yield timeline
    timeline.close()


def pytest_terminal_summary(terminalreporter):
    if not _measured:
        return
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(_measured, indent=2) + "\n")
    for what, figures in _measured.items():
        terminalreporter.write_line(f"{what}: {figures}")
