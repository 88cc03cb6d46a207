"""make conformance: Kubernetes' own suite for storage drivers, run against this driver as users install it.

FOCUS is an expression for the names of the specs that are to run, and PROCS how many run at the same time.
"""

import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from cluster.waiting import Timeout, until
from deployment.azure import Azure

from . import report, skips, suite
from .installation import installed

TREE = Path(__file__).parents[2]
LOG = TREE / "build" / "logs" / "conformance.log"
# Azure lets a VM's disks change four times a minute, so that more VMs are faster. Specs of zones need two.
ZONES = {"node-a": "1", "node-b": "1", "node-c": "1", "node-d": "1", "node-e": "2", "node-f": "2"}
PROCESSES = 14  # they mostly wait
LEAVING_SECONDS = 180  # after the last spec: a volume may be deleted after its namespace


def run(chosen: list[str], processes: int, say) -> dict[str, suite.Result]:
    with installed(ZONES, say) as installation:
        say(f"The driver is installed; {len(chosen)} specs begin, and {LOG.relative_to(TREE)} follows them")
        folder = Path(tempfile.mkdtemp(prefix="conformance-"))
        try:
            results = suite.run(installation.cluster, folder, chosen, processes, LOG)
        finally:
            shutil.rmtree(folder)
        return results | left_behind(installation.azure)


def left_behind(azure: Azure) -> dict[str, suite.Result]:
    """A failure if there is anything."""
    try:
        until(azure.nothing_left, "nothing is left in Azure", LEAVING_SECONDS, interval=1)
    except Timeout:
        summary = json.dumps(azure.control("GET", "summary"))
        return {"nothing is left in Azure after the specs": suite.Result("failed", summary, LEAVING_SECONDS)}
    return {}


def main() -> int:
    focus, processes = os.environ.get("FOCUS", ""), int(os.environ.get("PROCS") or PROCESSES)
    began = time.monotonic()

    def say(line: str) -> None:
        seconds = int(time.monotonic() - began)
        print(f"{seconds // 60}:{seconds % 60:02d}  {line}", flush=True)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    LOG.parent.mkdir(parents=True, exist_ok=True)
    wanted = [spec for spec in suite.specs() if re.search(focus, spec)]
    left_out = {spec: why for spec in wanted if (why := skips.left_out(spec))}
    results = run([spec for spec in wanted if spec not in left_out], processes, say)
    content = report.summary(results, left_out, time.monotonic() - began)
    report.write(content)
    print("", *report.lines(content), sep="\n")
    return 1 if content["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
