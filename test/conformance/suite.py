"""Kubernetes' own end-to-end suite: how it is run against a cluster, and what it finds."""

import os
import subprocess
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from cluster import tools
from cluster.cluster import Cluster

from . import images

HERE = Path(__file__).parent
FOCUS = "External.Storage"
SPEC_TIMEOUT = "20m"
WHOLE_TIMEOUT = "4h"


class Result(NamedTuple):
    status: str  # passed, skipped, failed, timedout, panicked, ...
    text: str  # why it was skipped, or all that was said when it failed
    seconds: float


def program(name: str) -> Path:
    return tools.folder(tools.SUITE) / name


def load_images(cluster: Cluster) -> None:
    listed = cluster.run(program("e2e.test"), "--list-images").split()
    for image in images.made(listed, program("agnhost")):
        cluster.load(image)


def run(cluster: Cluster, folder: Path, focus: str, left_out: list[str], processes: int, log: Path) -> dict[str, Result]:
    """The specs whose names match, but for those left out; results by name. The report is in `folder`."""
    words = [
        f"--procs={processes}", "--no-color", "--timeout", WHOLE_TIMEOUT, f"--focus={FOCUS}.*{focus}",
        *(f"--skip={expression}" for expression in left_out),
        program("e2e.test"), "--",
        "--provider=skeleton", "--node-os-distro=custom", "--disable-log-dump",
        f"--repo-root={HERE}", f"--storage.testdriver={HERE / 'testdriver.yaml'}", f"--report-dir={folder}",
    ]  # fmt: skip
    with open(log, "wb") as output:
        command = cluster.command(program("ginkgo"), *words)
        subprocess.run(["setpriv", "--pdeathsig", "TERM", *command], stdout=output, stderr=output, cwd=folder)
    return results(folder / "junit_01.xml")


def results(report: Path) -> dict[str, Result]:
    """Of all specs that the driver's definition makes."""
    cases = ElementTree.parse(report).iter("testcase")
    return {_name(case): _result(case) for case in cases if FOCUS.replace(".", " ") in case.get("name")}


def _name(case: ElementTree.Element) -> str:
    return case.get("name").removeprefix("[It] ")


def _result(case: ElementTree.Element) -> Result:
    seconds = float(case.get("time", 0))
    skipped = case.find("skipped")
    if skipped is not None:
        return Result("skipped", skipped.get("message", "").removeprefix("skipped").removeprefix(" - "), seconds)
    return Result(case.get("status"), "\n".join(part.text or "" for part in case), seconds)
