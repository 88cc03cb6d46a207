"""make conformance: Kubernetes' own suite for storage drivers, run against this driver as users install it.

FOCUS is an expression for the names of the specs that are to run; PROCS is how many run at the same time; KEEP=1
leaves the cluster up.
"""

import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from cluster import tools
from cluster.cluster import Cluster
from deployment.azure import Azure
from deployment.driver import Driver

from . import report, skips, suite

TREE = Path(__file__).parents[2]
LOG = TREE / "build" / "logs" / "conformance.log"
PROCESSES = 4
QUICK = {"attach": "1s", "detach": "1s", "create": "1s", "delete": "1s"}


def main() -> int:
    focus = os.environ.get("FOCUS", "")
    processes = int(os.environ.get("PROCS") or PROCESSES)
    began = time.monotonic()

    def say(line: str) -> None:
        seconds = int(time.monotonic() - began)
        print(f"{seconds // 60}:{seconds % 60:02d}  {line}", flush=True)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    tools.build(tools.SUITE)
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        cluster = stack.enter_context(Cluster.up(report=say))
        azure = stack.enter_context(Azure(cluster, **QUICK))
        driver = Driver(cluster, azure)
        driver.load_images()
        suite.load_images(cluster)
        driver.install()
        say(f"The driver is installed; what the suite says is in {LOG.relative_to(TREE)}")
        folder = Path(tempfile.mkdtemp(prefix="conformance-"))
        start = time.monotonic()
        results = suite.run(cluster, folder, focus, list(skips.LEFT_OUT), processes, LOG)
        content = report.summary(results, time.monotonic() - start)
        shutil.copy(folder / "junit_01.xml", report.REPORT.with_name("conformance.xml"))
        shutil.rmtree(folder)
    report.write(content)
    print("", *report.lines(content, results), sep="\n")
    return 1 if content["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
