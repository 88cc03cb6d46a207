"""csi-sanity, the CSI project's own test of a driver: what it consists of, and what it finds."""

import functools
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from cluster import tools
from integration.node.machine import Machine

LIMIT = 600  # seconds


class Volumes(NamedTuple):
    """What it makes volumes of, and what it then makes of them."""

    access_type: str
    parameters: dict[str, str]
    mutable_parameters: dict[str, str]


class Endpoints(NamedTuple):
    """The sockets that it calls."""

    controller: Path
    node: Path


class Result(NamedTuple):
    status: str  # passed, skipped, failed, panicked, ...
    text: str  # why it was skipped, or all that was said when it failed


def _name(case: ElementTree.Element) -> str:
    return case.get("name").removeprefix("[It] ")


def _result(case: ElementTree.Element) -> Result:
    skipped = case.find("skipped")
    if skipped is not None:
        return Result("skipped", skipped.get("message", "").removeprefix("skipped - "))
    return Result(case.get("status"), "\n".join(part.text or "" for part in case))


@functools.cache
def specs() -> list[str]:
    """The names of all tests, but for those that csi-sanity itself has put aside."""
    tools.build()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "specs.xml")
        program = [tools.folder() / "csi-sanity", "--csi.endpoint=none", "--ginkgo.dry-run"]
        subprocess.run([*program, f"--ginkgo.junit-report={report}"], check=True, capture_output=True)
        cases = ElementTree.parse(report).iter("testcase")
        return sorted(_name(case) for case in cases if case.get("status") != "pending")


def _settings(folder: Path, endpoints: Endpoints, volumes: Volumes) -> dict[str, object]:
    parameters, mutable = folder / "parameters.yaml", folder / "mutable-parameters.yaml"
    parameters.write_text(json.dumps(volumes.parameters))
    mutable.write_text(json.dumps(volumes.mutable_parameters))
    return {
        "endpoint": f"unix://{endpoints.node}",
        "controllerendpoint": f"unix://{endpoints.controller}",
        "stagingdir": folder / "sanity-staging",
        "mountdir": folder / "sanity-target",
        "testvolumesize": 1 << 30,
        "testvolumeparameters": parameters,
        "testvolumemutableparameters": mutable,
        "testvolumeaccesstype": volumes.access_type,
        "testnodevolumeattachlimit": "true",
    }


def run(machine: Machine, folder: Path, endpoints: Endpoints, volumes: Volumes, seed: int) -> dict[str, Result]:
    """All of it, once, in an order by the seed; results by name."""
    report = folder / "report.xml"
    settings = _settings(folder, endpoints, volumes)
    words = [f"--csi.{name}={value}" for name, value in settings.items()]
    words += [f"--ginkgo.junit-report={report}", f"--ginkgo.seed={seed}", "--ginkgo.randomize-all", "--ginkgo.no-color"]
    # csi-sanity misses a connection that is there before it has begun to wait for it; on one
    # processor that does not happen.
    environment = {**os.environ, "GOMAXPROCS": "1"}
    program = machine.command("setpriv", "--pdeathsig", "KILL", tools.folder() / "csi-sanity")
    with open(folder / "csi-sanity.out", "wb") as output:
        subprocess.run(
            [*program, *words], stdout=output, stderr=output, timeout=LIMIT, env=environment
        )
    return {_name(case): _result(case) for case in ElementTree.parse(report).iter("testcase")}
