"""Runs lints, unit tests and pytest suites, counts them and says what they cost.

Prints a line for each program, then failures in full, then the slowest, then each failure in a
line, then the sum as the last line. Every lint, every test function of a unit test and every pytest test counts as one. Exit
status 1 if any failed. The report is written anew whenever something has ended, so that it is
there however this program ends.

Started by mk/test.mk; needs nothing but the standard library, and pytest for the suites.
"""

import argparse
import json
import os
import re
import select
import shlex
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

from execve import Popen

ROOT = Path(__file__).resolve().parent.parent
AT_ONCE = max(2, len(os.sched_getaffinity(0)))
EMULATOR = shlex.split(os.environ.get("EMULATOR", ""))  # runs programs of another architecture
LIMITS = {"build": 3600, "lint": 1800, "unit": 300, "suite": 3600}  # seconds
GRACE = 60  # seconds that an interrupted program has to clean up

# Suites that wait most of the time, the longest first. Beside them runs, at a lower priority, what
# computes most of the time. Suites that bring up a cluster have the machine for themselves after all
# others, the longest beside those that are shorter.
WAITING = ("integration", "node", "azsim", "guest", "sanity")
COMPUTING_FIRST = ("sim",)
CLUSTERS = ("e2e", "conformance", "failover", "moves", "cluster")
CLUSTERS_AT_ONCE = 2
PROCESSES = {"integration": 4, "node": 3, "azsim": 2, "e2e": 2}  # in which a suite's files run
WAITING_AT_ONCE = 3
PRIORITY = 5  # of nice(1)

# How many seconds a file of tests takes, where its size is misleading and no report of a run before says it.
SECONDS = {
    "e2e": {
        "test_accidents": 330, "test_claims": 85, "test_growth": 185, "test_memory": 125, "test_modify": 25,
        "test_node_deletion": 50, "test_pages": 45, "test_replicas": 360, "test_snapshots": 165, "test_start": 30,
        "test_static": 85, "test_strangers": 85, "test_updates": 25, "test_volumes": 50,
    },
    "integration": {
        "test_audit": 110, "test_audit_snapshots": 80, "test_azdiskctl_contexts": 5,
        "test_background_copy": 220, "test_controller_faults": 280, "test_custom_resources": 5,
        "test_dangling_attach": 90, "test_extender": 30, "test_failover": 280, "test_kube": 310,
        "test_node_policy": 25, "test_own_scheduler": 5, "test_permissions": 125,
        "test_placement_certificate": 135, "test_placement_modes": 45, "test_placement_webhook": 40,
        "test_rude_clients": 25, "test_simulated_api": 10, "test_snapshot_copies": 450,
        "test_startup": 20,
    },
    "node": {"test_copies": 215, "test_crashes": 110, "test_replica_check": 135},
}  # fmt: skip
BYTES_A_SECOND = 150
SLOWEST = 10  # are named at the end
WHYS_LENGTH, WHY_AT_LEAST = 2000, 100  # characters: all reasons together, as logs are cut; and each of many

running = set()  # processes
spent = threading.local()  # .cpu: seconds, of what the thread's present job has run
stopping = threading.Event()  # somebody interrupts this program; from now on nothing may run


class Result(NamedTuple):
    name: str
    outcome: str  # passed, failed, skipped
    output: str = ""
    seconds: float = 0
    why: str = ""  # in one line, of a test that failed


class Ran(NamedTuple):
    status: int
    output: str


class Process:
    """A program in a process group of its own. Who has started it reaps it, and learns what it cost;
    others may interrupt it."""

    handle = -1

    def __init__(self, command, priority, **options):
        self.popen = Popen(command, start_new_session=True, **options)
        self.handle = os.pidfd_open(self.popen.pid)
        if priority:
            self._yield(priority)

    def _yield(self, priority):
        """Like nice(1), and for its whole session: a kernel that shares processors among sessions
        (sched(7), autogroup) does not compare processes of different ones."""
        try:
            os.setpriority(os.PRIO_PGRP, self.popen.pid, priority)
            Path(f"/proc/{self.popen.pid}/autogroup").write_text(str(priority))
        except OSError:  # it has ended, or the kernel does not share so
            pass

    def __del__(self):
        if self.handle >= 0:
            os.close(self.handle)

    def ends(self, seconds=None):
        """Whether it does within that time."""
        return bool(select.select([self.handle], [], [], seconds)[0])

    def interrupt(self):
        """Asks the group to end, and ends it."""
        for number, seconds in ((signal.SIGINT, GRACE), (signal.SIGKILL, None)):
            try:
                os.killpg(self.popen.pid, number)
            except ProcessLookupError:
                pass
            if self.ends(seconds):
                return

    def reap(self):
        """Its exit status, negative for a signal, and its seconds of CPU time, with those of its
        descendants that were waited for."""
        _, status, usage = os.wait4(self.popen.pid, 0)
        self.popen.returncode = os.waitstatus_to_exitcode(status)
        return self.popen.returncode, usage.ru_utime + usage.ru_stime


def run(command, limit, folder=ROOT, computes=False, **environment):
    """Its output goes through a file: a pipe could be held open by what it leaves behind."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = Process(
            command,
            PRIORITY if computes else 0,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | environment,
        )
        running.add(process)
        verdict = ""
        try:
            if not process.ends(0 if stopping.is_set() else limit):
                verdict = f"\nended after {limit} s, which is its limit\n"
        finally:
            if not process.ends(0):
                process.interrupt()
            running.discard(process)
            status, cpu = process.reap()
        spent.cpu = getattr(spent, "cpu", 0) + cpu
        if status < 0 and not verdict:
            verdict = f"\nended by {signal.Signals(-status).name}\n"
        output.seek(0)
        return Ran(1 if verdict else status, output.read() + verdict)


def build(target):
    """What cannot be built is a failure; the rest is tested."""
    ran = run(["make", "-k", f"-j{AT_ONCE}", target], LIMITS["build"])
    why = first_error(ran.output)
    return [Result("build", "failed", ran.output, why=why)] if ran.status else []


def first_error(output):
    """Of a compiler or the linker; empty if there is none. What is last says where make was."""
    found = re.search(r"^.*(?:\berror: |undefined reference to ).*$", output, re.MULTILINE)
    return found[0].strip() if found else ""


def lint(name):
    command = ["make", "-k", "-s", f"-j{AT_ONCE}", f"lint-{name}"]
    ran = run(command, LIMITS["lint"], computes=True)
    return [Result(f"lint {name}", "failed" if ran.status else "passed", ran.output)]


def unit(program, limit=LIMITS["unit"], folder=ROOT):
    """One cmocka program; each of its functions is a result. One that has begun and neither passed
    nor was skipped has failed, so a crash fails the function that it happened in."""
    name = re.sub(r".*/test/unit/", "", program)
    ran = run([*EMULATOR, program], limit, folder, computes=True, UBSAN_OPTIONS="print_stacktrace=1")
    results = []
    for section in re.split(r"^\[ RUN      \] ", ran.output, flags=re.MULTILINE)[1:]:
        function = section.split(maxsplit=1)[0]
        outcome = re.search(rf"^\[ +(OK|SKIPPED) +\] {re.escape(function)}$", section, re.MULTILINE)
        outcomes = {"OK": "passed", "SKIPPED": "skipped"}
        outcome = outcomes[outcome[1]] if outcome else "failed"
        results.append(Result(f"{name}: {function}", outcome, section, why=complaint(section)))
    if ran.status and not any(result.outcome == "failed" for result in results):
        results.append(Result(f"{name}: exit status {ran.status}", "failed", ran.output))
    return results


def complaint(output):
    """The first one of cmocka or a sanitizer, in one line; empty if there is none."""
    found = re.search(r"(^\[ +ERROR +\] --- |\w+Sanitizer: |runtime error: )(.+?)(?=^\[|\Z)", output, re.M | re.S)
    return " ".join(found[2].split()) if found else ""


def suite(folder, last_time=None):
    """The pytest files of one folder. Those of one process share its fixtures."""
    shares = spread(folder, last_time or {})

    def one(files):
        spent.cpu = 0
        return tests_of(folder, files), spent.cpu

    results = []
    with ThreadPoolExecutor(len(shares)) as pool:
        for some, cpu in pool.map(one, shares):
            results += some
            spent.cpu = getattr(spent, "cpu", 0) + cpu
    return results


def spread(folder, last_time):
    """The files, dealt out from the longest on, each to the process that has least to do."""
    guessed = {f: f.stat().st_size / BYTES_A_SECOND for f in folder.glob("test_*.py")}
    known = SECONDS.get(folder.name, {}) | last_time
    seconds = {f: known.get(f.stem, guessed[f]) for f in guessed}
    shares = [[] for _ in range(min(PROCESSES.get(folder.name, 1), len(seconds)))]
    for file in sorted(seconds, key=lambda file: (-seconds[file], file)):
        min(shares, key=lambda share: sum(seconds[f] for f in share)).append(file)
    return [sorted(share) for share in shares]


def tests_of(folder, files):
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        ran = run(
            [*command, f"--rootdir={ROOT}", f"--junitxml={report}", *map(str, files)],
            LIMITS["suite"],
            computes=computes(folder),
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
    seconds = float(case.get("time", 0))
    for tag, outcome in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        parts = case.findall(tag)
        if parts:
            output = "\n".join(part.text or part.get("message") for part in parts)
            captured = [case.findtext(stream, "") for stream in ("system-out", "system-err")]
            whole = "\n".join([output, *filter(None, captured)])
            why = " ".join(parts[0].get("message", "").split())
            return Result(name, outcome, whole, seconds, why)
    return Result(name, "passed", seconds=seconds)


def computes(folder):
    return folder.name not in (*WAITING, *CLUSTERS)


def suites():
    """Those that wait, those that compute and those that bring up clusters, each in its order."""
    folders = sorted({path.parent for path in (ROOT / "test").rglob("test_*.py")})

    def ordered(names):
        return [folder for name in names for folder in folders if folder.name == name]

    first = ordered(COMPUTING_FIRST)
    others = [folder for folder in folders if computes(folder) and folder not in first]
    return ordered(WAITING), first + others, ordered(CLUSTERS)


def name_of(folder):
    return str(folder.relative_to(ROOT))


def count(results, outcome):
    return sum(result.outcome == outcome for result in results)


def failures(results):
    return [result for result in results if result.outcome == "failed"]


def what_failed(results):
    """A line for each failure. The first says more than each of those that may have followed from it."""
    failed = failures(results)
    length = WHYS_LENGTH if len(failed) == 1 else WHYS_LENGTH // 2
    for result in failed:
        why = result.why or result.output.strip().rpartition("\n")[2]
        yield f"failed: {result.name}: {why[:length]}"
        length = max(WHYS_LENGTH // 2 // (len(failed) - 1 or 1), WHY_AT_LEAST)


def seconds_by_file(results):
    """Of pytest files; what of their seconds is fixtures' of a process counts as the first test's."""
    files = {}
    for result in filter(lambda result: result.seconds, results):
        file = result.name.partition(":")[0].rpartition(".")[2]
        files[file] = round(files.get(file, 0) + result.seconds, 1)
    return files


def of_last_run(report):
    """Suite: its seconds by file."""
    try:
        suites = json.loads(report.read_text())["suites"]
        return {suite["suite"]: suite.get("files", {}) for suite in suites}
    except (AttributeError, OSError, ValueError, KeyError):
        return {}


class Report:
    """What has ended so far, in the order of its ends, printed and written."""

    def __init__(self, path):
        self.path = path
        self.begin = time.monotonic()
        self.results, self.suites = [], []
        self.lock = threading.Lock()

    def seconds(self):
        return round(time.monotonic() - self.begin, 1)

    def add(self, name, results, seconds, cpu):
        sums = {outcome: count(results, outcome) for outcome in ("passed", "failed", "skipped")}
        cost = {"seconds": round(seconds, 1), "cpu_seconds": round(cpu, 1)}
        with self.lock:
            self.results += results
            files = seconds_by_file(results)
            self.suites.append(
                {"suite": name} | cost | sums | ({"files": files} if files else {})
            )
            failed = sums["failed"]
            print(
                f"{'FAIL' if failed else 'ok':4} {sums['passed']:4} passed"
                f" {f'{failed:3} failed' if failed else '':10} {seconds:7.1f} s  {name}",
                flush=True,
            )
            for line in what_failed(results):
                print(f"     {line}", flush=True)
            self.write(complete=False)

    def write(self, complete):
        if not self.path:
            return
        content = {
            "complete": complete,
            "passed": count(self.results, "passed"),
            "failed": len(failures(self.results)),
            "skipped": count(self.results, "skipped"),
            "seconds": self.seconds(),
            "cpu_seconds": round(sum(suite["cpu_seconds"] for suite in self.suites), 1),
            "suites": self.suites,
            "failures": [{"name": r.name, "output": r.output} for r in failures(self.results)],
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(content, indent=1) + "\n")
        fresh.rename(self.path)

    def show(self):
        for result in self.results:
            if result.outcome == "skipped":
                print(f"skipped: {result.name}: {result.output.strip()}")
        for result in failures(self.results):
            print(f"\n---- failed: {result.name}\n{result.output.strip()}")
        print(f"\nThe slowest of {len(self.suites)} suites, in seconds and seconds of CPU time:")
        slowest = sorted(self.suites, key=lambda suite: suite["seconds"], reverse=True)
        for suite in slowest[:SLOWEST]:
            print(f"{suite['seconds']:8.1f} {suite['cpu_seconds']:8.1f}  {suite['suite']}")
        cpu = sum(suite["cpu_seconds"] for suite in self.suites)
        print(f"{self.seconds():8.1f} {cpu:8.1f}  all of them")
        for line in what_failed(self.results):  # once more, where a log that is cut in the middle has them
            print(line)
        print(f"\n{count(self.results, 'passed')} passed, {len(failures(self.results))} failed")


def timed(report, name, job, *arguments):
    """Runs a job and reports it, unless it was interrupted."""
    begin, spent.cpu = time.monotonic(), 0
    results = job(*arguments)
    if not stopping.is_set():
        report.add(name, results, time.monotonic() - begin, spent.cpu)


def run_side_by_side(report, *lanes):
    """Each lane is how many of its jobs run at once, and its jobs, which begin in their order."""
    pools = [ThreadPoolExecutor(at_once) for at_once, _ in lanes]
    try:
        begun = [
            pool.submit(timed, report, *job)
            for pool, (_, jobs) in zip(pools, lanes, strict=True)
            for job in jobs
        ]
        for job in begun:
            job.result()
    except BaseException:
        stopping.set()
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for process in list(running):
            process.interrupt()
        raise


def run_all(report, last_run, arguments):
    if arguments.build:
        timed(report, "build", build, arguments.build)
    waiting, computing, clusters = suites() if arguments.suites else ([], [], [])

    def jobs(folders):
        names = map(name_of, folders)
        return [(n, suite, f, last_run.get(n)) for n, f in zip(names, folders, strict=True)]

    computed = [(f"lint {name}", lint, name) for name in arguments.lints.split()]
    for program in arguments.units.split():
        if Path(ROOT, program).exists():
            computed.append((re.sub(r".*/test/unit/", "unit ", program), unit, program))
    run_side_by_side(
        report, (WAITING_AT_ONCE, jobs(waiting)), (AT_ONCE, computed + jobs(computing))
    )
    run_side_by_side(report, (CLUSTERS_AT_ONCE, jobs(clusters)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--build", help="make target of all that is run")
    parser.add_argument("--lints", default="", help="names, separated by blanks")
    parser.add_argument("--units", default="", help="programs, separated by blanks")
    parser.add_argument("--suites", action="store_true", help="every folder with pytest files")
    parser.add_argument("--report", type=Path, help="file for the results as JSON")
    arguments = parser.parse_args()

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    last_run = of_last_run(arguments.report)
    report = Report(arguments.report)
    report.write(complete=False)  # an older one says nothing of this run
    run_all(report, last_run, arguments)
    report.write(complete=True)
    report.show()
    sys.exit(1 if failures(report.results) else 0)


if __name__ == "__main__":
    main()
