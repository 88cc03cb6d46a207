"""Pages of docs whose commands tests run as they are written there."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, heading: str) -> list[str]:
    """The shell commands of a section, block by block."""
    [section] = re.findall(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", (DOCS / page).read_text(), re.M | re.S)
    return re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)
