"""csi-sanity runs three times, at the same time, in three random orders: with file systems on plain
disks of VMs in no zone, and with block devices and with file systems on shared disks, which have
replicas, of VMs in a zone."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sources
from integration.apiserver import ApiServer

from . import suite
from .capabilities import advertised
from .installation import installed


@dataclass
class Run:
    """What came of one run. Everything that took part has ended."""

    seed: int = 0  # of the order
    results: dict[str, suite.Result] = field(default_factory=dict)
    advertised: set[str] = field(default_factory=set)
    left: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


# name: access type, zone, parameters. csi-sanity mostly does not say where a volume will be used. So the
# disks are such that all the VMs can reach: of no zone, or of all.
KINDS = {
    "mount": ("mount", "", {}),
    "block": ("block", "1", {"skuName": "Premium_ZRS", "maxShares": "2"}),
    "shared": ("mount", "1", {"skuName": "StandardSSD_ZRS", "maxShares": "2"}),
}
ORDERS = 2**31  # seeds of ginkgo


def _run(name: str, folder: Path, apiserver: ApiServer) -> Run:
    access_type, zone, parameters = KINDS[name]
    run = Run(seed=(sources.seed("node") + list(KINDS).index(name)) % ORDERS)
    try:
        with installed(folder, apiserver, zone) as driver:
            run.advertised = advertised(driver.controller.csi, driver.plugin.csi)
            run.results = suite.run(driver, access_type, parameters, run.seed)
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
    folders = {name: tmp_path_factory.mktemp(name) for name in KINDS}
    apiserver = ApiServer(tmp_path_factory.mktemp("apiserver"))
    try:
        with ThreadPoolExecutor(len(KINDS)) as pool:
            begun = {name: pool.submit(_run, name, folders[name], apiserver) for name in KINDS}
            return {name: future.result() for name, future in begun.items()}
    finally:
        apiserver.close()


@pytest.fixture(params=KINDS)
def run(request, runs) -> Run:
    return runs[request.param]
