"""csi-sanity runs twice, at the same time: with file systems on plain disks of VMs in no zone, and
with block devices on shared disks, which have replicas, of VMs in a zone."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from integration.apiserver import ApiServer

from . import suite
from .capabilities import advertised
from .installation import installed


@dataclass
class Run:
    """What came of one run. Everything that took part has ended."""

    results: dict[str, suite.Result] = field(default_factory=dict)
    advertised: set[str] = field(default_factory=set)
    left: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


# access type: zone, parameters. csi-sanity mostly does not say where a volume will be used. So the
# disks are such that all the VMs can reach: of no zone, or of all.
KINDS = {
    "mount": ("", {}),
    "block": ("1", {"skuName": "Premium_ZRS", "maxShares": "2"}),
}


def _run(access_type: str, folder: Path, apiserver: ApiServer) -> Run:
    run = Run()
    zone, parameters = KINDS[access_type]
    try:
        with installed(folder, apiserver, zone) as driver:
            run.advertised = advertised(driver.controller.csi, driver.plugin.csi)
            run.results = suite.run(driver, access_type, parameters)
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
    """By access type."""
    folders = {access_type: tmp_path_factory.mktemp(access_type) for access_type in KINDS}
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
