"""make demo: runs the story, says how far it is, and clears up, also when it is interrupted."""

import os
import signal
import sys
import time

from .story import Story

SCENES = ("set_up", "install", "start_databases", "cut_power", "follow", "repair", "collect", "delete")


def main() -> int:
    keep = os.environ.get("KEEP") == "1"
    began = time.monotonic()

    def say(line: str) -> None:
        seconds = int(time.monotonic() - began)
        print(f"{seconds // 60}:{seconds % 60:02d}  {line}", flush=True)

    def show(text: str) -> None:
        print("\n".join(f"          {line}" for line in text.rstrip().splitlines()), flush=True)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    story = Story(say, show, os.environ.get("PLACEMENT") or "extender")
    try:
        for scene in SCENES:
            getattr(story, scene)()
        report = story.report()
        path = report.write()
        print("", *report.lines(), "", f"The figures are in {path.relative_to(path.parents[2])}.", sep="\n")
        return verdict(report)
    except KeyboardInterrupt:
        say("Interrupted")
        return 130
    finally:
        finish(story, keep, say)


def verdict(report) -> int:
    """What this demonstration promises."""
    broken = []
    for failover in (report.failover, report.automatic):
        if failover.attach_calls:
            broken.append("Azure was asked to attach a disk in the failover")
        if failover.driver_seconds > 2:
            broken.append("the driver took more than 2 s of the failover")
    if report.without_replicas.storage_seconds < 30:
        broken.append("without replicas the disk cannot have been attached in less than 30 s")
    if report.missing:
        broken.append("acknowledged records are missing")
    for line in broken:
        print(f"NOT AS PROMISED: {line}", file=sys.stderr)
    return 1 if broken else 0


def finish(story: Story, keep: bool, say) -> None:
    if keep and story.cluster:
        print("\nThe cluster is still up (KEEP=1), in", story.cluster.directory)
        print("\n".join(f"  {line}" for line in story.hints()))
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # clearing up takes two seconds
    story.close()
    say("Everything is cleared up")


sys.exit(main())
