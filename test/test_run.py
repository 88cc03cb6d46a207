"""The runner, fed with programs that behave as unit tests do, and as they must not."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import run

RUNNER = Path(run.__file__)

PASSES = 'echo "[ RUN      ] test_a"; echo "[       OK ] test_a"\n'
FAILS = (
    'echo "[ RUN      ] test_b"; echo "[  ERROR   ] --- 0"; echo "!= 1"; echo "[  FAILED  ] test_b"\n'
    'echo "[  FAILED  ] 1 test(s), listed below:"; echo "[  FAILED  ] test_b"\n'
)
SKIPS = 'echo "[ RUN      ] test_c"; echo "[  SKIPPED ] test_c"\n'
CRASHES = 'echo "[ RUN      ] test_d"; echo "AddressSanitizer: SEGV" >&2; kill -6 $$\n'
HANGS = 'echo "[ RUN      ] test_e"; trap "" INT; while :; do sleep 0.05; done\n'


@pytest.fixture
def program(tmp_path):
    def make(script, interpreter="/bin/sh"):
        path = tmp_path / "test/unit/test_x"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{interpreter}\n{script}")
        path.chmod(0o755)
        return str(path)

    return make


@pytest.mark.parametrize(
    "script, expected",
    [
        (PASSES, ["test_a passed OK"]),
        (PASSES + FAILS + "exit 1", ["test_a passed OK", "test_b failed != 1"]),
        (SKIPS, ["test_c skipped SKIPPED"]),
        (PASSES + CRASHES, ["test_a passed OK", "test_d failed SIGABRT"]),
        (PASSES + "echo leak; exit 23", ["test_a passed OK", "23 failed leak"]),
        ("echo cannot start; exit 127", ["127 failed cannot start"]),
    ],
)
def test_what_a_unit_test_prints_is_counted(program, script, expected):
    results = run.unit(program(script))
    assert len(results) == len(expected)
    for result, words in zip(results, expected):
        name, outcome, output = words.split(maxsplit=2)
        assert result.name in (f"test_x: {name}", f"test_x: exit status {name}")
        assert result.outcome == outcome
        assert output in result.output


@pytest.mark.parametrize("script, why", [(FAILS, "0 != 1"), (CRASHES, "SEGV ended by SIGABRT")])
def test_why_a_unit_test_failed_is_one_line(program, script, why):
    [result] = run.unit(program(script))
    assert result.why == why


def test_a_program_has_a_limit(program, monkeypatch):
    monkeypatch.setattr(run, "GRACE", 0.1)
    begin = time.monotonic()
    results = run.unit(program(PASSES + HANGS), limit=0.5)
    assert time.monotonic() - begin < 30
    assert [r.name for r in results] == ["test_x: test_a", "test_x: test_e"]
    assert [r.outcome for r in results] == ["passed", "failed"]
    assert "ended after 0.5 s, which is its limit" in results[1].output


def test_what_it_leaves_behind_is_not_waited_for(program):
    begin = time.monotonic()
    assert run.unit(program(PASSES + "setsid sleep 20 &"))[0].outcome == "passed"
    assert time.monotonic() - begin < 15


SUITE = """
import pytest

def test_good(): pass
def test_bad(): assert 1 + 1 == 3
def test_skipped(): pytest.skip("no disk")

@pytest.fixture
def broken():
    yield
    raise RuntimeError("teardown")

def test_error(broken): pass
def test_bad_twice(broken): assert False
"""


def test_a_suite_counts_each_test_once(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "ROOT", tmp_path)
    (tmp_path / "test_s.py").write_text(SUITE)
    results = run.suite(tmp_path)
    assert [(r.name, r.outcome) for r in results] == [
        ("test_s: test_good", "passed"),
        ("test_s: test_bad", "failed"),
        ("test_s: test_skipped", "skipped"),
        ("test_s: test_error", "failed"),
        ("test_s: test_bad_twice", "failed"),
    ]
    assert "1 + 1" in results[1].output
    assert results[1].why == "assert (1 + 1) == 3" and "RuntimeError: teardown" in results[3].why
    assert "no disk" in results[2].output


@pytest.mark.parametrize("content", ("import no_such_module", "def test_x(: pass", "x = 1"))
def test_a_suite_that_cannot_run_is_a_failure(tmp_path, monkeypatch, content):
    monkeypatch.setattr(run, "ROOT", tmp_path)
    (tmp_path / "test_s.py").write_text(content)
    assert [r.outcome for r in run.suite(tmp_path)] == ["failed"]


def test_suites_that_wait_run_beside_those_that_compute_and_clusters_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "ROOT", tmp_path)
    for name in ("cluster", "azsim", "integration", "lint", "sim", "chart"):
        (tmp_path / "test" / name).mkdir(parents=True)
        (tmp_path / "test" / name / "test_s.py").touch()
    (tmp_path / "test/azsim/no_test.py").touch()
    (tmp_path / "test/test_run.py").touch()
    waiting, computing, alone = ([run.name_of(folder) for folder in lane] for lane in run.suites())
    assert waiting == ["test/integration", "test/azsim"]
    assert computing == ["test/sim", "test", "test/chart", "test/lint"]
    assert alone == ["test/cluster"]


def test_what_computes_yields_to_what_waits(tmp_path):
    """Before it ends: this one waits for it."""
    script = f"import os, time\nwhile os.nice(0) != {run.PRIORITY}: time.sleep(0.01)"
    assert run.run([sys.executable, "-c", script], 60, tmp_path, computes=True).status == 0


def test_files_are_spread_by_what_they_took(tmp_path, monkeypatch):
    monkeypatch.setitem(run.PROCESSES, tmp_path.name, 2)
    for name, size in {"a": 150, "b": 300, "c": 900, "d": 1500}.items():
        (tmp_path / f"test_{name}.py").write_text("#" * size)

    def stems(last_time):
        return [[path.stem[-1] for path in files] for files in run.spread(tmp_path, last_time)]

    assert stems({}) == [["d"], ["a", "b", "c"]]
    assert stems({"test_a": 20, "test_d": 10}) == [["a"], ["b", "c", "d"]]
    monkeypatch.setitem(run.PROCESSES, tmp_path.name, 9)
    assert len(stems({})) == 4


ONE_OF_TWO = """
import os

def test_one(): pass
def test_two(): assert False, f"process {os.getpid()} of them"
"""


def test_files_run_in_processes_of_their_own(tmp_path, monkeypatch):
    """The end of one of these is a failure, and the others go on."""
    monkeypatch.setattr(run, "ROOT", tmp_path)
    monkeypatch.setitem(run.PROCESSES, tmp_path.name, 3)
    for name in "ab":
        (tmp_path / f"test_{name}.py").write_text(ONE_OF_TWO)
    (tmp_path / "test_c.py").write_text("import os\ndef test_three(): os.kill(os.getpid(), 9)\n")
    results = run.suite(tmp_path)
    assert sorted((r.name, r.outcome) for r in results[:-1]) == [
        ("test_a: test_one", "passed"),
        ("test_a: test_two", "failed"),
        ("test_b: test_one", "passed"),
        ("test_b: test_two", "failed"),
    ]
    assert results[-1].outcome == "failed" and "SIGKILL" in results[-1].output
    said = [re.search(r"process \d+", result.output) for result in results]
    assert len({found[0] for found in said if found}) == 2


SPINS = """
import subprocess, sys, time

def spin():
    while time.process_time() < 0.4: pass

if len(sys.argv) == 1:
    subprocess.run([sys.executable, __file__, "again"])
    time.sleep(0.4)
spin()
"""


def test_cpu_seconds_are_those_of_a_program_and_of_what_it_has_started(program):
    run.spent.cpu = 0
    begin = time.monotonic()
    run.unit(program(SPINS, sys.executable))
    assert 0.8 <= run.spent.cpu < time.monotonic() - begin


def start(tree, *arguments):
    """The runner as a program, in a tree with a Makefile of its own."""
    (tree / "test").mkdir(exist_ok=True)
    for file in (RUNNER, RUNNER.with_name("execve.py")):
        (tree / "test" / file.name).write_text(file.read_text())
    (tree / "Makefile").write_text(
        "lint-good:\n\t@true\nlint-bad:\n\t@echo file.c:1: wrong; false\n"
        "good:\n\t@true\nbad:\n\t@echo does not compile; false\n"
    )
    return subprocess.Popen(
        [sys.executable, tree / "test/run.py", "--report", tree / "report.json", *arguments],
        env={"PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    "output, why",
    [
        ("checked a.c\na.c:7:5: error: no b\na.c:9:1: error: no c\nmake: *** [a.o] Error 1\n", "a.c:7:5: error: no b"),
        ("/usr/bin/ld: a.o: undefined reference to `b'\ncollect2: error: ld\n", "/usr/bin/ld: a.o: undefined reference to `b'"),
        ("make: *** No rule to make target 'a'.  Stop.\n", ""),
    ],
)
def test_why_a_build_failed_is_its_first_error(output, why):
    assert run.first_error(output) == why


@pytest.mark.parametrize("n, first, others", [(1, 2000, 0), (3, 1000, 500), (50, 1000, 100)])
def test_why_many_failed_is_short(n, first, others):
    lines = [*run.what_failed([run.Result(f"test_{i}", "failed", "x" * 3000) for i in range(n)])]
    assert [line.count("x") for line in lines] == [first] + [others] * (n - 1)


@pytest.mark.parametrize(
    "build, lints, script, last, failures",
    [
        ("good", "good", PASSES, "2 passed, 0 failed", []),
        ("good", "good bad", PASSES, "2 passed, 1 failed", ["lint bad"]),
        ("good", "", PASSES + FAILS, "1 passed, 1 failed", ["test_x: test_b"]),
        ("bad", "good", PASSES, "2 passed, 1 failed", ["build"]),
    ],
)
def test_the_sum_is_last(tmp_path, program, build, lints, script, last, failures):
    process = start(tmp_path, "--build", build, "--lints", lints, "--units", program(script))
    lines = process.communicate()[0].splitlines()
    assert lines[-1] == last
    assert process.returncode == (1 if failures else 0)
    for failure in failures:
        assert f"---- failed: {failure}" in lines
        assert any(line.startswith(f"failed: {failure}: ") for line in lines)
    report = json.loads((tmp_path / "report.json").read_text())
    assert f"{report['passed']} passed, {report['failed']} failed" == last
    assert [failure["name"] for failure in report["failures"]] == failures
    assert report["complete"]
    costs = {suite["suite"]: suite for suite in report["suites"]}
    assert {*costs} == {"build", *(f"lint {name}" for name in lints.split()), "unit test_x"}
    for cost in costs.values():
        assert 0 <= cost["cpu_seconds"] <= cost["seconds"] * os.cpu_count() + 0.1
    for outcome in ("passed", "failed", "skipped"):
        assert sum(cost[outcome] for cost in costs.values()) == report[outcome]
    slowest = lines.index(f"The slowest of {len(costs)} suites, in seconds and seconds of CPU time:")
    costly = lines[slowest + 1 : -2 - len(failures)]
    named = [line.split(maxsplit=2)[2] for line in costly]
    assert sorted(named[:-1]) == sorted(costs) and named[-1] == "all of them"


def test_interrupting_ends_what_runs(tmp_path, program):
    marker = tmp_path / "pid"
    marker.touch()
    hanging = f"import os, time\nopen('{marker}', 'w').write(str(os.getpid()))\ntime.sleep(1000)\n"
    process = start(tmp_path, "--build", "bad", "--units", program(hanging, sys.executable))
    while not marker.read_text():
        assert process.poll() is None
        time.sleep(0.01)
    process.terminate()
    process.communicate()
    assert process.returncode != 0
    assert not Path("/proc", marker.read_text()).exists()
    report = json.loads((tmp_path / "report.json").read_text())
    assert not report["complete"]
    assert [suite["suite"] for suite in report["suites"]] == ["build"]
    assert [failure["name"] for failure in report["failures"]] == ["build"]
