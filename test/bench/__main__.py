"""make bench: runs the scenarios, or those of BENCH, prints their figures and judges them."""

import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from . import figures, scenarios


def main() -> int:
    chosen = set(os.environ.get("BENCH") or scenarios.LETTERS)
    draws = os.environ.get("DRAWS") or "1"
    if not chosen <= set(scenarios.LETTERS) or not draws.isdigit() or int(draws) < 1:
        print(f"BENCH names scenarios, some of {scenarios.LETTERS}; DRAWS is a number from 1 on", file=sys.stderr)
        return 2
    began = time.monotonic()

    def say(line: str) -> None:
        seconds = int(time.monotonic() - began)
        print(f"{seconds // 60}:{seconds % 60:02d}  {line}", flush=True)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        found = scenarios.run(chosen, int(draws), folder, say)
    except BaseException:
        print(f"The logs are in {folder}", file=sys.stderr)
        raise
    shutil.rmtree(folder)
    path = figures.write(found)
    print("", *figures.table(found), "", f"The figures are in {path.relative_to(figures.TREE)}.", sep="\n")
    broken = figures.exceeded(found)
    for line in broken:
        print(f"NOT AS IT MUST BE: {line}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
