"""make fuzz: runs targets for as long as is wanted, prints what came of it, and writes it as JSON."""

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .target import Run, run

COLUMNS = ("target", "executions", "a second", "edges", "corpus", "new", "findings")


def cells(done: Run) -> tuple[str, ...]:
    figures = (done.executions, done.per_second, done.edges, done.corpus, done.new)
    return done.target, *(f"{figure:,}" for figure in figures), "1" if done.finding else "0"


def line(row: tuple[str, ...]) -> str:
    return f"{row[0]:<18}" + "".join(f"{cell:>13}" for cell in row[1:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, required=True, help="for each target")
    parser.add_argument("--jobs", type=int, required=True, help="targets at once")
    parser.add_argument("--report", type=Path, required=True, help="file for the figures as JSON")
    parser.add_argument("targets", nargs="+")
    arguments = parser.parse_args()

    print(line(COLUMNS), flush=True)
    done = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for one in pool.map(lambda name: run(name, arguments.seconds), arguments.targets):
            print(line(cells(one)), flush=True)
            done.append(one)
    arguments.report.parent.mkdir(parents=True, exist_ok=True)
    report = {"seconds": arguments.seconds, "targets": [one._asdict() for one in done]}
    arguments.report.write_text(json.dumps(report, indent=1) + "\n")

    findings = [one for one in done if one.finding]
    for one in findings:
        print(f"\n---- {one.target}\n{one.finding}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
