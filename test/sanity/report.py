"""What csi-sanity has found, over all runs, for build/reports/sanity.json."""

import json
from collections.abc import Collection
from pathlib import Path

from .skips import WORDS
from .suite import Result

REPORT = Path(__file__).parents[2] / "build" / "reports" / "sanity.json"


def _status(results: Collection[Result]) -> str:
    """Of one test in all runs."""
    found = {result.status for result in results}
    return found.pop() if len(found) == 1 else "failed"


def _reason(result: Result) -> str:
    capability = WORDS.get(result.text)
    return f"{capability} is not advertised" if capability else result.text


def write(specs: list[str], runs: list[dict[str, Result]], calls_cut: int) -> Path:
    """A test has passed if it has in every run."""
    results = {spec: [run.get(spec, Result("missing", "")) for run in runs] for spec in specs}
    statuses = {spec: _status(of_runs) for spec, of_runs in results.items()}
    skipped = {spec: _reason(results[spec][0]) for spec in specs if statuses[spec] == "skipped"}
    passed = sum(status == "passed" for status in statuses.values())
    content = {
        "passed": passed,
        "failed": len(specs) - passed - len(skipped),
        "skipped": skipped,
        "calls_cut": calls_cut,
    }
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(content, indent=2) + "\n")
    return REPORT
