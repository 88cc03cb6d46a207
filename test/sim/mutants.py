"""Whether the simulation finds what was broken on purpose: each mutant of mutant_table.py is built in
a copy of the tree and run until an invariant is violated. One that no seed finds is a hole in the
simulation.

Started by `make sim-mutants`; the copy stays in build/mutants, so that the next time builds less.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from mutant_table import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parent.parent.parent
COPY = ROOT / "build" / "mutants"
PROGRAM = "build/plain/bin/azdisk-sim"
WHOLE = COPY / "build" / "azdisk-sim.whole"  # without a mutant
JOBS = len(os.sched_getaffinity(0))
SEEDS, CPU_MINUTES = 400, 6  # the most that one mutant gets


def main() -> int:
    arguments = parse_arguments()
    chosen = [mutant for mutant in MUTANTS if not arguments.names or mutant.name in arguments.names]
    copy_tree()
    wrong = [problem for mutant in chosen if (problem := misplaced(mutant))]
    if problem := "\n".join(wrong) or build():
        raise SystemExit(problem)
    shutil.copy2(COPY / PROGRAM, WHOLE)
    results = [look_for(mutant) for mutant in chosen]
    found = sum(result["found"] for result in results)
    print(f"{len(results)} mutants, {found} found")
    if arguments.report:
        report = {"mutants": len(results), "found": found, "results": results}
        Path(arguments.report).write_text(json.dumps(report, indent=1) + "\n")
    return 0 if found == len(results) else 1


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="of the mutants; all if none is named")
    parser.add_argument("--report", help="JSON file")
    return parser.parse_args()


def files(root: Path) -> set[Path]:
    found = set()
    for folder, folders, names in os.walk(root):
        if Path(folder) == root:
            folders[:] = set(folders) - {"build", ".git"}
        found |= {Path(folder, name).relative_to(root) for name in names}
    return found


def copy_tree():
    """What has not changed is not written, and so not built again. By content: a file that was
    restored after a mutant is newer than what was built of the mutant, and has to stay so."""
    for path in files(COPY) - files(ROOT):
        (COPY / path).unlink()
    for path in files(ROOT):
        there = COPY / path
        content = (ROOT / path).read_bytes()
        if not there.exists() or there.read_bytes() != content:
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(content)


def build() -> str:
    """What the compiler says if it cannot be built; nothing if it can."""
    command = ["make", f"-j{JOBS}", PROGRAM]
    ran = subprocess.run(command, cwd=COPY, capture_output=True, text=True, check=False)
    return ran.stderr if ran.returncode else ""


def misplaced(mutant: Mutant) -> str:
    """A text that is not there exactly once is no longer what the mutant was written for."""
    times = (COPY / mutant.path).read_text().count(mutant.old)
    return "" if times == 1 else f"{mutant.name}: its text is {times} times in {mutant.path}"


def look_for(mutant: Mutant) -> dict:
    path = COPY / mutant.path
    whole = path.read_text()
    path.write_text(whole.replace(mutant.old, mutant.new))
    try:
        if problem := build():
            raise SystemExit(f"{mutant.name} cannot be built:\n{problem}")
        violation = run(mutant)
    finally:
        path.write_text(whole)
    said = "NOT FOUND"
    if violation:
        said = f"found in seed {violation['seed']} by {violation['invariant']}"
    print(f"{mutant.name:50} {said}", flush=True)
    return {"name": mutant.name, "found": bool(violation), "violation": violation}


def run(mutant: Mutant) -> dict | None:
    """The first violation that is the mutant's own; None if there is none."""
    first = 1
    while first <= SEEDS:
        violation = simulate(COPY / PROGRAM, mutant, first, SEEDS)
        if not violation:
            return None
        if not simulate(WHOLE, mutant, violation["seed"], violation["seed"]):
            return violation
        first = violation["seed"] + 1
    return None


def simulate(program: Path, mutant: Mutant, first: int, last: int) -> dict | None:
    """The first violation by seeds of a range."""
    report = COPY / "build" / "mutant.json"
    report.unlink(missing_ok=True)
    options = [f"--seeds={first}:{last}", f"--jobs={JOBS}", "--first", f"--report={report}"]
    options += [f"--minutes={CPU_MINUTES}"]
    options += [f"--profile={mutant.profile}"] if mutant.profile else []
    options += [f"--with={mutant.company}"] if mutant.company else []
    subprocess.run([program, *options], stdout=subprocess.DEVNULL, check=False)
    violations = json.loads(report.read_text())["violated"]
    return min(violations, key=lambda violation: violation["seed"]) if violations else None


if __name__ == "__main__":
    sys.exit(main())
