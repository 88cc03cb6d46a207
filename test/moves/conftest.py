"""A cluster with Microsoft's driver, version 1, on which somebody works; what became of the moves is in
build/reports/install.json."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import report
from cluster import tools
from cluster.cluster import Cluster
from deployment import ledger
from deployment.azure import QUICK, Azure
from deployment.driver import CHART, Driver
from deployment.terminal import Terminal
from deployment.troubles import pytest_runtest_makereport  # noqa: F401 (a hook)

from . import version_1, version_2
from .writer import Writer

NODES = ("node-a", "pool000001", "node-c")  # version 1 knows an instance of a uniform scale set by such a name only
REPORT = Path(__file__).parents[2] / "build" / "reports" / "install.json"
MOVES = ("v2_in", "v1_in", "upgrade", "reinstall", "v1_back")

_measured: dict[str, object] = {"moves": dict.fromkeys(MOVES, False)}


@pytest.fixture(scope="session")
def measured() -> dict[str, object]:
    return _measured


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    if os.geteuid() != 0:
        pytest.skip("namespaces and mounts need root")
    with Cluster.up(NODES) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def azure(cluster) -> Iterator[Azure]:
    with Azure(cluster, **QUICK) as azure:
        yield azure


@pytest.fixture(scope="session")
def driver(cluster, azure) -> Driver:
    """With which nothing is installed: that is done as docs/moving.md says."""
    driver = Driver(cluster, azure)
    driver.load_images()
    version_1.load_images(cluster, azure)
    cluster.load(ledger.image(cluster.directory))
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "azure-cloud-provider", "namespace": "kube-system"},
              "stringData": {"cloud-config": version_1.cloud_config(azure)}}
    cluster.apply(secret)
    return driver


@pytest.fixture(scope="session")
def terminal(cluster, driver) -> Terminal:
    """With all charts; by that of version 1 its driver is installed."""
    terminal = Terminal(cluster)
    shutil.copytree(CHART, terminal.folder / "charts" / CHART.name)
    for chart, version in ((version_1.CHART, version_1.VERSION), (version_2.CHART, version_2.VERSION)):
        shutil.copy(tools.microsofts_chart(f"v{version}"), terminal.folder / chart)
    for program, text in (("render", version_1.renderer()), ("helm", version_1.helm(cluster.tools / "helm"))):
        terminal.write(f"bin/{program}", text).chmod(0o755)
    terminal.write("old.yaml", json.dumps(version_1.values()))
    new = driver.values({})
    del new["schedulerExtender"]  # nobody asks it here
    terminal.write("new.yaml", json.dumps(new))
    terminal.type(f"helm install azuredisk {version_1.CHART} -n kube-system --values old.yaml --wait --timeout 3m")
    return terminal


@pytest.fixture(scope="session")
def writer(cluster, azure, terminal) -> Writer:
    return Writer(cluster, azure, NODES[1])


def pytest_terminal_summary(terminalreporter, config):
    if config.option.collectonly:
        return
    report.merge(REPORT, _measured)
    for what, figure in _measured.items():
        terminalreporter.write_line(f"{what}: {figure}")
