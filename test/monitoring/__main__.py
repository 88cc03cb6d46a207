"""make pictures: lets things happen, and draws what the dashboards show of them."""

import signal
import sys
import time
from pathlib import Path

from . import dashboard
from .picture import draw
from .story import Story

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
SCENES = ("set_up", "begin", "databases", "rest", "throttled", "rest", "failover", "rest", "fewer", "rest", "failover", "rest")


def main() -> None:
    began = time.monotonic()

    def say(line: str) -> None:
        seconds = int(time.monotonic() - began)
        print(f"{seconds // 60}:{seconds % 60:02d}  {line}", flush=True)

    story = Story(say)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with story.open:
        for scene in SCENES:
            getattr(story, scene)()
        for found in dashboard.read(story.prometheus, story.began, story.ended):
            path = PICTURES / f"dashboard-{found.name}.svg"
            path.write_bytes(draw(found, story.began, story.ended))
            empty = [panel.title for panel in found.panels if not any(series.points for series in panel.series)]
            say(f"{path.relative_to(PICTURES.parents[1])}: {len(found.panels)} panels"
                + (f", of which {len(empty)} have nothing to show: {', '.join(empty)}" if empty else ""))


main()
