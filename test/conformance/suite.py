"""Kubernetes' own end-to-end suite: which specs it has for the driver, how they are run, and what they find."""

import re
import subprocess
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from cluster import tools
from cluster.cluster import Cluster
from cluster.command import run as run_command

from . import images
from .definitions import DEFINITIONS

SPEC = "External Storage "  # how the names of all specs for a driver begin
REPORT = "junit_01.xml"
LIMIT = "4h"


class Result(NamedTuple):
    status: str  # passed, skipped, failed, timedout, panicked, ...
    text: str  # why it was skipped, or all that was said when it failed
    seconds: float


def program(name: str) -> Path:
    return tools.folder(tools.SUITE) / name


def load_images(cluster: Cluster) -> None:
    listed = run_command(program("e2e.test"), "--list-images").split()
    for image in images.made(listed, program("agnhost")):
        cluster.load(image)


def _arguments(folder: Path) -> list[str | Path]:
    """Of e2e.test; what it reports is in `folder`."""
    drivers = [f"--storage.testdriver={definition.write(folder)}" for definition in DEFINITIONS]
    return [*drivers, f"--report-dir={folder}", "--provider=skeleton", "--node-os-distro=custom", "--disable-log-dump"]


def specs() -> list[str]:
    """The names of those that a definition is for."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_command(program("e2e.test"), "--ginkgo.dry-run", f"--ginkgo.focus={SPEC}", *_arguments(folder))
        found = results(folder / REPORT)
    return sorted(spec for spec in found if any(definition.has(spec) for definition in DEFINITIONS))


def run(cluster: Cluster, folder: Path, chosen: Collection[str], processes: int, log: Path) -> dict[str, Result]:
    """These specs, so many at the same time, but those that say [Serial] one after the other; results by name."""
    words = [
        f"--procs={processes}", f"--timeout={LIMIT}", "--no-color", *(f"--focus={_expression(spec)}" for spec in chosen),
        program("e2e.test"), "--", *_arguments(folder),
    ]  # fmt: skip
    with open(log, "wb") as output:
        subprocess.run(cluster.command(program("ginkgo"), *words), stdout=output, stderr=output, cwd=folder)
    found = results(folder / REPORT)
    return {spec: found.get(spec, Result("missing", "", 0)) for spec in chosen}


def _expression(spec: str) -> str:
    """The report has two spaces in some names, and what ginkgo compares has one."""
    return r"\s+".join(re.escape(word) for word in spec.split())


def results(report: Path) -> dict[str, Result]:
    cases = ElementTree.parse(report).iter("testcase")
    return {_name(case): _result(case) for case in cases if _name(case).startswith(SPEC)}


def _name(case: ElementTree.Element) -> str:
    return case.get("name").removeprefix("[It] ")


def _result(case: ElementTree.Element) -> Result:
    seconds = float(case.get("time", 0))
    skipped = case.find("skipped")
    if skipped is not None:
        return Result("skipped", skipped.get("message", "").removeprefix("skipped - "), seconds)
    return Result(case.get("status"), "\n".join(part.text or "" for part in case), seconds)
