"""Whether the unit tests find what was broken on purpose: each mutant of mutant_table.py is built
with the tests of its folder, of which one has to fail. One that none finds is a hole in them.

Started by `make unit-mutants`.
"""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

import run
from mutation import ROOT, CannotBeBuilt, Tree
from mutation import run as run_mutants
from unit.mutant_table import MUTANTS, Mutant

LEAST_LIMIT = 20  # seconds, for a test program
TIMES_USUAL = 4  # and so many times what it takes without a mutant; what takes longer hangs
PR_SET_CHILD_SUBREAPER = 36  # of prctl(2)


class UnitTests:
    """Those of a tree, each a program."""

    def __init__(self, tree: Tree):
        self.tree = tree
        self.usual = {}  # how many seconds each takes
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)

    def of(self, mutant: Mutant) -> list[str]:
        """The programs that judge it."""
        path = Path(mutant.path)
        folder = Path("test/unit", path.parent)
        names = sorted(test.stem for test in (self.tree.folder / folder).glob("test_*.c"))
        names.sort(key=lambda name: name != f"test_{mutant.test or path.stem}")
        return [str("build/checked" / folder / name) for name in names]

    def failure(self, programs: list[str]) -> run.Result | None:
        """The first in this order."""
        for program in programs:
            limit = LEAST_LIMIT + TIMES_USUAL * self.usual.get(program, 0)
            if failed := self.failure_of(program, limit):
                return failed
        return None

    def failure_of(self, program: str, limit: float) -> run.Result | None:
        results = run.unit(program, limit=limit, folder=self.tree.folder)
        end_orphans()
        return next((result for result in results if result.outcome == "failed"), None)

    def prepare(self, mutants: list[Mutant]):
        """Without a mutant, all of them pass."""
        programs = sorted({program for mutant in mutants for program in self.of(mutant)})
        try:
            self.tree.build(*programs)
        except CannotBeBuilt as problem:
            raise SystemExit(problem) from None
        for program in programs:
            begin = time.monotonic()
            if failed := self.failure_of(program, run.LIMITS["unit"]):
                raise SystemExit(f"without a mutant, {failed.name} fails:\n{failed.output}")
            self.usual[program] = time.monotonic() - begin

    def look_for(self, mutant: Mutant) -> dict:
        """Most are found by the first program, so that the others need not be linked."""
        programs = self.of(mutant)
        for some in (programs[:1], programs[1:]):
            self.tree.build(*some)
            if failed := self.failure(some):
                return {"found": True, "how": f"found by {failed.name}", "test": failed.name}
        return {"found": False, "how": "NOT FOUND", "test": None}


def end_orphans():
    """What a test that failed has left behind: a program that it started may wait for it for ever."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while pids := children.read_text().split():
        for pid in map(int, pids):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


if __name__ == "__main__":
    run.GRACE = 1  # second: a unit test that hangs has nothing to clean up
    TESTS = UnitTests(Tree(ROOT / "build" / "unit-mutants"))
    sys.exit(run_mutants(__doc__, MUTANTS, TESTS.tree, TESTS.prepare, TESTS.look_for))
