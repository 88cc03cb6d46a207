"""Runs lints, unit tests and pytest suites, and counts them.

Prints a line for each program, then failures in full, then the sum as the last line. Every lint,
every test function of a unit test and every pytest test counts as one. Exit status 1 if any failed.
Started by mk/test.mk; needs nothing but the standard library, and pytest for the suites.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
AT_ONCE = max(2, len(os.sched_getaffinity(0)))
LIMITS = {"build": 3600, "lint": 1800, "unit": 120, "suite": 3600}  # seconds
GRACE = 60  # seconds that an interrupted program has to clean up

# Suites that take long begin first; those that bring up a cluster have the machine for themselves,
# after all others.
FIRST = ("integration", "sim", "node")
LAST = ("cluster", "e2e")

running = set()  # processes
stopping = threading.Event()  # somebody interrupts this program; from now on nothing may run


class Result(NamedTuple):
    name: str
    outcome: str  # passed, failed, skipped
    output: str = ""


class Ran(NamedTuple):
    status: int
    output: str


def interrupt(process):
    """Asks the process group to end, and ends it."""
    for number, seconds in ((signal.SIGINT, GRACE), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            continue


def run(command, limit, folder=ROOT, **environment):
    """Runs a program in a group of its own. Its output goes through a file: a pipe could be held
    open by what it leaves behind."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=os.environ | environment,
        )
        running.add(process)
        verdict = ""
        try:
            process.wait(0 if stopping.is_set() else limit)
        except subprocess.TimeoutExpired:
            verdict = f"\nended after {limit} s, which is its limit\n"
        finally:
            if process.poll() is None:
                interrupt(process)
            running.discard(process)
        if process.returncode < 0 and not verdict:
            verdict = f"\nended by {signal.Signals(-process.returncode).name}\n"
        output.seek(0)
        return Ran(1 if verdict else process.returncode, output.read() + verdict)


def build(target):
    """What cannot be built is a failure; the rest is tested."""
    ran = run(["make", "-k", f"-j{AT_ONCE}", target], LIMITS["build"])
    return [Result("build", "failed", ran.output)] if ran.status else []


def lint(name):
    ran = run(["make", "-k", "-s", f"-j{AT_ONCE}", f"lint-{name}"], LIMITS["lint"])
    return [Result(f"lint {name}", "failed" if ran.status else "passed", ran.output)]


def unit(program, limit=LIMITS["unit"], folder=ROOT):
    """One cmocka program; each of its functions is a result. One that has begun and neither passed
    nor was skipped has failed, so a crash fails the function that it happened in."""
    name = re.sub(r".*/test/unit/", "", program)
    ran = run([program], limit, folder, UBSAN_OPTIONS="print_stacktrace=1")
    results = []
    for section in re.split(r"^\[ RUN      \] ", ran.output, flags=re.MULTILINE)[1:]:
        function = section.split(maxsplit=1)[0]
        outcome = re.search(rf"^\[ +(OK|SKIPPED) +\] {re.escape(function)}$", section, re.MULTILINE)
        outcomes = {"OK": "passed", "SKIPPED": "skipped"}
        results.append(
            Result(f"{name}: {function}", outcomes[outcome[1]] if outcome else "failed", section)
        )
    if ran.status and not any(result.outcome == "failed" for result in results):
        results.append(Result(f"{name}: exit status {ran.status}", "failed", ran.output))
    return results


def suite(folder):
    """The pytest files of one folder, in one process, so that they share fixtures."""
    files = sorted(str(path) for path in folder.glob("test_*.py"))
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        ran = run(
            [*command, f"--junitxml={report}", *files],
            LIMITS["suite"],
            PYTHONPATH=str(ROOT / "test"),
        )
        cases = ElementTree.parse(report).iter("testcase") if report.exists() else ()
        results = []
        for result in map(case_result, cases):
            # A test that fails in its body and again in its end stands there twice.
            if result.outcome != "failed" or not any(r.name == result.name for r in results):
                results.append(result)
    if ran.status and not any(result.outcome == "failed" for result in results):
        name = f"{folder.relative_to(ROOT)}: exit status {ran.status}"
        results.append(Result(name, "failed", ran.output))
    return results


def case_result(case):
    name = f"{case.get('classname')}: {case.get('name')}"
    for tag, outcome in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        parts = case.findall(tag)
        if parts:
            output = "\n".join(part.text or part.get("message") for part in parts)
            captured = [case.findtext(stream, "") for stream in ("system-out", "system-err")]
            return Result(name, outcome, "\n".join([output, *filter(None, captured)]))
    return Result(name, "passed")


def suites():
    """Those that run two at once, and those that run alone, each in its order."""
    folders = {path.parent for path in (ROOT / "test").rglob("test_*.py")}
    alone = sorted((f for f in folders if f.name in LAST), key=lambda f: LAST.index(f.name))
    long = sorted((f for f in folders if f.name in FIRST), key=lambda f: FIRST.index(f.name))
    return long + sorted(folders - {*alone, *long}), alone


def name_of(folder):
    return str(folder.relative_to(ROOT))


def count(results, outcome):
    return sum(result.outcome == outcome for result in results)


def timed(name, job, *arguments):
    """Runs a job and prints its line."""
    begin = time.monotonic()
    results = job(*arguments)
    failed = count(results, "failed")
    print(
        f"{'FAIL' if failed else 'ok':4} {count(results, 'passed'):4} passed"
        f" {f'{failed:3} failed' if failed else '':10} {time.monotonic() - begin:7.1f} s  {name}",
        flush=True,
    )
    for result in results:
        if result.outcome == "failed":
            print(f"     failed: {result.name}", flush=True)
    return results


def run_two_at_once(jobs):
    with ThreadPoolExecutor(2) as pool:
        try:
            return [result for some in pool.map(lambda job: timed(*job), jobs) for result in some]
        except KeyboardInterrupt:
            stopping.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(running):
                interrupt(process)
            raise


def run_all(arguments):
    results = timed("build", build, arguments.build) if arguments.build else []
    jobs = [(f"lint {name}", lint, name) for name in arguments.lints.split()]
    for program in arguments.units.split():
        if Path(ROOT, program).exists():
            jobs.append((re.sub(r".*/test/unit/", "unit ", program), unit, program))
    results += run_two_at_once(jobs)
    if arguments.suites:
        together, alone = suites()
        results += run_two_at_once((name_of(folder), suite, folder) for folder in together)
        for folder in alone:
            results += timed(name_of(folder), suite, folder)
    return results


def show(results):
    for result in results:
        if result.outcome == "skipped":
            print(f"skipped: {result.name}: {result.output.strip()}")
    for result in results:
        if result.outcome == "failed":
            print(f"\n---- failed: {result.name}\n{result.output.strip()}")
    print(f"\n{count(results, 'passed')} passed, {count(results, 'failed')} failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--build", help="make target of all that is run")
    parser.add_argument("--lints", default="", help="names, separated by blanks")
    parser.add_argument("--units", default="", help="programs, separated by blanks")
    parser.add_argument("--suites", action="store_true", help="every folder with pytest files")
    parser.add_argument("--report", type=Path, help="file for the results as JSON")
    arguments = parser.parse_args()

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    begin = time.monotonic()
    results = run_all(arguments)
    failures = [{"name": r.name, "output": r.output} for r in results if r.outcome == "failed"]
    if arguments.report:
        arguments.report.parent.mkdir(parents=True, exist_ok=True)
        report = {
            "passed": count(results, "passed"),
            "failed": len(failures),
            "seconds": round(time.monotonic() - begin, 1),
            "failures": failures,
        }
        arguments.report.write_text(json.dumps(report, indent=1) + "\n")
    show(results)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
