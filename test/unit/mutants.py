"""Whether the unit tests find what was broken on purpose: each mutant of mutant_table.py is built
with the tests of its folder, of which one has to fail. One that none finds is a hole in them.

Started by `make unit-mutants`.
"""

import sys
from pathlib import Path

import run
from mutation import ROOT, CannotBeBuilt, Tree
from mutation import run as run_mutants
from unit.mutant_table import MUTANTS, Mutant

LIMIT = run.LIMITS["unit"]  # seconds, for a test program; what takes longer hangs


class UnitTests:
    """Those of a tree, each a program."""

    def __init__(self, tree: Tree):
        self.tree = tree

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
            for result in run.unit(program, limit=LIMIT, folder=self.tree.folder):
                if result.outcome == "failed":
                    return result
        return None

    def prepare(self, mutants: list[Mutant]):
        """Without a mutant, all of them pass."""
        programs = sorted({program for mutant in mutants for program in self.of(mutant)})
        try:
            self.tree.build(*programs)
        except CannotBeBuilt as problem:
            raise SystemExit(problem) from None
        if failed := self.failure(programs):
            raise SystemExit(f"without a mutant, {failed.name} fails:\n{failed.output}")

    def look_for(self, mutant: Mutant) -> dict:
        """Most are found by the first program, so that the others need not be linked."""
        programs = self.of(mutant)
        for some in (programs[:1], programs[1:]):
            self.tree.build(*some)
            if failed := self.failure(some):
                return {"found": True, "how": f"found by {failed.name}", "test": failed.name}
        return {"found": False, "how": "NOT FOUND", "test": None}


if __name__ == "__main__":
    TESTS = UnitTests(Tree(ROOT / "build" / "unit-mutants"))
    sys.exit(run_mutants(__doc__, MUTANTS, TESTS.tree, TESTS.prepare, TESTS.look_for))
