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

from .installation import Installation

LIMIT = 600  # seconds


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


def run(driver: Installation, access_type: str, parameters: dict[str, str], seed: int) -> dict[str, Result]:
    """All of it, once, in an order by the seed, with volumes of these parameters; results by name."""
    folder = driver.folder
    report, parameter_file = folder / "report.xml", folder / "parameters.yaml"
    parameter_file.write_text(json.dumps(parameters))
    mutable_file = folder / "mutable-parameters.yaml"
    kind = parameters.get("skuName", "Premium_LRS").replace("Premium_", "StandardSSD_")
    mutable_file.write_text(json.dumps({"skuName": kind}))
    settings = {
        "endpoint": f"unix://{driver.plugin.csi_socket}",
        "controllerendpoint": f"unix://{driver.controller.socket}",
        "stagingdir": folder / "sanity-staging",
        "mountdir": folder / "sanity-target",
        "testvolumesize": 1 << 30,
        "testvolumeparameters": parameter_file,
        "testvolumemutableparameters": mutable_file,
        "testvolumeaccesstype": access_type,
        "testnodevolumeattachlimit": "true",
    }
    words = [f"--csi.{name}={value}" for name, value in settings.items()]
    words += [f"--ginkgo.junit-report={report}", f"--ginkgo.seed={seed}", "--ginkgo.randomize-all", "--ginkgo.no-color"]
    # csi-sanity misses a connection that is there before it has begun to wait for it; on one
    # processor that does not happen.
    environment = {**os.environ, "GOMAXPROCS": "1"}
    program = driver.machine.command("setpriv", "--pdeathsig", "KILL", tools.folder() / "csi-sanity")
    with open(folder / "csi-sanity.out", "wb") as output:
        subprocess.run(
            [*program, *words], stdout=output, stderr=output, timeout=LIMIT, env=environment
        )
    return {_name(case): _result(case) for case in ElementTree.parse(report).iter("testcase")}
