"""The simulation as a test: what once failed, seeds that nobody has run yet, and each fault of Azure
on its own. docs/simulation.md says how to read a violation."""

import json
import os
import random
import subprocess
import tarfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
import sources
from sim import disk_changes
from sim.sim_image import simulation_image

ROOT = Path(__file__).resolve().parents[2]
PLAIN = ROOT / "build" / "plain" / "bin" / "azdisk-sim"
CHECKED = ROOT / "build" / "checked" / "bin" / "azdisk-sim"
REGRESSIONS = sorted((Path(__file__).parent / "regressions").glob("*.json"))
MUST_BE_REACHED = Path(__file__).parent / "coverage.txt"

JOBS = len(os.sched_getaffinity(0))
CHECKED_SEEDS = 10
CHECKED_REGRESSIONS = random.Random(sources.seed()).sample(REGRESSIONS, len(REGRESSIONS) // 10 + 1)
# Profiles of what is rare in the others, and how many seeds of each.
OF_THE_RARE = {"silent-nodes": 40, "azure-faults": 20, "node-deaths": 40}
MOST_NEW = 100_000
MINUTES_FOR_NEW = 2  # of CPU time; `make nightly` runs many more
MORE_SEEDS, MOST_SEEDS = 50, 350  # beside those, until all is reached that must be
LIMIT = 3000  # seconds, for a run that takes minutes

# What has to happen too, for a fault to have anything to strike: tokens are asked for once an hour.
COMPANY = {"azure-token-refused": "azure-token-expired"}
# In a scenario of seed 1 there is something for every fault to strike, but for these.
SEED_OF_FAULT = {"azure-deletion-refused": 2, "azure-deletion-fails": 2, "azure-growth-refused": 2}


def kinds() -> list[str]:
    """The kinds of incidents of Azure, as the source lists them: the tests are collected before
    anything is built."""
    source = (Path(__file__).parent / "azure_incidents.c").read_text()
    return [line.split('"')[1] for line in source.splitlines() if line.startswith('    ROW("azure-')]


def simulate(program: Path, *options: str, report: Path) -> dict:
    """The sums of a run in which every invariant held."""
    ran = subprocess.run([program, f"--jobs={JOBS}", f"--report={report}", *options], text=True,
                         capture_output=True, timeout=LIMIT, check=False)
    assert ran.returncode == 0, ran.stdout[-20000:] + ran.stderr
    return json.loads(report.read_text())


def replay(program: Path, path: Path) -> subprocess.CompletedProcess:
    return subprocess.run([program, f"--incidents={path}"], capture_output=True, text=True,
                          timeout=LIMIT, check=False)


Replays = dict[tuple[Path, Path], Future[subprocess.CompletedProcess]]


@pytest.fixture(scope="module")
def replays() -> Iterator[Replays]:
    """By program and file: all of them side by side."""
    wanted = [(PLAIN, path) for path in REGRESSIONS] + [(CHECKED, path) for path in CHECKED_REGRESSIONS]
    with ThreadPoolExecutor(JOBS) as pool:
        yield {one: pool.submit(replay, *one) for one in wanted}


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_regression(path, replays):
    ran = replays[PLAIN, path].result()
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("path", CHECKED_REGRESSIONS, ids=lambda path: path.stem)
def test_regression_under_sanitizers(path, replays):
    """Others after each change of the sources; `make nightly` runs all of them."""
    ran = replays[CHECKED, path].result()
    assert ran.returncode == 0, ran.stdout + ran.stderr


def trace(*program: str | Path) -> str:
    """All but the last line, which says how long it took."""
    return subprocess.run([*program, "--seed=7", "--trace"], capture_output=True, text=True,
                          timeout=LIMIT, check=False).stdout.rsplit("\n", 2)[0]


def test_same_seed_same_history():
    first = trace(PLAIN)
    assert first.count("\n") > 100
    assert trace(PLAIN) == first


def test_same_seed_same_history_from_the_image(tmp_path):
    """With nothing around it but what the image holds."""
    archive, root = tmp_path / "image.tar", tmp_path / "root"
    simulation_image("azdisk-sim:test").write(archive)
    with tarfile.open(archive) as image, tarfile.open(fileobj=image.extractfile("layer.tar")) as layer:
        layer.extractall(root, filter="fully_trusted")
    assert trace("chroot", root, "/bin/azdisk-sim") == trace(PLAIN)
    assert subprocess.run(["chroot", root, "/bin/azsim", "--help"], check=False).returncode == 0


def test_seeds_under_sanitizers(tmp_path):
    """Others than those without: what is read after it was freed seldom shows there."""
    first = sources.seed() + MOST_NEW
    simulate(CHECKED, f"--seeds={first}:{first + CHECKED_SEEDS - 1}", report=tmp_path / "report")


@pytest.fixture(scope="module")
def new_seeds(tmp_path_factory) -> dict:
    """The sums of seeds that nobody has run yet, as many as there is time for."""
    first = sources.seed()
    return simulate(PLAIN, f"--seeds={first}:{first + MOST_NEW - 1}", f"--minutes={MINUTES_FOR_NEW}",
                    report=tmp_path_factory.mktemp("new") / "report")


def test_seeds_that_are_new(new_seeds):
    assert new_seeds["seeds"] > 0
    changed = disk_changes.write(new_seeds, ROOT / "build" / "reports" / "grow.json")
    assert changed["grown_online"] and changed["grown_offline"] and changed["modified_offline"]


def test_seeds_reach_what_they_must(new_seeds, tmp_path):
    """What is rare may take more seeds than others: every change of the sources draws anew."""
    missing = {line for line in MUST_BE_REACHED.read_text().splitlines() if line} - set(new_seeds["coverage"])

    def reach(*options: str):
        missing.difference_update(simulate(PLAIN, *options, report=tmp_path / "report")["coverage"])

    for profile, seeds in OF_THE_RARE.items():
        if missing:
            reach(f"--profile={profile}", f"--seeds=1:{seeds}")
    after = sources.seed() + new_seeds["seeds"]
    for first in range(after, after + MOST_SEEDS, MORE_SEEDS):
        if missing:
            reach(f"--seeds={first}:{first + MORE_SEEDS - 1}")
    assert missing == set()


def test_looks_of_the_leader_hold_up_no_volume(tmp_path):
    """At a thousand VMs, of which nobody waits for: when it begins to lead, and again later."""
    sums = simulate(PLAIN, "--scale=1000:100", report=tmp_path / "report")
    usual = sums["create_s_median"]
    assert sums["create_s_new_leader"] < usual + 2
    assert sums["create_s_refresh"] < usual + 2


@pytest.mark.parametrize("kind", kinds())
def test_fault_of_azure(kind, tmp_path):
    """It strikes, the driver lives with it, and all that was wished comes true."""
    kinds_of_run = ",".join(filter(None, (kind, COMPANY.get(kind))))
    reached = simulate(PLAIN, "--profile=busy", f"--with={kinds_of_run}", "--rate=30",
                       f"--seed={SEED_OF_FAULT.get(kind, 1)}",
                       report=tmp_path / "report")["coverage"]
    assert reached.get(f"struck {kind} once or more", 0) > 0
