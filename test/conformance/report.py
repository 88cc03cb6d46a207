"""What the suite has found, for build/reports/conformance.json and for a person."""

import json
from pathlib import Path

from . import skips
from .suite import Result

REPORT = Path(__file__).parents[2] / "build" / "reports" / "conformance.json"


def summary(results: dict[str, Result], seconds: float) -> dict[str, object]:
    """A spec that was skipped for a reason that no table knows has failed."""
    passed = [name for name, result in results.items() if result.status == "passed"]
    skipped = {
        name: reason
        for name, result in results.items()
        if result.status == "skipped" and (reason := skips.reason(name, result.text))
    }
    return {
        "passed": len(passed),
        "failed": len(results) - len(passed) - len(skipped),
        "skipped": dict(sorted(skipped.items())),
        "failures": sorted(results.keys() - set(passed) - skipped.keys()),
        "seconds": round(seconds),
    }


def write(content: dict[str, object]) -> None:
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(content, indent=2) + "\n")


def lines(content: dict[str, object], results: dict[str, Result]) -> list[str]:
    found = []
    for name in content["failures"]:
        result = results[name]
        found.append(f"{result.status}: {name}\n{result.text.strip()}\n")
    found.append(
        f"{content['passed']} passed, {content['failed']} failed, {len(content['skipped'])} skipped "
        f"in {content['seconds']} s"
    )
    return found
