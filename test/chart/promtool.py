"""Prometheus' own checks of rules and metrics.

promtool is in Debian's package prometheus, which would also install a service, and what Prometheus' pages need: 19 MB to
fetch, of which the one program is kept, 48 MB.
"""

import json
import subprocess
import tempfile
from pathlib import Path

from cluster import debian

PROGRAM = "./usr/bin/promtool"
LINT = 3  # its exit status if it is only names that it dislikes


def _run(*words: str | Path, text: str | None = None) -> subprocess.CompletedProcess:
    program = debian.unpacked("promtool", ("prometheus",), (PROGRAM,)) / PROGRAM
    return subprocess.run([program, *words], input=text, capture_output=True, text=True)


def promtool(*words: str | Path) -> None:
    done = _run(*words)
    assert done.returncode == 0, done.stdout + done.stderr


def check_rules(groups: list[dict]) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:  # which is YAML, too
        json.dump({"groups": groups}, file)
        file.flush()
        promtool("check", "rules", "--lint=all", "--lint-fatal", file.name)


def complaints(scrape: str) -> str:
    """A line for each metric that is not as Prometheus' conventions have it. It must be readable."""
    done = _run("check", "metrics", text=scrape)
    assert done.returncode in (0, LINT) and not done.stdout, done.stdout + done.stderr
    return done.stderr


def unit_test(groups: list[dict], tests: list[dict]) -> None:
    """promtool's unit tests of rules."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "rules.yaml").write_text(json.dumps({"groups": groups}))
        Path(folder, "tests.yaml").write_text(json.dumps(
            {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": tests}))
        promtool("test", "rules", Path(folder, "tests.yaml"))


