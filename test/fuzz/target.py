"""One fuzz target: a program of libFuzzer's, its inputs, and what came of a run."""

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "fuzz"
CORPUS = Path(__file__).parent / "corpus"

SLOW = 10  # seconds that one input may take
MEMORY = 1024  # MiB; most is what AddressSanitizer keeps of freed memory
SLACK = 60  # seconds beyond its time that a run may need to end

SANITIZERS = {
    "ASAN_OPTIONS": "quarantine_size_mb=64",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


class Run(NamedTuple):
    target: str
    executions: int
    per_second: int
    edges: int  # of the code that were reached
    corpus: int  # inputs of which each reaches something else
    new: int  # of these, found in this run
    finding: str  # "" if all is well; else what was found, and the command that shows it again


def names() -> list[str]:
    return sorted(path.stem.removeprefix("fuzz_") for path in Path(__file__).parent.glob("fuzz_*.c"))


def program(name: str) -> Path:
    return BUILD / "bin" / f"fuzz_{name}"


def run(name: str, seconds: int, executable: Path | None = None, folder: Path = BUILD) -> Run:
    """The committed inputs, those found before, and then new ones for so many seconds."""
    executable = executable or program(name)
    found, broken = folder / "found" / name, folder / "crashes" / name
    for path in (found, broken):
        path.mkdir(parents=True, exist_ok=True)
    before = len(list(found.iterdir()))
    known = [str(CORPUS / name)] if (CORPUS / name).exists() else []
    command = [
        str(executable), f"-max_total_time={seconds}", f"-timeout={SLOW}", f"-rss_limit_mb={MEMORY}",
        "-print_final_stats=1", f"-artifact_prefix={broken}/", str(found), *known,
    ]
    log = folder / "logs" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as output:
        try:
            status = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                timeout=seconds + SLACK, env=os.environ | SANITIZERS, cwd=folder, check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            status = -1
    text = log.read_text(errors="replace")
    return Run(
        name,
        executions=_number(r"stat::number_of_executed_units: +(\d+)", text),
        per_second=_number(r"stat::average_exec_per_sec: +(\d+)", text),
        edges=_number(r" cov: (\d+)", text),
        corpus=_number(r" corp: (\d+)", text),
        new=len(list(found.iterdir())) - before,
        finding=_finding(executable, text, log) if status else "",
    )


def _number(pattern: str, text: str) -> int:
    """The last one of this kind; 0 if there is none."""
    numbers = re.findall(pattern, text)
    return int(numbers[-1]) if numbers else 0


def _finding(executable: Path, text: str, log: Path) -> str:
    """What the target said when it ended, without its progress, and how to see it again."""
    lines = [line for line in text.splitlines() if not re.match(r"#\d+\s|INFO: |stat::", line)]
    said = "\n".join(lines[:60]) + f"\n\nThe whole is in {log}."
    artifact = re.search(r"Test unit written to (\S+)", text)
    if not artifact:
        return f"{said} No input is to blame."
    options = " ".join(f"{name}={shlex.quote(value)}" for name, value in SANITIZERS.items())
    return f"{said} To see it again:\n\n    {options} {executable} {artifact[1]}"
