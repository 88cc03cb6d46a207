"""The tables of mutants, and what is made of one: tested with a tree of a few lines."""

import subprocess
from pathlib import Path

import pytest

import mutation
import sim.mutant_table
import unit.mutant_table
from unit.mutants import UnitTests

WHOLE = "echo '[ RUN      ] test_a'\n[ $((1 + 1)) = 2 ] || exit 1\necho '[       OK ] test_a'\n"
MAKEFILE = """
build/checked/test/unit/x/test_%: x/a.sh
\t@mkdir -p $(@D)
\t@sh -n $<
\t@cp $< $@
\t@chmod +x $@
"""


@pytest.mark.parametrize("mutant", [*sim.mutant_table.MUTANTS, *unit.mutant_table.MUTANTS],
                         ids=lambda mutant: f"{mutant.path}: {mutant.name}")
def test_there_is_what_a_mutant_breaks(mutant):
    """Whether it is found is for `make sim-mutants` and `make unit-mutants`."""
    assert mutation.times_there(mutant) == 1
    assert mutant.new != mutant.old


@pytest.mark.parametrize("table", [sim.mutant_table, unit.mutant_table])
def test_names_are_of_one_mutant_each(table):
    assert len({mutant.name for mutant in table.MUTANTS}) == len(table.MUTANTS)


@pytest.mark.parametrize("mutant", unit.mutant_table.MUTANTS, ids=lambda mutant: mutant.name)
def test_there_is_the_test_that_is_tried_first(mutant):
    path = Path(mutant.path)
    name = f"test_{mutant.test or path.stem}.c"
    assert (mutation.ROOT / "test/unit" / path.parent / name).exists()


@pytest.fixture
def tests(tmp_path, monkeypatch):
    original = tmp_path / "original"
    for name, text in (("Makefile", MAKEFILE), ("x/a.sh", "#!/bin/sh\n" + WHOLE),
                       ("test/unit/x/test_a.c", ""), ("test/unit/x/test_b.c", "")):
        (original / name).parent.mkdir(parents=True, exist_ok=True)
        (original / name).write_text(text)
    monkeypatch.setattr("unit.mutants.LEAST_LIMIT", 1)
    tests = UnitTests(mutation.Tree(tmp_path / "copy", original))
    tests.tree.update()
    return tests


@pytest.mark.parametrize("new, found, how", [
    ("= 3", True, "found by x/test_a: test_a"),
    ("= 2 -o 1", False, "NOT FOUND"),
    ("= 2 ] && sleep 600 || [ 1", True, "found by x/test_a: test_a"),
    ("= 2 ] || (", False, "CANNOT BE BUILT"),
])
def test_what_becomes_of_a_mutant(tests, capsys, new, found, how):
    mutant = unit.mutant_table.Mutant("a sum", "x/a.sh", "= 2", new)
    result = mutation.timed(tests.tree, mutant, tests.look_for)
    assert result["found"] == found
    assert how in capsys.readouterr().out
    assert (tests.tree.folder / mutant.path).read_text() == "#!/bin/sh\n" + WHOLE


def test_what_a_mutant_leaves_behind_is_ended(tests, tmp_path):
    left = f"sh -c 'setsid sleep 600 & echo $! >{tmp_path}/pid'"
    mutant = unit.mutant_table.Mutant("a sum", "x/a.sh", "= 2 ]", f"= 2 ] && {left} && false")
    with tests.tree.broken_by(mutant):
        assert tests.look_for(mutant)["found"]
    pid = int((tmp_path / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists()


def test_what_fails_without_a_mutant_finds_none(tests):
    mutant = unit.mutant_table.Mutant("a sum", "x/a.sh", "= 2", "= 3")
    tests.prepare([mutant])
    (tests.tree.folder / mutant.path).write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(SystemExit):
        tests.prepare([mutant])


def test_what_runs_in_the_original_runs_in_the_copy(tests):
    program = tests.tree.original / "x/b.sh"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    tests.tree.update()
    assert (tests.tree.folder / "x/b.sh").stat().st_mode & 0o111


def test_what_has_not_changed_is_not_copied_again(tests):
    there = tests.tree.folder / "x/a.sh"
    before = there.stat().st_mtime_ns
    tests.tree.update()
    assert there.stat().st_mtime_ns == before
    (tests.tree.original / "x/a.sh").unlink()
    tests.tree.update()
    assert not there.exists()
