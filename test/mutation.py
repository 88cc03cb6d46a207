"""Mutants: the product with one guard broken. Each is built in a copy of the tree and given to tests
that have to notice; one that they do not notice is a hole in them.

What the simulation's mutants (test/sim/mutants.py) and those of the unit tests (test/unit/mutants.py)
have in common. A copy stays in build/, so that the next time builds less.
"""

import argparse
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
JOBS = len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Mutant:
    name: str  # the guard that is broken
    path: str
    old: str  # there exactly once
    new: str


class CannotBeBuilt(Exception):
    """With what the compiler says. Such a mutant is a mistake in the table: no test has noticed it."""


class Tree:
    """A copy of the tree, in a folder of its own."""

    def __init__(self, folder: Path, original: Path = ROOT):
        self.folder, self.original = folder, original

    def update(self):
        """What has not changed is not written, and so not built again. By content: a file that was
        restored after a mutant is newer than what was built of the mutant, and has to stay so."""
        for path in files(self.folder) - files(self.original):
            (self.folder / path).unlink()
        for path in files(self.original):
            there = self.folder / path
            content = (self.original / path).read_bytes()
            if not there.exists() or there.read_bytes() != content:
                there.parent.mkdir(parents=True, exist_ok=True)
                there.write_bytes(content)
                shutil.copymode(self.original / path, there)

    def build(self, *targets: str):
        command = ["make", f"-j{JOBS}", *targets]
        ran = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise CannotBeBuilt(ran.stderr)

    @contextmanager
    def broken_by(self, mutant: Mutant) -> Iterator[None]:
        path = self.folder / mutant.path
        whole = path.read_text()
        path.write_text(whole.replace(mutant.old, mutant.new))
        try:
            yield
        finally:
            path.write_text(whole)


def files(root: Path) -> set[Path]:
    found = set()
    for folder, folders, names in os.walk(root):
        if Path(folder) == root:
            folders[:] = set(folders) - {"build", ".git"}
        found |= {Path(folder, name).relative_to(root) for name in names}
    return found


def times_there(mutant: Mutant, root: Path = ROOT) -> int:
    """A text that is not there exactly once is no longer what the mutant was written for."""
    return (root / mutant.path).read_text().count(mutant.old)


def run(about: str, table: Sequence[Mutant], tree: Tree,
        prepare: Callable[[list[Mutant]], None], look_for: Callable[[Mutant], dict]) -> int:
    """Looks for the mutants that the command line names, and returns the exit status. `look_for` is
    called while the tree is broken and says whether the mutant is `found`, and `how` in words."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("chosen", nargs="*", help="names of mutants, or paths; all if none is given")
    parser.add_argument("--report", type=Path, help="JSON file")
    arguments = parser.parse_args()
    mutants = [mutant for mutant in table if is_chosen(mutant, arguments.chosen)]
    begin = time.monotonic()
    tree.update()
    misplaced = [f"{mutant.name}: its text is {times} times in {mutant.path}"
                 for mutant in mutants if (times := times_there(mutant, tree.folder)) != 1]
    if misplaced:
        raise SystemExit("\n".join(misplaced))
    prepare(mutants)
    results = [timed(tree, mutant, look_for) for mutant in mutants]
    found, seconds = sum(result["found"] for result in results), round(time.monotonic() - begin, 1)
    print(f"{len(results)} mutants, {found} found, {seconds} s")
    if arguments.report:
        report = {"mutants": len(results), "found": found, "seconds": seconds, "results": results}
        arguments.report.parent.mkdir(parents=True, exist_ok=True)
        arguments.report.write_text(json.dumps(report, indent=1) + "\n")
    return 0 if found == len(results) else 1


def is_chosen(mutant: Mutant, chosen: Sequence[str]) -> bool:
    return not chosen or mutant.name in chosen or mutant.path.startswith(tuple(chosen))


def timed(tree: Tree, mutant: Mutant, look_for: Callable[[Mutant], dict]) -> dict:
    begin = time.monotonic()
    with tree.broken_by(mutant):
        try:
            result = look_for(mutant)
        except CannotBeBuilt as problem:
            result = {"found": False, "how": f"CANNOT BE BUILT\n{problem}"}
    seconds = round(time.monotonic() - begin, 1)
    print(f"{mutant.name:70} {seconds:6.1f} s  {result.pop('how')}", flush=True)
    return {"name": mutant.name, "path": mutant.path, "seconds": seconds} | result
