"""Fixtures of the cluster's own tests; the figures that they measure are printed at the end."""

import os
import time

import pytest

from .cluster import Cluster

_measured: dict[str, str] = {}


@pytest.fixture(autouse=True, scope="session")
def root():
    if os.geteuid() != 0:
        pytest.skip("namespaces and mounts need root")


@pytest.fixture(scope="session")
def measured() -> dict[str, str]:
    return _measured


@pytest.fixture(scope="session")
def cluster(root, measured):
    start = time.monotonic()
    with Cluster.up(report=print, zones={"node-c": "2"}) as cluster:
        measured["up, 3 nodes"] = f"{time.monotonic() - start:.1f} s"
        measured["memory, 3 nodes"] = f"{sum(cluster.memory().values()) / 1024:.0f} MiB"
        yield cluster
        start = time.monotonic()
    measured["down"] = f"{time.monotonic() - start:.1f} s"


def pytest_terminal_summary(terminalreporter):
    for what, figure in _measured.items():
        terminalreporter.write_line(f"{what}: {figure}")
