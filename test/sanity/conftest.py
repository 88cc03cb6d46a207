"""csi-sanity runs four times, at the same time, in four random orders: with file systems on plain
disks of VMs in no zone, with block devices and with file systems on shared disks, which have
replicas, of VMs in a zone, and once more with plain disks of a slow Azure through proxies that cut
calls off."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sources
from cluster.waiting import Timeout, until
from integration.apiserver import ApiServer

from . import report, suite
from .capabilities import advertised
from .deadline_proxy import cutting
from .installation import QUICK, SLOW, Installation, installed


@dataclass
class Run:
    """What came of one run. Everything that took part has ended."""

    seed: int = 0  # of the order
    results: dict[str, suite.Result] = field(default_factory=dict)
    advertised: set[str] = field(default_factory=set)
    modified_disks: set[str] = field(default_factory=set)
    calls_cut: Counter[str] = field(default_factory=Counter)  # by method
    left: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Setup:
    zone: str  # of the VMs; none if it is empty
    volumes: suite.Volumes
    latencies: dict[str, str] = field(default_factory=lambda: QUICK)
    proxies: bool = False  # between csi-sanity and the programs


# csi-sanity mostly does not say where a volume will be used. So the disks are such that all the VMs
# can reach: of no zone, or of all. What a volume is modified to differs from what it was.
SHARED = {"skuName": "StandardSSD_ZRS", "maxShares": "2"}
SETUPS = {
    "mount": Setup("", suite.Volumes("mount", {}, {"skuName": "Premium_LRS"})),
    "block": Setup("1", suite.Volumes("block", {**SHARED, "skuName": "Premium_ZRS"}, {"skuName": "StandardSSD_ZRS"})),
    "shared": Setup("1", suite.Volumes("mount", SHARED, {"skuName": "Premium_ZRS"})),
    "cut": Setup("", suite.Volumes("mount", {}, {"skuName": "Premium_LRS"}), SLOW, proxies=True),
}
ORDERS = 2**31  # seeds of ginkgo
EVENT_SECONDS = 30


@contextmanager
def _endpoints(driver: Installation, run: Run, setup: Setup) -> Iterator[suite.Endpoints]:
    """What csi-sanity calls."""
    programs = suite.Endpoints(driver.controller.socket, driver.plugin.csi_socket)
    if not setup.proxies:
        yield programs
        return
    with cutting(programs.controller, programs.node, driver.folder) as (controller, node):
        yield suite.Endpoints(controller.socket, node.socket)
        run.calls_cut = controller.cut + node.cut


def _run(name: str, folder: Path, apiserver: ApiServer) -> Run:
    setup = SETUPS[name]
    run = Run(seed=(sources.seed("node") + list(SETUPS).index(name)) % ORDERS)
    try:
        with installed(folder, apiserver, setup.zone, setup.latencies) as driver:
            run.advertised = advertised(driver.controller.csi, driver.plugin.csi)
            with _endpoints(driver, run, setup) as endpoints:
                run.results = suite.run(driver.machine, driver.folder, endpoints, setup.volumes, run.seed)
            with suppress(Timeout):  # events come later than answers
                run.modified_disks = until(driver.modified_disks, "a disk is modified", EVENT_SECONDS)
            run.left = driver.left()
    except AssertionError as failure:  # a program ended badly
        if not run.results:
            raise
        run.faults.append(str(failure))
    run.left += driver.left_after_the_end()
    run.faults += driver.sanitizer_reports()
    return run


@pytest.fixture(scope="session")
def runs(tmp_path_factory) -> dict[str, Run]:
    folders = {name: tmp_path_factory.mktemp(name) for name in SETUPS}
    apiserver = ApiServer(tmp_path_factory.mktemp("apiserver"))
    try:
        with ThreadPoolExecutor(len(SETUPS)) as pool:
            begun = {name: pool.submit(_run, name, folders[name], apiserver) for name in SETUPS}
            runs = {name: future.result() for name, future in begun.items()}
    finally:
        apiserver.close()
    results = [run.results for run in runs.values()]
    report.write(suite.specs(), results, sum(run.calls_cut.total() for run in runs.values()))
    return runs


@pytest.fixture(params=SETUPS)
def run(request, runs) -> Run:
    return runs[request.param]
