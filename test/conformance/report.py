"""What the suite has found, for build/reports/conformance.json and for a person."""

import json
from pathlib import Path

from . import skips
from .suite import Result

REPORT = Path(__file__).parents[2] / "build" / "reports" / "conformance.json"


def summary(results: dict[str, Result], left_out: dict[str, str], seconds: float) -> dict[str, object]:
    """Of the specs that were run, and of those that were left out and why. A spec that was skipped for a reason that no
    table has is a failure."""
    skipped = dict(left_out)
    failed = {}
    for spec, result in results.items():
        if result.status == "skipped" and (why := skips.reason(result.text)):
            skipped[spec] = why
        elif result.status != "passed":
            failed[spec] = f"{result.status}: {result.text.strip()}"
    return {
        "passed": len(results) + len(left_out) - len(failed) - len(skipped),
        "failed": len(failed),
        "skipped": dict(sorted(skipped.items())),
        "failures": dict(sorted(failed.items())),
        "seconds": round(seconds),
    }


def write(content: dict[str, object]) -> None:
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(content, indent=2) + "\n")


def lines(content: dict[str, object]) -> list[str]:
    found = [f"failed: {spec}\n{text}\n" for spec, text in content["failures"].items()]
    counts = f"{content['passed']} passed, {content['failed']} failed, {len(content['skipped'])} skipped"
    return [*found, f"{counts} in {content['seconds']} s"]
