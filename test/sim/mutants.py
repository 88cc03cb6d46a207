"""Whether the simulation finds what was broken on purpose: each mutant of mutant_table.py is run
until an invariant is violated. One that no seed finds is a hole in the simulation.

Started by `make sim-mutants`.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from mutation import JOBS, ROOT, CannotBeBuilt, Tree
from mutation import run as run_mutants
from sim.mutant_table import MUTANTS, Mutant

TREE = Tree(ROOT / "build" / "mutants")
PROGRAM = "build/plain/bin/azdisk-sim"
WHOLE = TREE.folder / "build" / "azdisk-sim.whole"  # without a mutant
SEEDS, CPU_MINUTES = 400, 6  # the most that one mutant gets


def prepare(_):
    try:
        TREE.build(PROGRAM)
    except CannotBeBuilt as problem:
        raise SystemExit(problem) from None
    shutil.copy2(TREE.folder / PROGRAM, WHOLE)


def look_for(mutant: Mutant) -> dict:
    TREE.build(PROGRAM)
    violation = run(mutant)
    how = "NOT FOUND"
    if violation:
        how = f"found in seed {violation['seed']} by {violation['invariant']}"
    return {"found": bool(violation), "how": how, "violation": violation}


def run(mutant: Mutant) -> dict | None:
    """The first violation that is the mutant's own; None if there is none."""
    first = 1
    while first <= SEEDS:
        violation = simulate(TREE.folder / PROGRAM, mutant, first, SEEDS)
        if not violation:
            return None
        if not simulate(WHOLE, mutant, violation["seed"], violation["seed"]):
            return violation
        first = violation["seed"] + 1
    return None


def simulate(program: Path, mutant: Mutant, first: int, last: int) -> dict | None:
    """The first violation by seeds of a range."""
    report = TREE.folder / "build" / "mutant.json"
    report.unlink(missing_ok=True)
    options = [f"--seeds={first}:{last}", f"--jobs={JOBS}", "--first", f"--report={report}"]
    options += [f"--minutes={CPU_MINUTES}"]
    options += [f"--profile={mutant.profile}"] if mutant.profile else []
    options += [f"--with={mutant.incident}"] if mutant.incident else []
    options += [f"--landscape={mutant.landscape}"] if mutant.landscape else []
    subprocess.run([program, *options], stdout=subprocess.DEVNULL, check=False)
    violations = json.loads(report.read_text())["violated"]
    return min(violations, key=lambda violation: violation["seed"]) if violations else None


if __name__ == "__main__":
    sys.exit(run_mutants(__doc__, MUTANTS, TREE, prepare, look_for))
