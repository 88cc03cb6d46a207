"""docs/moving.md, whose commands these tests run as they are written there."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "moving.md"


def blocks(heading: str) -> list[str]:
    """The shell commands of a section, block by block."""
    [section] = re.findall(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S)
    return re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)
